/* SPDX-License-Identifier: Apache-2.0 */
/* Packets with rows of events: calls, ioctls, switches, wake-ups, device tasks. */
#include "analyzer/load/call_columns.h"
#include "analyzer/load/far_rows.h"
#include "analyzer/load/load_pbt.h"
#include "analyzer/load/loader_private.h"
#include "analyzer/load/survey.h"

#include <stdlib.h>
#include <string.h>

#include "proto/trace.pb-c.h"
#include "lib/trace/column.h"

#define DEPTH_SHIFT 8 /* of the depth in Calls.flags */

/* Returns the row of a thread id, which is created on first use. INDEX_NONE without memory. */
static uint32_t tid_row(struct loader *loader, uint32_t tid, uint64_t ts_ns)
{
	struct tid_info new = { .tid = tid, .first_ns = ts_ns, .last_ns = ts_ns };
	uint32_t *seen = &loader->seen_tids[tid % SEEN_TIDS];

	*seen = loader_tid_row(loader, tid);
	if (*seen == MAP_NONE) {
		*seen = loader->tids.count;
		if (!map_put(&loader->tid_map, tid, *seen) || !MODEL_PUSH(&loader->tids, new))
			return INDEX_NONE;
	}
	return *seen;
}

static void note_thread(struct tid_info *info, uint32_t tgid, uint64_t ts_ns)
{
	if (tgid)
		info->tgid = tgid;
	if (ts_ns < info->first_ns)
		info->first_ns = ts_ns;
	if (ts_ns > info->last_ns)
		info->last_ns = ts_ns;
}

bool loader_saw_thread(struct loader *loader, uint32_t tid, uint32_t tgid, uint64_t ts_ns)
{
	uint32_t index;

	if (tid == 0)
		return true;
	index = tid_row(loader, tid, ts_ns);
	if (index == INDEX_NONE)
		return loader_out_of_memory(loader);
	note_thread(&loader->tids.row[index], tgid, ts_ns);
	return true;
}

static uint8_t call_flags(uint32_t file)
{
	uint8_t flags = file & PROFBPF__CALLS__FLAG__OPEN ? MODEL_CALL_OPEN : 0;

	/* LEFT overrides the other flags: the call is neither open nor known by its entry alone. */
	if (file & PROFBPF__CALLS__FLAG__LEFT)
		flags = MODEL_CALL_LEFT;
	else if (file & PROFBPF__CALLS__FLAG__ENTRY_ONLY)
		flags = MODEL_CALL_ENTRY;
	return file & PROFBPF__CALLS__FLAG__RETURNED_UNKNOWN ? flags | MODEL_CALL_VALUE_UNKNOWN : flags;
}

/* Do calls of the function matter beyond their own time? They set names, handles, memory, operators of a pipeline. */
static bool lasts(const struct function *function)
{
	switch (function->kind) {
	case PROFBPF__FUNCTION__KIND__ALLOC:
	case PROFBPF__FUNCTION__KIND__FREE:
	case PROFBPF__FUNCTION__KIND__COMPILE:
	case PROFBPF__FUNCTION__KIND__LOAD:
	case PROFBPF__FUNCTION__KIND__QUEUE:
	case PROFBPF__FUNCTION__KIND__MARKER:
	case PROFBPF__FUNCTION__KIND__STAGE: return true;
	default: return false;
	}
}

bool loader_keeps_calls_of(const struct loader *loader, uint32_t function)
{
	const struct function *row = &loader->model->functions.row[function];

	if (loader->rows & LOAD_CALLS &&
	    (!loader->window.wanted || loader->window.all_calls || lasts(row)))
		return true;
	return loader->rows && load_names_threads(row);
}

