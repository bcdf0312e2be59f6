/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/far_launches.h"

#include <stdlib.h>

#include "analyzer/join/clock/device_clock.h"
#include "analyzer/join/launch/call_kind.h"
#include "analyzer/load/load_judge.h"
#include "lib/base/sort_rows.h"

#define NAME_MIN 3 /* a loop's tasks occur at least as often */
#define OPEN_MAX 64 /* as launches.c */
#define BESIDE_NS 1000000000ull /* tasks so near to the part are in the model: near_tasks.c */

#define DUR_BITS 40
#define FUNCTION_BITS 20
#define FLAG_BITS 4

struct far_call {
	uint64_t start_ns;
	uint64_t dur_ns : DUR_BITS;
	uint64_t function : FUNCTION_BITS;
	uint64_t flags : FLAG_BITS;
};

/* flags of far_call */
#define FAR_SUBMITS 0x01
#define FAR_FAILED 0x02
#define FAR_KEPT 0x04 /* it reaches into the part: the model's join finds its tasks */
#define FAR_LAUNCHED 0x08

static uint64_t end_of(const struct far_call *call)
{
	return call->start_ns + call->dur_ns;
}

static struct launching_thread *thread_of(struct far_launches *far, uint32_t tid)
{
	const struct launching_thread new = { .tid = tid };
	uint32_t *seen = &far->seen[tid % FAR_SEEN];

	if (*seen < far->threads.count && far->threads.row[*seen].tid == tid)
		return &far->threads.row[*seen];
	*seen = map_get(&far->thread_map, tid);
	if (*seen == MAP_NONE) {
		*seen = far->threads.count;
		if (!map_put(&far->thread_map, tid, *seen) || !MODEL_PUSH(&far->threads, new))
			return NULL;
	}
	return &far->threads.row[*seen];
}

static bool add_call(struct launching_thread *thread, const struct far_call *row)
{
	const uint64_t from_ns = thread->start_ns;

	thread->start_ns = row->start_ns;
	thread->call_count++;
	return number_list_put_difference(&thread->calls, from_ns, row->start_ns) &&
	       number_list_put(&thread->calls, row->dur_ns) &&
	       number_list_put(&thread->calls, row->function << FLAG_BITS | row->flags);
}

static bool add_instant(struct launching_thread *thread, uint64_t ns)
{
	const uint64_t from_ns = thread->enqueued_ns;

	thread->enqueued_ns = ns;
	thread->enqueued_count++;
	return number_list_put_difference(&thread->enqueued, from_ns, ns);
}

static bool is_inside(const struct load_window *window, uint64_t first_ns, uint64_t last_ns)
{
	return first_ns >= window->from_ns && last_ns <= window->to_ns;
}

bool far_launches_call(struct far_launches *far, struct load_window *window, const struct call *call,
		       bool kept)
{
	const struct function *function = call_function(far->model, call);
	const uint64_t dur_ns = call->end_ns - call->start_ns;
	struct far_call row = { .start_ns = call->start_ns };
	struct launching_thread *thread;

	/* Of other calls only inner ones decide which call launched a task, and those in the model. */
	if (!call_is_runtime(far->model, call) ||
	    (!function_submits(function) && !call->depth && !kept) ||
	    is_inside(window, call->start_ns, call->end_ns))
		return true;
	if (!window->session_start_ns || call->flags & MODEL_CALL_ENTRY || dur_ns >> DUR_BITS ||
	    call->function >> FUNCTION_BITS)
		far->doubtful = true;
	row.dur_ns = dur_ns & ((1ull << DUR_BITS) - 1);
	row.function = call->function & ((1u << FUNCTION_BITS) - 1);
	row.flags = (function_submits(function) ? FAR_SUBMITS : 0u) | (kept ? FAR_KEPT : 0u) |
		    (load_is_error(function, call) ? FAR_FAILED : 0u);
	thread = thread_of(far, call->thread);
	return thread && add_call(thread, &row);
}

static struct far_device *device_of(struct far_launches *far, uint32_t device)
{
	const struct far_device new = { 0 };

	while (far->counts.devices.count <= device)
		if (!MODEL_PUSH(&far->counts.devices, new))
			return NULL;
	return &far->counts.devices.row[device];
}

static bool count_name(struct far_launches *far, uint32_t name, bool near)
{
	const struct far_name new = { 0 };

	while (far->names.count <= name)
		if (!MODEL_PUSH(&far->names, new))
			return false;
	far->names.row[name].near += near;
	far->names.row[name].far += !near;
	return true;
}

