/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/call_kind.h"

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

/* A copy that says it doesn't block returns at once. */
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