bool loader_saw_launch(struct loader *loader, uint32_t function, uint32_t tgid)
{
	struct launch_caller new = { function, tgid };
	uint64_t key = (uint64_t)tgid << 32 | function;

	if (loader->model->functions.row[function].kind != PROFBPF__FUNCTION__KIND__LAUNCH ||
	    map_get(&loader->launch_map, key) != MAP_NONE)
		return true;
	return (map_put(&loader->launch_map, key, 0) &&
		MODEL_PUSH(&loader->model->launch_callers, new)) ||
	       loader_out_of_memory(loader);
}

static void count_call(struct loader *loader, const struct call *row)
{
	struct function *function = &loader->model->functions.row[row->function];

	loader->model->survey.calls++;
	function->counted_calls++;
	function->counted_texts += row->text != 0;
}

/* What the calls of a shape have in common. */
struct shape_facts {
	bool known;
	bool kept; /* whatever their time */
	uint32_t thread; /* id */
	uint32_t tgid;
	uint32_t function;
	uint32_t text;
	uint32_t tid_row; /* index into loader->tids, once a call was good; INDEX_NONE before */
	uint8_t flags;
	uint8_t depth;
};

/* A shape's facts are read at its first call: rows of the model are made in the order of calls. NULL without memory. */
static struct shape_facts *new_shapes(struct loader *loader, const Profbpf__Calls *calls, size_t rows)
{
	ProtobufCAllocator *allocator = &loader->arena.allocator;
	size_t count = 0;
	struct shape_facts *shapes;

	for (size_t i = 0; calls->n_shape && i < rows; i++)
		count = calls->shape[i] >= count ? calls->shape[i] + (size_t)1 : count;
	count = calls->n_shape ? count : rows;
	shapes = allocator->alloc(allocator->allocator_data, (count + 1) * sizeof(*shapes));
	for (size_t i = 0; shapes && i < count; i++)
		shapes[i].known = false;
	return shapes;
}

static void read_shape(struct loader *loader, const Profbpf__Calls *calls, size_t s, struct shape_facts *shape)
{
	const uint32_t flags = COLUMN_AT(calls, flags, s);

	shape->known = true;
	shape->thread = (uint32_t)COLUMN_AT(calls, tid, s);
	shape->tgid = (uint32_t)COLUMN_AT(calls, tgid, s);
	shape->function = loader_function(loader, COLUMN_AT(calls, function, s));
	shape->text = loader_string(loader, COLUMN_AT(calls, text, s));
	shape->tid_row = INDEX_NONE;
	shape->flags = call_flags(flags);
	shape->depth = (uint8_t)(flags >> DEPTH_SHIFT);
	shape->kept = shape->function != INDEX_NONE && loader_keeps_calls_of(loader, shape->function);
}

static bool saw_caller(struct loader *loader, struct shape_facts *shape, uint64_t ts_ns)
{
	if (shape->tid_row == INDEX_NONE)
		shape->tid_row = tid_row(loader, shape->thread, ts_ns);
	if (shape->tid_row == INDEX_NONE)
		return loader_out_of_memory(loader);
	note_thread(&loader->tids.row[shape->tid_row], shape->tgid, ts_ns);
	return true;
}

static bool add_call(struct loader *loader, const struct shape_facts *shape, const struct call *row)
{
	const bool kept = shape->kept || (loader->rows & LOAD_CALLS &&
					  window_has(&loader->window, row->start_ns, row->end_ns));

	if (loader->digest.wanted && (!digest_call(&loader->digest, row, kept) ||
				      !far_launches_call(&loader->far, &loader->window, row, kept)))
		return loader_out_of_memory(loader);
	if (kept)
		return MODEL_PUSH(&loader->model->calls, *row) || loader_out_of_memory(loader);
	count_call(loader, row);
	return loader_saw_launch(loader, row->function, shape->tgid);
}

