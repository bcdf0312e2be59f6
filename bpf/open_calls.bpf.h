/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * open_calls.bpf.h - the open calls of a thread.
 *
 * The stack pointer at the entry identifies a call. Calls that an exception, a longjmp or a switch of stacks has left
 * are removed when the next call begins or ends.
 */
#ifndef PROFBPF_OPEN_CALLS_BPF_H
#define PROFBPF_OPEN_CALLS_BPF_H

#include "call_arguments.bpf.h"

/* Not inlined, like all rare code: its stack slots would add up in the caller. */
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

/* The call stack of the current thread; NULL if the thread belongs to no target. */
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

/* Reduces the depth to the last frame in use. Not static, like all functions with loops: the verifier checks it once. */
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

/* Writes the record of a call whose end was not seen. */
static __always_inline void end_unseen(struct call_stack *stack, struct call_frame *frame,
				       __u32 how)
{
	emit_unended(frame, how, stack->tgid, stack->tid, bpf_ktime_get_ns());
	frame->sp = 0;
}

/* Masks the slot again: some verifiers lose its bound when it is widened (6.1) or added to (6.12), and compilers drop it. */
static __always_inline struct call_frame *frame_at(struct call_stack *stack, __u32 slot)
{
	asm volatile("" : "+r"(slot));
	return &stack->frames[slot & (REC_CALL_DEPTH - 1)];
}

/* Is @address the kernel's trampoline? A return probe of any tracer replaces the return address by it. */
static __noinline bool is_trampoline(__u64 address)
{
	struct task_struct *task = current_task();

	return address && address == BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
}

#define FRAME_STAYS 0 /* the third fate besides CALL_LEFT and CALL_ENTRY */

/* Did the call in @frame tail-jump into the call that begins? That one then returns to the same caller. */
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
 * What happened to a call when another call begins at @sp, or when the call that began at @sp has ended
 * (@probe is NO_PROBE). A call further down the same stack is gone; about other stacks nothing is known. A call
 * with the same stack pointer continues in the new one if it tail-jumped there.
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

/* Removes the call in @slot if it is gone. Not static: the verifier checks it once, not in each turn of the loop. */
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
	/* That stack may have been moved away and back: then two calls have the same stack pointer. */
	if (frame->sp == sp && !on_own_stack(stack, sp))
		stack->unsure = FRAME_UNSURE;
	end_unseen(stack, frame, how);
	return 0;
}

/* Removes the calls that are gone. */
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

/* Gives up the call in @slot if it is not on the thread's own stack. Global for the verifier, as above. */
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
 * A slot for a call when the depth is at its limit: a free slot in between, or that of a call on a stack that
 * is not the thread's own. REC_CALL_DEPTH: there is none.
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

/* Does the call in @slot enclose a call that begins at @sp? Global for the verifier, as above. */
__weak __noinline int call_is_around(struct call_stack *stack, __u32 slot, __u64 sp)
{
	__u64 at;

	if (!stack)
		return 0;
	at = frame_at(stack, slot)->sp;
	return at >= sp && on_own_stack(stack, at) == on_own_stack(stack, sp);
}

/* The nesting depth of a call that begins at @sp, when the last open call is on another stack. */
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

/* Reads the return address of a call that begins at @sp. */
static __always_inline void read_return_address(struct pt_regs *ctx, __u64 sp, __u64 *returns_to)
{
	*returns_to = 0;
#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_user(returns_to, sizeof(*returns_to), (void *)sp);
#else
	*returns_to = ctx->regs[30];
#endif
}

/* The slot for a call that begins at @sp when it is not simply the next slot; REC_CALL_DEPTH: there is none. */
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

/* The slot for a call that begins at @sp, mostly the next one. */
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
