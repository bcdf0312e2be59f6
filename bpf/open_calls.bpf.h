/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * open_calls.bpf.h - which calls a thread is in.
 *
 * A call is known by the stack pointer at its entry. What an exception, a longjmp or another stack left behind is
 * taken off when the next call begins or ends.
 */
#ifndef PROFBPF_OPEN_CALLS_BPF_H
#define PROFBPF_OPEN_CALLS_BPF_H

#include "call_arguments.bpf.h"

/* Not inlined, as all that is rare: what it keeps on the stack would add up. */
static __noinline void lost_call(__u32 reason, __u64 n)
{
	count_lost(SOURCE_API, reason, n);
}

static __noinline struct call_stack *first_stack(void)
{
	struct task_struct *task = current_task();
	struct call_stack *stack;

	if (!is_target(field_of(task, tgid)))
		return NULL;
	stack = claim_near_stack(task);
	if (stack)
		return stack;
	stack = thread_make(call_stacks, task);
	if (!stack)
		lost_call(LOSS_NO_MEMORY, 1);
	return stack;
}

/* The stack of the current thread if it belongs to a target. */
static __always_inline struct call_stack *target_stack(void)
{
	struct task_struct *task = current_task();
	struct call_stack *stack = stack_of(task);

	if (!stack)
		stack = first_stack();
	if (!stack)
		return NULL;
	stack->tid = field_of(task, pid);
	stack->tgid = field_of(task, tgid);
	return is_known_target(&stack->target, stack->tgid) ? stack : NULL;
}

/* The frames up to the last one that is in use. Not static: looked at once, as all that has a loop. */
__weak __noinline int trim(struct call_stack *stack)
{
	if (!stack)
		return 0;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		__u32 last = stack->depth - 1;

		if (last >= REC_CALL_DEPTH || stack->frames[last].sp)
			break;
		stack->depth = last;
	}
	return 0;
}

/* Calls of this session, which are recorded even if nobody saw how they ended. */
static __always_inline void end_unseen(struct call_stack *stack, struct call_frame *frame,
				       __u32 how)
{
	emit_unended(frame, how, stack->tgid, stack->tid, bpf_ktime_get_ns());
	frame->sp = 0;
}

/* What a slot was compared with is forgotten by verifiers that see it widened (6.1) or added to (6.12), and by compilers. */
static __always_inline struct call_frame *frame_at(struct call_stack *stack, __u32 slot)
{
	asm volatile("" : "+r"(slot));
	return &stack->frames[slot & (REC_CALL_DEPTH - 1)];
}

/* Others' return probes, or this session's, put the kernel's address where the return address was. */
static __noinline bool is_trampoline(__u64 address)
{
	struct task_struct *task = current_task();

	return address && address == BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
}

#define FRAME_STAYS 0 /* besides CALL_LEFT and CALL_ENTRY */

/* Is the call that begins the one in which @frame's went on? It returns to the same caller, and was jumped to. */
static __always_inline bool went_on_in(const struct call_stack *stack,
				       const struct call_frame *frame, __u32 probe)
{
	if (frame->flags & FRAME_RETURNS)
		return stack->armed;
	return frame->flags & FRAME_TAILED && frame->probe != probe &&
	       (frame->returns_to == stack->returns_to || stack->armed) &&
	       (!frame->goes_to || stack->ip - frame->goes_to < PROBE_REACH);
}

/*
 * What became of a call when another begins at @sp, or one that began at @sp has ended
 * (@probe is NO_PROBE). One that began further down the same stack is gone; of other
 * stacks nothing is known. One at the same place goes on in the new one if it jumped there.
 */
static __always_inline __u32 fate(const struct call_stack *stack, const struct call_frame *frame,
				  __u64 sp, __u32 probe)
{
	bool own = on_own_stack(stack, sp) && on_own_stack(stack, frame->sp);

	if (!frame->sp || frame->sp > sp)
		return FRAME_STAYS;
	if (frame->sp < sp)
		return !own ? FRAME_STAYS : frame->flags & FRAME_TAILED ? CALL_ENTRY : CALL_LEFT;
	if (probe == NO_PROBE || went_on_in(stack, frame, probe))
		return FRAME_STAYS;
	return own && !(frame->flags & FRAME_TAILED) ? CALL_LEFT : CALL_ENTRY;
}

/* The call in @slot, if it is gone. Not static: looked at once, not at each turn. */
__weak __noinline int settle_slot(struct call_stack *stack, __u32 slot, __u64 sp, __u32 probe)
{
	struct call_frame *frame;
	__u32 how;

	if (!stack)
		return 0;
	frame = frame_at(stack, slot);
	how = fate(stack, frame, sp, probe);
	if (!how)
		return 0;
	/* That stack may have been moved away, and come back: two calls at one place. */
	if (frame->sp == sp && !on_own_stack(stack, sp))
		stack->unsure = FRAME_UNSURE;
	end_unseen(stack, frame, how);
	return 0;
}