bool load_calls(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Calls *calls = LOADER_UNPACK_BATCH(calls, packet);
	struct call row = { .task = INDEX_NONE };
	struct shape_facts *shapes;
	size_t rows;

	if (!calls || !call_columns_resolve(calls, &rows))
		return false;
	shapes = new_shapes(loader, calls, rows);
	if (!shapes)
		return loader_out_of_memory(loader);
	for (size_t i = 0; i < rows; i++) {
		size_t s = calls->n_shape ? calls->shape[i] : i;
		struct shape_facts *shape = &shapes[s];
		uint64_t dur_ns = COLUMN_AT(calls, dur_ns, i);
		uint64_t end_ns = (uint64_t)COLUMN_AT(calls, end_ns, i);

		if (!shape->known)
			read_shape(loader, calls, s, shape);
		row.ret = call_columns_values(calls, i, row.args);
		row.start_ns = end_ns - dur_ns;
		row.end_ns = end_ns;
		row.thread = shape->thread;
		row.function = shape->function;
		row.text = shape->text;
		row.flags = shape->flags;
		row.depth = shape->depth;
		if (row.thread == 0 || dur_ns > end_ns || row.function == INDEX_NONE) {
			loader->model->bad_rows++;
			continue;
		}
		if (!saw_caller(loader, shape, end_ns) || !add_call(loader, shape, &row))
			return false;
		loader_reached(loader, end_ns);
	}
	loader->read[READ_API] += rows;
	return !loader->no_memory;
}

static uint8_t ioctl_flags(uint32_t file)
{
	uint8_t flags = file & PROFBPF__IOCTLS__FLAG__OPEN ? MODEL_CALL_OPEN : 0;

	if (file & PROFBPF__IOCTLS__FLAG__BEFORE) {
		flags |= MODEL_IOCTL_BEFORE;
		flags |= file & PROFBPF__IOCTLS__FLAG__ENDED_UNSEEN ? MODEL_IOCTL_UNSEEN : 0;
	}
	return flags;
}

bool load_ioctls(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Ioctls *ioctls = LOADER_UNPACK_BATCH(ioctls, packet);
	uint64_t end_ns = 0;
	uint32_t tid = 0;
	size_t rows;

	if (!ioctls ||
	    COLUMN_ROWS(&rows, ioctls->n_end_ns, ioctls->n_dur_ns, ioctls->n_tid, ioctls->n_tgid,
			ioctls->n_cmd, ioctls->n_rdev, ioctls->n_ret, ioctls->n_flags))
		return false;
	for (size_t i = 0; i < rows; i++) {
		uint64_t dur_ns = COLUMN_AT(ioctls, dur_ns, i);
		struct ioctl_call row;

		end_ns += (uint64_t)COLUMN_AT(ioctls, end_ns, i);
		tid += (uint32_t)COLUMN_AT(ioctls, tid, i);
		row = (struct ioctl_call){
			.start_ns = end_ns - dur_ns,
			.end_ns = end_ns,
			.thread = tid,
			.driver = loader_driver(loader, COLUMN_AT(ioctls, rdev, i)),
			.cmd = COLUMN_AT(ioctls, cmd, i),
			.ret = COLUMN_AT(ioctls, ret, i),
			.flags = ioctl_flags(COLUMN_AT(ioctls, flags, i)),
		};
		if (tid == 0 || dur_ns > end_ns || row.driver == INDEX_NONE) {
			loader->model->bad_rows++;
			continue;
		}
		if (!loader_saw_thread(loader, tid, COLUMN_AT(ioctls, tgid, i), end_ns))
			return loader_out_of_memory(loader);
		if (!window_has(&loader->window, row.start_ns, end_ns))
			loader->model->survey.ioctls++;
		else if (!MODEL_PUSH(&loader->model->ioctls, row))
			return loader_out_of_memory(loader);
		loader_reached(loader, end_ns);
	}
	loader->read[READ_IOCTL] += rows;
	return !loader->no_memory;
}

