/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch_order.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/join/call_kind.h"

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
		    task->device >= model->devices.count)
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

static void join_streams(struct model *model, const struct item *tasks, uint32_t task_count,
			 const struct item *calls, uint32_t call_count, struct launch_join *join)
{
	uint32_t task = 0, call = 0;

	while (task < task_count) {
		uint32_t task_end = stream_end(tasks, task_count, task), call_end;

		while (call < call_count && !same_stream(&calls[call], &tasks[task]) &&
		       compare(&calls[call], &tasks[task]) < 0)
			call++;
		call_end = call;
		while (call_end < call_count && same_stream(&calls[call_end], &tasks[task]))
			call_end++;
		if (call_end - call == task_end - task) {
			join->by_order += task_end - task;
			for (; task < task_end; task++, call++) {
				model->tasks.row[tasks[task].row].call = calls[call].row;
				model->calls.row[calls[call].row].task = tasks[task].row;
			}
		} else if (call_end > call) {
			join->ambiguous += task_end - task;
		}
		task = task_end;
		call = call_end;
	}
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
	join_streams(model, tasks, task_count, calls, call_count, join);
	error = 0;
cleanup:
	free(calls);
	free(tasks);
	return error;
}
