/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/clock/clock_bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

#include "analyzer/join/launch/call_kind.h"
#include "analyzer/model/task_sort.h"
#include "lib/base/map.h"
#include "lib/base/bisect.h"
#include "lib/base/sort_rows.h"

/* A task with its enqueue instant and the latest end of the tasks of its stream up to it. */
struct enqueued {
	uint64_t enqueue_ns;
	uint64_t end_ns;
};

static int add(struct clock_bounds *bounds, uint64_t device_ns, uint64_t host_ns, bool upper)
{
	if (bounds->count == bounds->capacity) {
		uint32_t capacity = bounds->capacity ? bounds->capacity * 2 : 256;
		struct clock_bound *row;

		if (capacity < bounds->capacity)
			return -ENOMEM;
		row = reallocarray(bounds->row, capacity, sizeof(*row));
		if (!row)
			return -ENOMEM;
		bounds->row = row;
		bounds->capacity = capacity;
	}
	bounds->row[bounds->count++] = (struct clock_bound){
		.time_ns = device_ns,
		.offset_ns = (int64_t)(host_ns - device_ns),
		.upper = upper,
	};
	return 0;
}

static int add_task(struct clock_bounds *bounds, const struct device_task *task, bool queued)
{
	int error;

	if (!task->enqueue_ns)
		return 0;
	if (!queued || !task->queued_ns)
		return task->start_ns ? add(bounds, task->start_ns, task->enqueue_ns, false) : 0;
	error = add(bounds, task->queued_ns, task->enqueue_ns, false);
	if (!error && task->enqueue_dur_ns)
		error = add(bounds, task->queued_ns, task->enqueue_ns + task->enqueue_dur_ns, true);
	return error;
}

static int by_enqueue(const void *a, const void *b)
{
	const struct enqueued *x = a, *y = b;

	return x->enqueue_ns < y->enqueue_ns ? -1 : x->enqueue_ns > y->enqueue_ns;
}

/* Fills @order with the tasks rows[0..count), sorted by enqueue instant. */
static void enqueue_order(const struct model *model, const uint32_t *rows, uint32_t count, struct enqueued *order)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct device_task *task = &model->tasks.row[rows[i]];

		order[i] = (struct enqueued){ task->enqueue_ns, task->end_ns };
	}
	sort_rows(order, count, sizeof(*order), by_enqueue);
	for (uint32_t i = 1; i < count; i++)
		order[i].end_ns = MAX(order[i].end_ns, order[i - 1].end_ns);
}

static int compare_syncs(const void *a, const void *b)
{
	const struct sync_call *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

bool clock_task_is_sure(const struct model *model, const struct device_task *task)
{
	if (task->flags & (MODEL_TASK_BY_ID | MODEL_TASK_BY_ORDER))
		return true;
	return task->call != INDEX_NONE && task->enqueue_ns &&
	       task->device < model->devices.count && model->devices.row[task->device].anchored;
}

#define SEVERAL_STREAMS (MAP_NONE - 1) /* a handle that was reused for another stream */

static uint64_t handle_key(uint32_t process, uint64_t handle)
{
	return handle * 0x9e3779b97f4a7c15u + process;
}

/* Maps stream handles of calls to the device's stream numbers, using joined tasks. */
static int stream_numbers(const struct model *model, struct map *numbers)
{
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		uint32_t known;
		uint64_t handle, key;

		if (!clock_task_is_sure(model, task) || task->call >= model->calls.count ||
		    task->stream >= SEVERAL_STREAMS ||
		    !call_stream(model, &model->calls.row[task->call], &handle))
			continue;
		key = handle_key(model->devices.row[task->device].process, handle);
		known = map_get(numbers, key);
		if (known == (uint32_t)task->stream || known == SEVERAL_STREAMS)
			continue;
		if (!map_put(numbers, key,
			     known == MAP_NONE ? (uint32_t)task->stream : SEVERAL_STREAMS))
			return -ENOMEM;
	}
	return 0;
}

static int collect_syncs(const struct model *model, const struct map *numbers,
			 struct sync_calls *syncs)
{
	syncs->count = 0;
	syncs->row = calloc((size_t)model->calls.count + 1, sizeof(*syncs->row));
	if (!syncs->row)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		const struct function *function = call_function(model, call);
		uint32_t process, number;
		uint64_t stream;

