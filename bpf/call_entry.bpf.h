/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* call_entry.bpf.h - the start of a call: it is noted in a slot of the thread's call stack. */
#ifndef PROFBPF_CALL_ENTRY_BPF_H
#define PROFBPF_CALL_ENTRY_BPF_H

#include "short_calls.bpf.h"

static __noinline void take_return_address(struct pt_regs *ctx, struct call_frame *frame)
{
	read_return_address(ctx, frame->sp, &frame->returns_to);
}

/* Ends a call whose end will not be seen. Where short calls are only counted, calls of a hot function are, too. */
static __noinline void entry_only(struct call_stack *stack, __u32 slot)
{
	struct call_frame *frame = frame_at(stack, slot);

	hot_hits[frame->probe & (MAX_PROBES - 1)]++;
	if (settings.min_duration_ns && !(frame->flags & FRAME_KEEP) && is_hot(frame->probe)) {
		count_unended(stack, frame);
		frame->sp = 0;
	} else {
		end_unseen(stack, frame, CALL_ENTRY);
	}
	trim(stack);
}

static __noinline void exit_at_entry(struct pt_regs *ctx, struct call_stack *stack, __u32 slot,
				     __u64 cookie);

/* May a return probe write into the stack for this call? */
static __always_inline bool is_armed(struct call_stack *stack, __u64 sp, bool exact)
{
	refresh_own_stack(stack, exact);
	return on_own_stack(stack, sp);
}

/*
 * Returns the slot of the new call, or SLOT_NONE if the call is not recorded or its end will not be
 * seen. @exact: see find_own_stack(). Functions that need BPF stack are not inlined.
 */
static __always_inline __u64 enter(struct pt_regs *ctx, __u32 probe, __u32 seen_by, bool exact)
{
	struct call_stack *stack = target_stack();
	const struct probe_conf *conf;
	struct call_frame *frame;
	__u32 slot;
	__u64 sp;

	if (!stack)
		return SLOT_NONE;
	stack->probe = probe;
	conf = conf_of(&stack->conf, probe);
	if (!conf) {
		lost_call(LOSS_PLACE, 1);
		return SLOT_NONE;
	}
	sp = PT_REGS_SP(ctx) + conf->below;
	slot = next_slot(ctx, stack, sp, exact);
	if (slot >= REC_CALL_DEPTH)
		return SLOT_NONE;
	frame = frame_at(stack, slot);
	frame->probe = stack->probe;
	frame->flags = FRAME_FLAGS(conf->flags) | seen_by | stack->unsure;
	frame->sp = sp;
	if (seen_by == FRAME_EXITS)
		take_return_address(ctx, frame);
	take_arguments(ctx, stack, conf, frame);
	if (slot >= stack->depth)
		stack->depth = slot + 1;
	frame->start_ns = bpf_ktime_get_ns();
	if (conf->flags & (PROBE_STRING | PROBE_NAMES_CHANGED))
		name_call(conf, stack, frame);
	if (conf->entry_only ||
	    (seen_by == FRAME_RETURNS && !is_armed(stack, frame->sp, exact))) {
		entry_only(stack, slot);
		return SLOT_NONE;
	}
	if (seen_by == FRAME_EXITS && conf->exit)
		exit_at_entry(ctx, stack, slot, conf->exit);
	return slot;
}

static __noinline __u64 enter_returning(struct pt_regs *ctx, __u32 probe)
{
	return enter(ctx, probe, FRAME_RETURNS, true);
}

static __noinline __u64 enter_place(struct pt_regs *ctx, __u32 probe)
{
	return enter(ctx, probe, FRAME_EXITS, true);
}

/* For kernels before 5.17. */
static __noinline __u64 enter_place_near(struct pt_regs *ctx, __u32 probe)
{
	return enter(ctx, probe, FRAME_EXITS, false);
}

#endif /* PROFBPF_CALL_ENTRY_BPF_H */