static bool prepare_switches(Profbpf__Switches *s, size_t *rows)
{
	size_t shapes;

	if (!s->n_shape)
		return !COLUMN_ROWS(rows, s->n_ts_ns, s->n_prev_tid, s->n_next_tid, s->n_state,
				    s->n_syscall, s->n_flags, s->n_object, s->n_refill_ns);
	return !COLUMN_ROWS(rows, s->n_ts_ns, s->n_shape, s->n_prev_change) &&
	       !COLUMN_ROWS(&shapes, s->n_next_tid, s->n_state, s->n_syscall, s->n_flags,
			    s->n_object, s->n_refill_ns) &&
	       shapes_resolve(s->shape, *rows, shapes);
}

/* The row of an id of the segment; INDEX_NONE for 0 and unknown ids. */
static uint32_t object_index(const struct loader *loader, uint32_t id)
{
	return id && id <= loader->objects.count ? loader->objects.row[id - 1] : INDEX_NONE;
}

void load_switch_values(const struct loader *loader, const Profbpf__Switches *switches, size_t entry,
			struct cpu_switch *row)
{
	row->next_tid = COLUMN_AT(switches, next_tid, entry);
	row->syscall = (int16_t)COLUMN_AT(switches, syscall, entry);
	row->object = object_index(loader, COLUMN_AT(switches, object, entry));
	row->state = (uint8_t)COLUMN_AT(switches, state, entry);
	row->flags = (uint8_t)COLUMN_AT(switches, flags, entry);
	row->refill_ns = COLUMN_AT(switches, refill_ns, entry);
}

/* Counts the rows of a batch that was processed as a whole. */
static bool took_far(struct loader *loader, enum far_batch far, size_t rows)
{
	if (far == FAR_FAILED)
		return loader_out_of_memory(loader);
	loader->read[READ_SCHED] += rows;
	return true;
}

bool load_switches(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Switches *switches = LOADER_UNPACK_BATCH(switches, packet);
	struct cpu_switch row = { .prev_thread = INDEX_NONE, .next_thread = INDEX_NONE };
	enum far_batch far;
	size_t rows;

	if (!switches || switches->cpu > UINT16_MAX || !prepare_switches(switches, &rows))
		return false;
	far = far_switches(loader, switches, rows);
	if (far != FAR_NOT)
		return took_far(loader, far, rows);
	row.cpu = (uint16_t)switches->cpu;
	for (size_t i = 0; i < rows; i++) {
		size_t s = switches->n_shape ? switches->shape[i] : i;
		uint32_t state = COLUMN_AT(switches, state, s);

		row.ts_ns += COLUMN_AT(switches, ts_ns, i);
		/* The code refers to the previous row's next_tid, 0 for the first row. */
		row.prev_tid = switches->n_shape
				       ? row.next_tid ^ COLUMN_AT(switches, prev_change, i)
				       : COLUMN_AT(switches, prev_tid, i);
		load_switch_values(loader, switches, s, &row);
		if (!loader_knows(loader, state, PROFBPF__SWITCHES__STATE__DEAD))
			continue;
		if (!loader_saw_thread(loader, row.prev_tid, 0, row.ts_ns) ||
		    !loader_saw_thread(loader, row.next_tid, 0, row.ts_ns) ||
		    (loader->window.wanted && !survey_switch(loader, &row)))
			return loader_out_of_memory(loader);
		loader_reached(loader, row.ts_ns);
		if (!window_takes_switch(&loader->window, &row))
			continue;
		if (!MODEL_PUSH(&loader->model->switches, row))
			return loader_out_of_memory(loader);
		loader->model->survey.switches -= loader->window.wanted;
	}
	loader->read[READ_SCHED] += rows;
	return !loader->window.no_memory || loader_out_of_memory(loader);
}

