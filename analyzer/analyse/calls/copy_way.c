/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/copy_way.h"

#include <string.h>

#include "analyzer/join/launch/call_kind.h"

#define COPY_TO_DEVICE 1 /* of CUDA, HIP, AscendCL and the runtimes below them */
#define COPY_TO_HOST 2

static enum loop_kind way_of_name(const char *name)
{
	static const char *const FEEDS[] = { "HtoD",	       "H2D",
					     "HostToDevice",   "host_to_device",
					     "Host -> Device", "EnqueueWrite" };
	static const char *const RESULTS[] = { "DtoH",		 "D2H",
					       "DeviceToHost",	 "device_to_host",
					       "Device -> Host", "EnqueueRead" };

	for (size_t i = 0; i < sizeof(FEEDS) / sizeof(*FEEDS); i++) {
		if (strcasestr(name, FEEDS[i]))
			return LOOP_FEED;
		if (strcasestr(name, RESULTS[i]))
			return LOOP_RESULT;
	}
	return LOOP_OTHER;
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

static enum loop_kind way_of_call(const struct model *model, const struct call *call)
{
	const struct function *function = call_function(model, call);
	enum loop_kind way;

	if (!function || function->kind != PROFBPF__FUNCTION__KIND__COPY)
		return LOOP_OTHER;
	way = way_of_name(model_text(model, function->name));
	return way != LOOP_OTHER ? way : way_of_argument(function, call);
}

enum loop_kind call_copy_way(const struct model *model, const struct call *call)
{
	enum loop_kind way = way_of_call(model, call);

	if (way == LOOP_OTHER && call->task < model->tasks.count)
		way = way_of_name(model_text(model, model->tasks.row[call->task].name));
	return way;
}

enum loop_kind task_copy_way(const struct model *model, const struct device_task *task)
{
	enum loop_kind way;

	if (task->kind != PROFBPF__DEVICE_TASKS__KIND__COPY &&
	    task->kind != PROFBPF__DEVICE_TASKS__KIND__MAP)
		return LOOP_OTHER;
	way = way_of_name(model_text(model, task->name));
	if (way == LOOP_OTHER && task->call < model->calls.count)
		way = way_of_call(model, &model->calls.row[task->call]);
	return way;
}
