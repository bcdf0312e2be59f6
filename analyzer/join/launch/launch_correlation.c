/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launch_correlation.h"

#include <errno.h>

#include "analyzer/join/launch/call_kind.h"
#include "lib/base/map.h"

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

/* Numbers are counted per process; the same one of another process is another launch. */
static uint64_t key_of(uint64_t correlation, uint32_t process)
{
	return correlation * 0x9e3779b97f4a7c15u + process;
}

static bool has_own_clock(const struct model *model)
{
	for (uint32_t i = 0; i < model->devices.count; i++) {
		if (model->devices.row[i].own_clock)
			return true;
	}
	return false;
}

static int index_calls(const struct model *model, struct map *calls)
{
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		uint64_t correlation = correlation_of(model, call), key;
		uint32_t other;

		if (!correlation)
			continue;
		key = key_of(correlation, process_of(model, call->thread));
		other = map_get(calls, key);
		/* Calls come by thread and start: the outer one is there first. */
		if (other == MAP_NONE && !map_put(calls, key, i))
			return -ENOMEM;
	}
	return 0;
}

static void connect(struct model *model, uint32_t task, uint32_t call)
{
	uint32_t *first = &model->calls.row[call].task;

	model->tasks.row[task].call = call;
	if (*first == INDEX_NONE ||
	    model->tasks.row[task].start_ns < model->tasks.row[*first].start_ns)
		*first = task;
}

/* Calls of the same number as one that has a task: what they asked for was done at once. */
static void mark_shared(struct model *model, const struct map *calls)
{
	for (uint32_t i = 0; i < model->calls.count; i++) {
		struct call *call = &model->calls.row[i];
		uint64_t correlation = correlation_of(model, call);
		uint32_t first;

		if (!correlation || call->task != INDEX_NONE)
			continue;
		first = map_get(calls, key_of(correlation, process_of(model, call->thread)));
		if (first != MAP_NONE && model->calls.row[first].task != INDEX_NONE)
			call->flags |= MODEL_CALL_SHARED;
	}
}

int launch_correlation_join(struct model *model, uint64_t *joined)
{
	struct map calls = { 0 };
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
		call = map_get(&calls, key_of(task->correlation, process_of(model, task->thread)));
		if (call == MAP_NONE)
			continue;
		connect(model, i, call);
		(*joined)++;
	}
	if (!error)
		mark_shared(model, &calls);
	map_free(&calls);
	return error;
}