static bool prepare_wakes(Profbpf__Wakes *w, size_t *rows)
{
	size_t shapes;

	if (!w->n_shape)
		return !COLUMN_ROWS(rows, w->n_ts_ns, w->n_waker_tid, w->n_tid, w->n_target_cpu,
				    w->n_flags, w->n_interrupt, w->n_object);
	return !COLUMN_ROWS(rows, w->n_ts_ns, w->n_shape) &&
	       !COLUMN_ROWS(&shapes, w->n_waker_tid, w->n_tid, w->n_target_cpu, w->n_flags,
			    w->n_interrupt, w->n_object) &&
	       shapes_resolve(w->shape, *rows, shapes);
}

void load_wake_values(const struct loader *loader, const Profbpf__Wakes *wakes, size_t entry,
		      struct wake *row)
{
	row->waker_tid = COLUMN_AT(wakes, waker_tid, entry);
	row->thread = COLUMN_AT(wakes, tid, entry);
	row->target_cpu = (uint16_t)COLUMN_AT(wakes, target_cpu, entry);
	row->flags = (uint8_t)COLUMN_AT(wakes, flags, entry);
	row->interrupt = loader_string(loader, COLUMN_AT(wakes, interrupt, entry));
	row->object = object_index(loader, COLUMN_AT(wakes, object, entry));
}

bool load_wakes(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Wakes *wakes = LOADER_UNPACK_BATCH(wakes, packet);
	struct wake row = { .waker_thread = INDEX_NONE };
	enum far_batch far;
	size_t rows;

	if (!wakes || wakes->cpu > UINT16_MAX || !prepare_wakes(wakes, &rows))
		return false;
	far = far_wakes(loader, wakes, rows);
	if (far != FAR_NOT)
		return took_far(loader, far, rows);
	row.cpu = (uint16_t)wakes->cpu;
	for (size_t i = 0; i < rows; i++) {
		size_t s = wakes->n_shape ? wakes->shape[i] : i;

		row.ts_ns += COLUMN_AT(wakes, ts_ns, i);
		load_wake_values(loader, wakes, s, &row);
		if (row.thread == 0) {
			loader->model->bad_rows++;
			continue;
		}
		if (!loader_saw_thread(loader, row.thread, 0, row.ts_ns) ||
		    !loader_saw_thread(loader, row.waker_tid, 0, row.ts_ns))
			return loader_out_of_memory(loader);
		loader_reached(loader, row.ts_ns);
		if (!window_takes_wake(&loader->window, &row))
			loader->model->survey.wakes++;
		else if (!MODEL_PUSH(&loader->model->wakes, row))
			return loader_out_of_memory(loader);
	}
	loader->read[READ_SCHED] += rows;
	return !loader->window.no_memory || loader_out_of_memory(loader);
}

bool load_interrupts(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Interrupts *m = LOADER_UNPACK_BATCH(interrupts, packet);
	struct interrupt row = { 0 };
	size_t rows;

	if (!m || m->cpu > UINT16_MAX ||
	    COLUMN_ROWS(&rows, m->n_ts_ns, m->n_dur_ns, m->n_tid, m->n_flags, m->n_interrupt))
		return false;
	row.cpu = (uint16_t)m->cpu;
	for (size_t i = 0; i < rows; i++) {
		row.ts_ns += (uint64_t)COLUMN_AT(m, ts_ns, i);
		row.dur_ns = COLUMN_AT(m, dur_ns, i);
		row.thread = COLUMN_AT(m, tid, i);
		row.flags = (uint8_t)COLUMN_AT(m, flags, i);
		row.name = loader_string(loader, COLUMN_AT(m, interrupt, i));
		if (row.thread == 0 || row.ts_ns + row.dur_ns < row.ts_ns) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->model->interrupts, row) ||
		    !loader_saw_thread(loader, row.thread, 0, row.ts_ns))
			return loader_out_of_memory(loader);
		loader_reached(loader, row.ts_ns + row.dur_ns);
	}
	loader->read[READ_SCHED] += rows;
	return true;
}

static uint32_t device_index(struct loader *loader, uint32_t id)
{
	return map_get(&loader->device_map, (uint64_t)loader->session << 32 | id);
}