/* Takes off the calls that are gone. */
static __always_inline int settle_in(struct call_stack *stack, __u64 sp, __u32 probe)
{
	if (!stack)
		return 0;
	for (__u32 i = 0; i < REC_CALL_DEPTH && i < stack->depth; i++)
		settle_slot(stack, i, sp, probe);
	trim(stack);
	return 0;
}

__weak __noinline int settle_once(struct call_stack *stack, __u64 sp, __u32 probe)
{
	return settle_in(stack, sp, probe);
}

__weak __noinline int settle_found(__u64 sp, __u32 probe)
{
	return settle_in(current_stack(), sp, probe);
}

static __always_inline void settle(struct call_stack *stack, __u64 sp, __u32 probe)
{
	ONCE(settle, stack, sp, probe);
}

/* The call in @slot, if it is on a stack that is not the thread's own. Looked at once, as above. */
__weak __noinline int give_up_elsewhere(struct call_stack *stack, __u32 slot)
{
	struct call_frame *frame;

	if (!stack)
		return 0;
	frame = frame_at(stack, slot);
	if (on_own_stack(stack, frame->sp))
		return 0;
	end_unseen(stack, frame, CALL_ENTRY);
	return 1;
}

/*
 * A place for a call where all are taken: one in between that is free, or that of a call on a stack
 * that is not the thread's own. REC_CALL_DEPTH: none.
 */
static __always_inline __u32 spare_slot_in(struct call_stack *stack)
{
	if (!stack)
		return REC_CALL_DEPTH;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++)
		if (!stack->frames[i].sp)
			return i;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++)
		if (give_up_elsewhere(stack, i))
			return i;
	return REC_CALL_DEPTH;
}

__weak __noinline int spare_slot_once(struct call_stack *stack)
{
	return spare_slot_in(stack);
}

__weak __noinline int spare_slot_found(void)
{
	return spare_slot_in(current_stack());
}

static __always_inline __u32 spare_slot(struct call_stack *stack)
{
	return ONCE(spare_slot, stack);
}

/* Is the call in @slot around one that begins at @sp? Looked at once, as above. */
__weak __noinline int call_is_around(struct call_stack *stack, __u32 slot, __u64 sp)
{
	__u64 at;

	if (!stack)
		return 0;
	at = frame_at(stack, slot)->sp;
	return at >= sp && on_own_stack(stack, at) == on_own_stack(stack, sp);
}

/* Calls around one that begins at @sp, where the last one begun is on another stack. */
static __always_inline __u32 depth_in(struct call_stack *stack, __u64 sp)
{
	__u32 depth = 0;

	if (!stack)
		return 0;
	for (__u32 i = 0; i < REC_CALL_DEPTH && i < stack->depth; i++)
		depth = unfollowed(depth + call_is_around(stack, i, sp), sp);
	return depth;
}

__weak __noinline int depth_once(struct call_stack *stack, __u64 sp)
{
	return depth_in(stack, sp);
}

__weak __noinline int depth_found(__u64 sp)
{
	return depth_in(current_stack(), sp);
}

/* Of a call that begins at @sp. */
static __always_inline void read_return_address(struct pt_regs *ctx, __u64 sp, __u64 *returns_to)
{
	*returns_to = 0;
#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_user(returns_to, sizeof(*returns_to), (void *)sp);
#else
	*returns_to = ctx->regs[30];
#endif
}

/* The slot for a call that begins at @sp, where that is not simply the next one; REC_CALL_DEPTH: none. */
static __noinline __u32 make_room(struct pt_regs *ctx, struct call_stack *stack, __u64 sp)
{
	__u32 slot;

	stack->ip = PT_REGS_IP(ctx);
	read_return_address(ctx, sp, &stack->returns_to);
	stack->armed = is_trampoline(stack->returns_to);
	settle(stack, sp, stack->probe);
	slot = stack->depth < REC_CALL_DEPTH ? stack->depth : (__u32)spare_slot(stack);
	if (slot < REC_CALL_DEPTH)
		frame_at(stack, slot)->depth = ONCE(depth, stack, sp);
	else
		lost_call(LOSS_TOO_DEEP, 1);
	return slot;
}

/* The same, mostly the next one. */
static __always_inline __u32 next_slot(struct pt_regs *ctx, struct call_stack *stack, __u64 sp,
				       bool exact)
{
	__u32 slot = stack->depth, last = slot - 1;
	const struct call_frame *around;

	stack->unsure = 0;
	if (!slot) {
		stack->frames[0].depth = 0;
		return 0;
	}
	around = frame_at(stack, last);
	if (slot < REC_CALL_DEPTH && around->sp > sp) {
		frame_at(stack, slot)->depth = around->depth + 1;
		return slot;
	}
	refresh_own_stack(stack, exact);
	return make_room(ctx, stack, sp);
}

#endif /* PROFBPF_OPEN_CALLS_BPF_H */
