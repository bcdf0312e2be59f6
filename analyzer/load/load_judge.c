/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/load_judge.h"

#include "analyzer/join/launch/call_kind.h"

/* Deeper than the recorder follows nested calls: files of others tell of Python's functions, too. */
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

/* Calls of one thread that enclose the next one, outermost first. */
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
		/* What is written to a file twice costs twice as much. */
		if (flags & ~call->flags)
			call->flags |= flags;
		unknown |= call->flags & MODEL_CALL_END_UNKNOWN;
	}
	/* Until when they were noticed tells what was inside them, and nothing else. */
	for (uint32_t i = 0; unknown && i < model->calls.count; i++) {
		struct call *call = &model->calls.row[i];

		if (call->flags & MODEL_CALL_END_UNKNOWN)
			call->end_ns = call->start_ns;
	}
}