/* Sets the times of a task; unreported times are 0 in the file. */
static void task_times(const Profbpf__DeviceTasks *tasks, size_t i, uint64_t queued_ns,
		       struct device_task *row)
{
	int64_t submit = COLUMN_AT(tasks, submit_ns, i);
	int64_t start = COLUMN_AT(tasks, start_ns, i);
	int64_t dur = COLUMN_AT(tasks, end_ns, i);

	row->queued_ns = queued_ns;
	row->submit_ns = queued_ns + (uint64_t)submit;
	row->start_ns = queued_ns + (uint64_t)start;
	row->end_ns = row->start_ns + (uint64_t)dur;
	row->flags = 0;
	if (row->start_ns == 0 || row->end_ns == 0 || dur < 0)
		row->flags = MODEL_TASK_UNTIMED;
}

/* CUPTI names kernels by their symbols. Millions of tasks share few names, so results are cached. */
static uint32_t task_name(struct loader *loader, uint32_t id)
{
	uint32_t name = loader_string(loader, id), readable;
	const char *text = model_text(loader->model, name);

	if (strncmp(text, "_Z", 2) != 0)
		return name;
	readable = map_get(&loader->readable_map, name);
	if (readable != MAP_NONE)
		return readable;
	readable = loader_symbol(loader, text);
	if (!map_put(&loader->readable_map, name, readable))
		loader->no_memory = true;
	return readable;
}

bool load_device_tasks(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__DeviceTasks *tasks = LOADER_UNPACK_BATCH(device_tasks, packet);
	struct device_task row = { .call = INDEX_NONE };
	struct task_edges edges;
	uint64_t queued_ns = 0;
	bool near;
	size_t rows;

	if (!tasks || COLUMN_ROWS(&rows, tasks->n_queued_ns, tasks->n_submit_ns, tasks->n_start_ns,
				  tasks->n_end_ns, tasks->n_stream, tasks->n_kind, tasks->n_name,
				  tasks->n_tid, tasks->n_enqueue_ns, tasks->n_bytes,
				  tasks->n_status, tasks->n_correlation, tasks->n_enqueue_dur_ns))
		return false;
	row.device = device_index(loader, tasks->device);
	if (row.device == MAP_NONE)
		return false;
	edges = near_tasks_begin(&loader->window, row.device);
	for (size_t i = 0; i < rows; i++) {
		queued_ns += (uint64_t)COLUMN_AT(tasks, queued_ns, i);
		row.enqueue_ns += (uint64_t)COLUMN_AT(tasks, enqueue_ns, i);
		task_times(tasks, i, queued_ns, &row);
		row.enqueue_dur_ns = COLUMN_AT(tasks, enqueue_dur_ns, i);
		row.stream = COLUMN_AT(tasks, stream, i);
		row.bytes = COLUMN_AT(tasks, bytes, i);
		row.correlation = COLUMN_AT(tasks, correlation, i);
		row.thread = COLUMN_AT(tasks, tid, i);
		row.name = task_name(loader, COLUMN_AT(tasks, name, i));
		row.status = COLUMN_AT(tasks, status, i);
		row.kind = loader_value(loader, COLUMN_AT(tasks, kind, i),
					PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION,
					PROFBPF__DEVICE_TASKS__KIND__OTHER);
		near = near_tasks_takes(&loader->near_tasks, &loader->window, &edges, &row);
		if ((near && !MODEL_PUSH(&loader->model->tasks, row)) ||
		    (loader->digest.wanted &&
		     !far_launches_task(&loader->far, &loader->window, &edges, &row, near)) ||
		    !loader_saw_thread(loader, row.thread, 0, row.enqueue_ns))
			return loader_out_of_memory(loader);
		loader_reached(loader, row.enqueue_ns);
	}
	loader->read[READ_DEVICE] += rows;
	return !loader->window.no_memory || loader_out_of_memory(loader);
}
