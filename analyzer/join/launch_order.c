/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch_order.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/join/call_kind.h"

#define EARLY_NS \
	100000 /* a task may seem to start so much before its launch: seen were up to 84 us */
#define STREAMS_MAX 4096 /* of one side; each is compared with each */

/* A task or a call, by what it is to be joined on. */
struct item {
	uint32_t process;
	uint32_t row;
	uint64_t stream;
	uint64_t ts_ns; /* task: when it was queued or started; call: start */
};

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool same_stream(const struct item *a, const struct item *b)
{
	return a->process == b->process && a->stream == b->stream;
}

/* Where the items of the stream of items[first] end. */
static uint32_t stream_end(const struct item *items, uint32_t count, uint32_t first)
{
	uint32_t end = first;

	while (end < count && same_stream(&items[first], &items[end]))
		end++;
	return end;
}

static uint32_t collect_tasks(const struct model *model, struct item *items)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->call != INDEX_NONE || task->enqueue_ns ||
		    task->flags & MODEL_TASK_NUMBERED || task->device >= model->devices.count)
			continue;
		items[count++] = (struct item){
			.process = model->devices.row[task->device].process,
			.row = i,
			.stream = task->stream,
			.ts_ns = task->queued_ns ? task->queued_ns : task->start_ns,
		};
	}
	return count;
}

static uint32_t collect_calls(const struct model *model, struct item *items)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		uint64_t stream;

		if (!call_is_launch(model, call) || call->flags & MODEL_CALL_ERROR ||
		    call->task != INDEX_NONE || call->thread >= model->threads.count ||
		    !call_stream(model, call, &stream))
			continue;
		items[count++] = (struct item){
			.process = model->threads.row[call->thread].process,
			.row = i,
			.stream = stream,
			.ts_ns = call->start_ns,
		};
	}
	return count;
}

/* The items of one stream: [first, end) of tasks or of calls. */
struct group {
	uint32_t first;
	uint32_t end;
	uint32_t fits; /* groups of the other side that it may be the same stream as */
	uint32_t other; /* the last of them */
};

static void connect(struct model *model, const struct item *tasks, const struct item *calls,
		    uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		model->tasks.row[tasks[i].row].call = calls[i].row;
		model->calls.row[calls[i].row].task = tasks[i].row;
	}
}

static uint32_t group_items(const struct item *items, uint32_t count, struct group *groups)
{
	uint32_t made = 0;

	for (uint32_t first = 0; first < count; first = groups[made++].end)
		groups[made] =
			(struct group){ .first = first, .end = stream_end(items, count, first) };
	return made;
}

/*
 * Streams that call and task know by the same number. What is left of @task_groups and @call_groups
 * has no counterpart; the others become empty.
 */
static void join_same(struct model *model, const struct item *tasks, struct group *task_groups,
		      uint32_t task_count, const struct item *calls, struct group *call_groups,
		      uint32_t call_count, struct launch_join *join)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < task_count; i++) {
		struct group *task = &task_groups[i], *call;
		uint32_t count = task->end - task->first;

		while (k < call_count &&
		       !same_stream(&calls[call_groups[k].first], &tasks[task->first]) &&
		       compare(&calls[call_groups[k].first], &tasks[task->first]) < 0)
			k++;
		if (k == call_count ||
		    !same_stream(&calls[call_groups[k].first], &tasks[task->first]))
			continue;
		call = &call_groups[k++];
		if (call->end - call->first == count) {
			join->by_order += count;
			connect(model, tasks + task->first, calls + call->first, count);
		} else {
			join->ambiguous += count;
		}
		task->end = task->first;
		call->end = call->first;
	}
}

static bool is_copy(uint8_t kind)
{
	return kind == PROFBPF__DEVICE_TASKS__KIND__COPY ||
	       kind == PROFBPF__DEVICE_TASKS__KIND__FILL;
}

