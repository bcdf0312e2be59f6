/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launch_correlation.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/join/launch/call_kind.h"
#include "lib/base/bisect.h"
#include "lib/base/sort_rows.h"

static uint64_t correlation_of(const struct model *model, const struct call *call)
{
	const struct function *function = call_function(model, call);

	for (int i = 0; function && i < 3; i++) {
		if (function->roles[i] == PROFBPF__FUNCTION__ROLE__CORRELATION)
			return call->args[i];
	}
	return 0;
}

static uint32_t process_of(const struct model *model, uint32_t thread)
{
	return thread < model->threads.count ? model->threads.row[thread].process : INDEX_NONE;
}

/* Numbers are unique per process; the same number in another process is another launch. */
struct numbered_call {
	uint64_t correlation;
	uint32_t process;
	uint32_t call;
};

/*
 * Sorted by process and number; of one number the outer call is first. Numbers mostly grow with time, in the order of
 * calls and tasks, so each is found next to the previous one. A hash map of millions of entries, which may lie in a
 * file, would be accessed at random.
 */
struct numbered_calls {
	MODEL_ARRAY(struct numbered_call) list;
	uint32_t near; /* index of the last result */
};

static bool has_own_clock(const struct model *model)
{
	for (uint32_t i = 0; i < model->devices.count; i++) {
		if (model->devices.row[i].own_clock)
			return true;
	}
	return false;
}

static bool is_before(const struct numbered_call *row, uint64_t correlation, uint32_t process)
{
	return row->process != process ? row->process < process : row->correlation < correlation;
}

static int by_number(const void *a, const void *b)
{
	const struct numbered_call *x = a, *y = b;

	if (x->process != y->process || x->correlation != y->correlation)
		return is_before(x, y->correlation, y->process) ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

/* Calls are sorted by thread and start: the outer call of a number has the lowest index. */
static int index_calls(const struct model *model, struct numbered_calls *calls)
{
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		const struct numbered_call row = { correlation_of(model, call),
						   process_of(model, call->thread), i };

		if (row.correlation && !MODEL_PUSH(&calls->list, row))
			return -ENOMEM;
	}
	SORT_ARRAY(&calls->list, by_number);
	return 0;
}

/* Returns INDEX_NONE if there is none. */
static uint32_t find_call(struct numbered_calls *calls, uint64_t correlation, uint32_t process)
{
	const struct numbered_call *row = calls->list.row;

	calls->near = BISECT_NEAR(i, 0, calls->list.count, calls->near,
				  is_before(&row[i], correlation, process));
	if (calls->near == calls->list.count || row[calls->near].process != process ||
	    row[calls->near].correlation != correlation)
		return INDEX_NONE;
	return row[calls->near].call;
}

static void connect(struct model *model, uint32_t task, uint32_t call)
{
	uint32_t *first = &model->calls.row[call].task;

	model->tasks.row[task].call = call;
	if (*first == INDEX_NONE ||
	    model->tasks.row[task].start_ns < model->tasks.row[*first].start_ns)
		*first = task;
}

/* Marks calls with the same number as a call that has a task: one task did the work of all of them. */
static void mark_shared(struct model *model, struct numbered_calls *calls)
{
	for (uint32_t i = 0; i < model->calls.count; i++) {
		struct call *call = &model->calls.row[i];
		uint64_t correlation = correlation_of(model, call);
		uint32_t first;

		if (!correlation || call->task != INDEX_NONE)
			continue;
		first = find_call(calls, correlation, process_of(model, call->thread));
		if (first != INDEX_NONE && model->calls.row[first].task != INDEX_NONE)
			call->flags |= MODEL_CALL_SHARED;
	}
}

int launch_correlation_join(struct model *model, uint64_t *joined)
{
	struct numbered_calls calls = { 0 };
	int error;

	*joined = 0;
	if (!has_own_clock(model))
		return 0;
	error = index_calls(model, &calls);
	for (uint32_t i = 0; i < model->tasks.count && !error; i++) {
		const struct device_task *task = &model->tasks.row[i];
		uint32_t call;

		if (!task->correlation || task->device >= model->devices.count ||
		    !model->devices.row[task->device].own_clock)
			continue;
		call = find_call(&calls, task->correlation, process_of(model, task->thread));
		if (call == INDEX_NONE)
			continue;
		connect(model, i, call);
		(*joined)++;
	}
	if (!error)
		mark_shared(model, &calls);
	free(calls.list.row);
	return error;
}
