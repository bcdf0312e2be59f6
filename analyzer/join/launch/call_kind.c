/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/call_kind.h"

#include <string.h>

const struct function *call_function(const struct model *model, const struct call *call)
{
	return call->function < model->functions.count ? &model->functions.row[call->function]
						       : NULL;
}

bool call_is_runtime(const struct model *model, const struct call *call)
{
	const struct function *function = call_function(model, call);

	return function && function->kind != PROFBPF__FUNCTION__KIND__MARKER &&
	       function->kind != PROFBPF__FUNCTION__KIND__STAGE;
}

bool function_submits(const struct function *function)
{
	return function->kind == PROFBPF__FUNCTION__KIND__LAUNCH ||
	       function->kind == PROFBPF__FUNCTION__KIND__COPY ||
	       function->kind == PROFBPF__FUNCTION__KIND__COLLECTIVE;
}

bool call_is_launch(const struct model *model, const struct call *call)
{
	const struct function *function = call_function(model, call);

	return function && function_submits(function) && !(call->flags & MODEL_CALL_PART);
}

/* A copy with an argument that says it does not block returns at once. */
static bool is_nonblocking(const struct function *function, const struct call *call)
{
	for (int i = 0; i < 3; i++) {
		if (function->roles[i] == PROFBPF__FUNCTION__ROLE__BLOCKING)
			return call->args[i] == 0;
	}
	return false;
}

bool call_waits(const struct model *model, const struct call *call)
{
	const struct function *function = call_function(model, call);

	if (!function)
		return false;
	if (function->kind == PROFBPF__FUNCTION__KIND__COPY)
		return !is_nonblocking(function, call);
	return function->kind == PROFBPF__FUNCTION__KIND__SYNC;
}

static bool has_argument(const struct function *function, const struct call *call, int role,
			 uint64_t value)
{
	for (int i = 0; i < 3; i++) {
		if (function->roles[i] == role && call->args[i] == value)
			return true;
	}
	return false;
}

void call_task_range(const struct model *model, const struct call *call, uint32_t *least,
		     uint32_t *most)
{
	const struct function *function = call_function(model, call);
	const char *name = function ? model_text(model, function->name) : "";
	bool graph = strstr(name, "Graph") || strstr(name, "Model") || strstr(name, "mdl");
	bool kernel = strstr(name, "Kernel") && (strstr(name, "Launch") || strstr(name, "Enqueue"));
	bool copy = function && function->kind == PROFBPF__FUNCTION__KIND__COPY;

	if (copy && !strstr(name, "Batch")) {
		*most = 1;
		*least = !has_argument(function, call, PROFBPF__FUNCTION__ROLE__BYTES, 0);
	} else if (kernel && !copy) {
		*least = *most = 1;
	} else {
		*least = graph && !copy;
		*most = UINT32_MAX;
	}
}

bool call_stream(const struct model *model, const struct call *call, uint64_t *stream)
{
	const struct function *function = call_function(model, call);

	for (int i = 0; function && i < 3; i++) {
		if (function->roles[i] == PROFBPF__FUNCTION__ROLE__STREAM) {
			*stream = call->args[i];
			return true;
		}
	}
	return false;
}

void calls_forget_tasks(struct model *model)
{
	for (uint32_t i = 0; i < model->calls.count; i++)
		if (model->calls.row[i].task != INDEX_NONE)
			model->calls.row[i].task = INDEX_NONE;
}