/* Are the tasks near the part of all kinds? */
static bool has_whole_steps(const struct far_launches *far)
{
	for (uint32_t i = 0; i < far->names.count; i++) {
		const struct far_name *name = &far->names.row[i];

		if (name->near < NAME_MIN && name->far && name->near + name->far >= NAME_MIN)
			return false;
	}
	return true;
}

static bool count_task(struct far_launches *far, const struct device_task *task, bool near)
{
	struct far_device *device = device_of(far, task->device);

	if (!device)
		return false;
	far->counts.tasks += !near;
	device->tasks += !near && (task->queued_ns || task->submit_ns || task->start_ns || task->end_ns);
	if (!task->start_ns)
		return true;
	if (!device->first_start_ns || task->start_ns < device->first_start_ns)
		device->first_start_ns = task->start_ns;
	if (task->start_ns > device->last_start_ns)
		device->last_start_ns = task->start_ns;
	return true;
}

/* A clock by which a task began before it was enqueued is corrected by all tasks. */
static bool is_too_early(const struct far_launches *far, const struct device_task *task)
{
	uint64_t start_ns;

	return task->start_ns &&
	       (!device_clock_to_monotonic(far->model, far->model->devices.row[task->device].clock,
					   task->start_ns, &start_ns) ||
		start_ns < task->enqueue_ns);
}

bool far_launches_task(struct far_launches *far, struct load_window *window,
		       const struct task_edges *edges, const struct device_task *task, bool near)
{
	struct launching_thread *thread;

	if (!edges->known || !task->enqueue_ns || !task->thread) {
		far->doubtful = true;
		return true;
	}
	if (!count_task(far, task, near) || !count_name(far, task->name, near))
		return false;
	if (is_inside(window, task->enqueue_ns, task->enqueue_ns))
		return true;
	if (!near && is_too_early(far, task))
		far->doubtful = true;
	thread = thread_of(far, task->thread);
	return thread && add_instant(thread, task->enqueue_ns);
}

static void keep(struct far_launches *far, uint32_t device, const struct device_task *task)
{
	if (!task->end_ns || device >= far->counts.devices.count)
		return;
	far->counts.tasks--;
	far->counts.devices.row[device].tasks--;
}

void far_launches_keep(struct far_launches *far, const struct near_tasks *near)
{
	for (uint32_t i = 0; i < near->before.count; i++) {
		keep(far, i, &near->before.row[i]);
		keep(far, i, &near->after.row[i]);
	}
}

/* Calls that were under way at an instant, outermost first. */
struct under_way {
	struct far_call *call[OPEN_MAX];
	uint32_t count;
};

static int by_start(const void *a, const void *b)
{
	const struct far_call *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->dur_ns > y->dur_ns ? -1 : x->dur_ns < y->dur_ns;
}

static int by_instant(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void drop_ended(struct under_way *open, uint64_t now_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < open->count; i++)
		if (end_of(open->call[i]) >= now_ns)
			open->call[kept++] = open->call[i];
	open->count = kept;
}

/*
 * The call that launched a task: the outermost one that submits, of the family of the innermost one. NULL: unsure. So
 * it is if the model has a call around it and may find that one.
 */
static struct far_call *launching(const struct model *model, const struct under_way *open, uint64_t now_ns)
{
	struct far_call *found = NULL;
	uint32_t family = 0;
	bool kept = false;

	for (uint32_t i = open->count; i-- > 0;) {
		struct far_call *call = open->call[i];

		if (end_of(call) == now_ns)
			return NULL;
		kept |= (call->flags & FAR_KEPT) != 0;
		if (i + 1 == open->count)
			family = model->functions.row[call->function].family;
		if (model->functions.row[call->function].family == family && call->flags & FAR_SUBMITS)
			found = call;
	}
	return found && kept && !(found->flags & FAR_KEPT) ? NULL : found;
}

/* Has the process of a thread a device? If not, no task of its calls is expected. */
static bool has_device(const struct model *model, uint32_t thread)
{
	for (uint32_t i = 0; i < model->devices.count; i++)
		if (model->devices.row[i].process == model->threads.row[thread].process)
			return true;
	return false;
}

