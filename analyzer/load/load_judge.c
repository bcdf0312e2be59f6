/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/load_judge.h"

#include "analyzer/join/launch/call_kind.h"

/* More than the recorder's own limit of nesting: device files also contain Python functions. */
#define DEPTH_MAX 255

bool load_is_error(const struct function *function, const struct call *call)
{
	if (call->flags & (MODEL_CALL_NOT_RETURNED | MODEL_CALL_VALUE_UNKNOWN))
		return false;
	switch (function->error) {
	case PROFBPF__FUNCTION__ERROR__NONZERO: return call->ret != 0;
	case PROFBPF__FUNCTION__ERROR__NULL_: return call->ret == 0;
	case PROFBPF__FUNCTION__ERROR__NEGATIVE: return (int32_t)call->ret < 0;
	default: return false;
	}
}

/* The calls around the next call of a thread, outermost first. */
struct enclosing {
	const struct call *call[DEPTH_MAX];
	uint32_t count;
};

static bool encloses(const struct call *outer, const struct call *inner)
{
	return outer->depth < inner->depth && outer->start_ns <= inner->start_ns &&
	       inner->end_ns <= outer->end_ns;
}

static uint8_t judge_layer(const struct model *model, struct enclosing *stack,
			   const struct call *call)
{
	const struct function *function = &model->functions.row[call->function];
	uint8_t flags = 0;

	while (stack->count && !encloses(stack->call[stack->count - 1], call))
		stack->count--;
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct function *outer =
			&model->functions.row[stack->call[i]->function];

		if (outer->family != function->family)
			continue;
		flags |= MODEL_CALL_INNER;
		if (function_submits(function) && function_submits(outer))
			flags |= MODEL_CALL_PART;
	}
	if (stack->count < DEPTH_MAX)
		stack->call[stack->count++] = call;
	return flags;
}

void load_judge_calls(struct model *model)
{
	struct enclosing stack = { .count = 0 };
	uint32_t thread = INDEX_NONE;
	bool unknown = false;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		struct call *call = &model->calls.row[i];
		uint8_t flags;

		if (call->thread != thread) {
			thread = call->thread;
			stack.count = 0;
		}
		flags = judge_layer(model, &stack, call);
		if (load_is_error(&model->functions.row[call->function], call))
			flags |= MODEL_CALL_ERROR;
		/* Writes only if needed: rows may be in a file, where a write doubles the cost. */
		if (flags & ~call->flags)
			call->flags |= flags;
		unknown |= call->flags & MODEL_CALL_END_UNKNOWN;
	}
	/* A call without an end was known to run until end_ns, which was needed to find the calls inside it. */
	for (uint32_t i = 0; unknown && i < model->calls.count; i++) {
		struct call *call = &model->calls.row[i];

		if (call->flags & MODEL_CALL_END_UNKNOWN)
			call->end_ns = call->start_ns;
	}
}