/* Could each of the tasks have been launched by the call of its place? */
static bool fits(const struct model *model, const struct item *tasks, const struct group *task,
		 const struct item *calls, const struct group *call)
{
	uint32_t count = task->end - task->first;

	if (!count || call->end - call->first != count ||
	    tasks[task->first].process != calls[call->first].process)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct item *to = &tasks[task->first + i], *from = &calls[call->first + i];
		const struct function *function =
			call_function(model, &model->calls.row[from->row]);

		if (to->ts_ns + EARLY_NS < from->ts_ns || !function ||
		    is_copy(model->tasks.row[to->row].kind) !=
			    (function->kind == PROFBPF__FUNCTION__KIND__COPY))
			return false;
	}
	return true;
}

/* If one of a process's streams has no counterpart, or several, another one's may be a coincidence. */
static bool all_fit_once(const struct item *items, const struct group *groups, uint32_t count,
			 uint32_t process)
{
	for (uint32_t i = 0; i < count; i++) {
		if (groups[i].end > groups[i].first && items[groups[i].first].process == process &&
		    groups[i].fits != 1)
			return false;
	}
	return true;
}

/* Streams that calls know by a handle and tasks by the device's number. */
static void join_alike(struct model *model, const struct item *tasks, struct group *task_groups,
		       uint32_t task_count, const struct item *calls, struct group *call_groups,
		       uint32_t call_count, struct launch_join *join)
{
	for (uint32_t i = 0; i < task_count; i++) {
		for (uint32_t k = 0; k < call_count; k++) {
			if (!fits(model, tasks, &task_groups[i], calls, &call_groups[k]))
				continue;
			task_groups[i].fits++;
			task_groups[i].other = k;
			call_groups[k].fits++;
		}
	}
	for (uint32_t i = 0; i < task_count; i++) {
		struct group *task = &task_groups[i];
		uint32_t count = task->end - task->first;

		if (!task->fits)
			continue;
		if (call_groups[task->other].fits == 1 &&
		    all_fit_once(tasks, task_groups, task_count, tasks[task->first].process) &&
		    all_fit_once(calls, call_groups, call_count, tasks[task->first].process)) {
			join->by_order += count;
			connect(model, tasks + task->first, calls + call_groups[task->other].first,
				count);
		} else {
			join->ambiguous += count;
		}
	}
}

/* -ENOMEM or 0. */
static int join_groups(struct model *model, const struct item *tasks, uint32_t task_count,
		       const struct item *calls, uint32_t call_count, struct launch_join *join)
{
	struct group *task_groups = calloc((size_t)task_count + 1, sizeof(*task_groups));
	struct group *call_groups = calloc((size_t)call_count + 1, sizeof(*call_groups));
	uint32_t task_streams, call_streams;
	int error = -ENOMEM;

	if (task_groups && call_groups) {
		task_streams = group_items(tasks, task_count, task_groups);
		call_streams = group_items(calls, call_count, call_groups);
		join_same(model, tasks, task_groups, task_streams, calls, call_groups, call_streams,
			  join);
		if (task_streams <= STREAMS_MAX && call_streams <= STREAMS_MAX)
			join_alike(model, tasks, task_groups, task_streams, calls, call_groups,
				   call_streams, join);
		error = 0;
	}
	free(task_groups);
	free(call_groups);
	return error;
}

int launch_order_join(struct model *model, struct launch_join *join)
{
	struct item *tasks = calloc((size_t)model->tasks.count + 1, sizeof(*tasks));
	struct item *calls = NULL;
	uint32_t task_count, call_count;
	int error = -ENOMEM;

	if (!tasks)
		return -ENOMEM;
	task_count = collect_tasks(model, tasks);
	if (task_count == 0) {
		error = 0;
		goto cleanup;
	}
	calls = calloc((size_t)model->calls.count + 1, sizeof(*calls));
	if (!calls)
		goto cleanup;
	call_count = collect_calls(model, calls);
	qsort(tasks, task_count, sizeof(*tasks), compare);
	qsort(calls, call_count, sizeof(*calls), compare);
	error = join_groups(model, tasks, task_count, calls, call_count, join);
cleanup:
	free(calls);
	free(tasks);
	return error;
}