/* Counts the task that was enqueued at @now_ns by the call. Returns false if that is not certain. */
static bool count_launch(struct far_launches *far, const struct load_window *window, uint32_t tid,
			 struct far_call *call, uint64_t now_ns)
{
	const struct trace_info *info = &far->model->info;
	uint32_t thread = model_thread_at(far->model, tid, now_ns);

	/* Calls of threads that are not in the model are left out, and no task is theirs. */
	if (!call || thread == INDEX_NONE || now_ns < info->session_start_ns || now_ns > info->session_end_ns)
		return false;
	/* The task has to be in the model, too. */
	if (call->flags & FAR_KEPT)
		return now_ns + BESIDE_NS >= window->from_ns &&
		       (now_ns <= window->to_ns || now_ns - window->to_ns <= BESIDE_NS);
	far->counts.matched++;
	if (!(call->flags & (FAR_LAUNCHED | FAR_FAILED)) && has_device(far->model, thread))
		far->counts.launches++;
	call->flags |= FAR_LAUNCHED;
	return true;
}

/* The rows of one thread, unpacked and in order of time. */
struct joining {
	struct far_call *calls;
	uint64_t *enqueued_ns;
};

/* Returns false without memory. The packed rows are given back. */
static bool unpack(struct launching_thread *thread, struct joining *of)
{
	struct number_reader calls = number_list_read(&thread->calls), instants = number_list_read(&thread->enqueued);
	uint64_t ns = 0, value;

	of->calls = malloc((thread->call_count + 1) * sizeof(*of->calls));
	of->enqueued_ns = malloc((thread->enqueued_count + 1) * sizeof(*of->enqueued_ns));
	if (!of->calls || !of->enqueued_ns)
		return false;
	for (size_t i = 0; i < thread->call_count; i++) {
		struct far_call *call = &of->calls[i];

		call->start_ns = ns = number_reader_next_difference(&calls, ns);
		call->dur_ns = number_reader_next(&calls) & ((1ull << DUR_BITS) - 1);
		value = number_reader_next(&calls);
		call->function = value >> FLAG_BITS & ((1u << FUNCTION_BITS) - 1);
		call->flags = value & ((1u << FLAG_BITS) - 1);
	}
	number_list_free(&thread->calls);
	ns = 0;
	for (size_t i = 0; i < thread->enqueued_count; i++)
		of->enqueued_ns[i] = ns = number_reader_next_difference(&instants, ns);
	number_list_free(&thread->enqueued);
	sort_rows(of->calls, thread->call_count, sizeof(*of->calls), by_start);
	sort_rows(of->enqueued_ns, thread->enqueued_count, sizeof(*of->enqueued_ns), by_instant);
	return true;
}

static bool join_rows(struct far_launches *far, const struct load_window *window,
		      const struct launching_thread *thread, const struct joining *of)
{
	struct under_way open = { .count = 0 };
	size_t next = 0;

	for (size_t i = 0; i < thread->enqueued_count; i++) {
		uint64_t now_ns = of->enqueued_ns[i];

		for (; next < thread->call_count && of->calls[next].start_ns <= now_ns; next++) {
			if (open.count == OPEN_MAX)
				drop_ended(&open, of->calls[next].start_ns);
			if (open.count == OPEN_MAX)
				return false;
			open.call[open.count++] = &of->calls[next];
		}
		drop_ended(&open, now_ns);
		if (!count_launch(far, window, thread->tid, launching(far->model, &open, now_ns), now_ns))
			return false;
	}
	return true;
}

/* Without memory the counts are not known either: then all calls are loaded, and their rows may be in files. */
static bool join_thread(struct far_launches *far, const struct load_window *window,
			struct launching_thread *thread)
{
	struct joining of;
	bool sure = unpack(thread, &of) && join_rows(far, window, thread, &of);

	free(of.calls);
	free(of.enqueued_ns);
	return sure;
}

void far_launches_join(struct far_launches *far, const struct load_window *window)
{
	if (far->loops && !has_whole_steps(far))
		far->doubtful = true;
	for (uint32_t i = 0; i < far->threads.count && !far->doubtful; i++)
		far->doubtful = !join_thread(far, window, &far->threads.row[i]);
}

void far_launches_free(struct far_launches *far)
{
	for (uint32_t i = 0; i < far->threads.count; i++) {
		number_list_free(&far->threads.row[i].calls);
		number_list_free(&far->threads.row[i].enqueued);
	}
	free(far->threads.row);
	free(far->names.row);
	free(far->counts.devices.row);
	map_free(&far->thread_map);
}