		if (!function || function->kind != PROFBPF__FUNCTION__KIND__SYNC ||
		    call->flags & (MODEL_CALL_NOT_RETURNED | MODEL_CALL_ERROR) ||
		    !call_stream(model, call, &stream))
			continue;
		process = model->threads.row[call->thread].process;
		number = map_get(numbers, handle_key(process, stream));
		if (number == SEVERAL_STREAMS)
			continue;
		syncs->row[syncs->count++] =
			(struct sync_call){ process, number == MAP_NONE ? stream : number,
					    call->start_ns, call->end_ns };
	}
	qsort(syncs->row, syncs->count, sizeof(*syncs->row), compare_syncs);
	return 0;
}

int sync_calls_collect(const struct model *model, struct sync_calls *syncs)
{
	struct map numbers = { 0 };
	int err = stream_numbers(model, &numbers);

	*syncs = (struct sync_calls){ 0 };
	if (!err)
		err = collect_syncs(model, &numbers, syncs);
	map_free(&numbers);
	return err;
}

uint32_t sync_calls_find(const struct sync_calls *syncs, uint32_t process, uint64_t stream,
			 uint64_t from_ns)
{
	struct sync_call key = { .process = process, .stream = stream, .start_ns = from_ns };
	return BISECT(i, 0, syncs->count, compare_syncs(&syncs->row[i], &key) < 0);
}

/* The syncs of the stream begin at @first; its tasks are order[0..count). */
static int add_stream(const struct sync_calls *syncs, uint32_t first, const struct enqueued *order, uint32_t count,
		      struct clock_bounds *bounds)
{
	const struct sync_call *begin = &syncs->row[first];
	uint32_t next = 0;
	int error = 0;

	for (uint32_t i = first; i < syncs->count && !error; i++) {
		const struct sync_call *sync = &syncs->row[i];

		if (sync->process != begin->process || sync->stream != begin->stream)
			break;
		while (next < count && order[next].enqueue_ns < sync->start_ns)
			next++;
		if (next > 0)
			error = add(bounds, order[next - 1].end_ns, sync->end_ns, true);
	}
	return error;
}

/* Adds the bounds of one stream, whose tasks are rows[0..count). Most streams are never waited for. */
static int add_rows(const struct model *model, const struct sync_calls *syncs, uint32_t process,
		    const uint32_t *rows, uint32_t count, struct clock_bounds *bounds)
{
	const uint64_t stream = model->tasks.row[rows[0]].stream;
	const uint32_t first = sync_calls_find(syncs, process, stream, 0);
	struct enqueued *order;
	int error;

	if (first == syncs->count || syncs->row[first].process != process || syncs->row[first].stream != stream)
		return 0;
	order = malloc((size_t)count * sizeof(*order));
	if (!order)
		return -ENOMEM;
	enqueue_order(model, rows, count, order);
	error = add_stream(syncs, first, order, count, bounds);
	free(order);
	return error;
}

static int add_syncs(const struct model *model, const struct sync_calls *syncs, uint32_t first, uint32_t task_count,
		     struct clock_bounds *bounds)
{
	const uint32_t process = model->devices.row[model->tasks.row[first].device].process;
	uint32_t *rows = malloc(((size_t)task_count + 1) * sizeof(*rows)), count = 0;
	int error = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = first; i < first + task_count; i++)
		if (model->tasks.row[i].end_ns && model->tasks.row[i].enqueue_ns)
			rows[count++] = i;
	/* Not all tasks by their instants: those of a stream are mostly in order, those of several alternate. */
	tasks_sort_by_stream(model, rows, count);
	for (uint32_t at = 0, end; at < count && !error; at = end) {
		end = at;
		while (end < count && model->tasks.row[rows[end]].stream == model->tasks.row[rows[at]].stream)
			end++;
		error = add_rows(model, syncs, process, rows + at, end - at, bounds);
	}
	free(rows);
	return error;
}

int clock_bounds_collect(const struct model *model, const struct sync_calls *syncs, uint32_t first,
			 uint32_t count, bool queued, struct clock_bounds *bounds)
{
	const struct device_task *tasks = model->tasks.row + first;
	int error = 0;

	bounds->count = 0;
	if (count == 0 || tasks->device >= model->devices.count)
		return 0;
	for (uint32_t i = 0; i < count && !error; i++)
		error = add_task(bounds, &tasks[i], queued);
	return error ? error : add_syncs(model, syncs, first, count, bounds);
}
