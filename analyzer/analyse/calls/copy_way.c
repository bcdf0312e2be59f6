/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/copy_way.h"

#include "analyzer/join/launch/call_kind.h"

#define COPY_TO_DEVICE 1 /* the value of CUDA, HIP, AscendCL and the runtimes below them */
#define COPY_TO_HOST 2

static enum loop_kind way_of_name(struct work_names *names, uint32_t name)
{
	uint8_t says = work_names_of(names, name);

	if (says & WORK_NAME_FEEDS)
		return LOOP_FEED;
	return says & WORK_NAME_RESULTS ? LOOP_RESULT : LOOP_OTHER;
}

static enum loop_kind way_of_argument(const struct function *function, const struct call *call)
{
	for (int i = 0; i < 3; i++) {
		if (function->roles[i] != PROFBPF__FUNCTION__ROLE__COPY_KIND)
			continue;
		if ((uint32_t)call->args[i] == COPY_TO_DEVICE)
			return LOOP_FEED;
		if ((uint32_t)call->args[i] == COPY_TO_HOST)
			return LOOP_RESULT;
	}
	return LOOP_OTHER;
}

static enum loop_kind way_of_call(struct work_names *names, const struct call *call)
{
	const struct function *function = call_function(names->model, call);
	enum loop_kind way;

	if (!function || function->kind != PROFBPF__FUNCTION__KIND__COPY)
		return LOOP_OTHER;
	way = way_of_name(names, function->name);
	return way != LOOP_OTHER ? way : way_of_argument(function, call);
}

enum loop_kind call_copy_way(struct work_names *names, const struct call *call)
{
	const struct model *model = names->model;
	enum loop_kind way = way_of_call(names, call);

	if (way == LOOP_OTHER && call->task < model->tasks.count)
		way = way_of_name(names, model->tasks.row[call->task].name);
	return way;
}

enum loop_kind task_copy_way(struct work_names *names, const struct device_task *task)
{
	const struct model *model = names->model;
	enum loop_kind way;

	if (task->kind != PROFBPF__DEVICE_TASKS__KIND__COPY &&
	    task->kind != PROFBPF__DEVICE_TASKS__KIND__MAP)
		return LOOP_OTHER;
	way = way_of_name(names, task->name);
	if (way == LOOP_OTHER && task->call < model->calls.count)
		way = way_of_call(names, &model->calls.row[task->call]);
	return way;
}
