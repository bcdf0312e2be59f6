/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* call_end.bpf.h - the end of a call: its record, or its count if it was short; and the calls that end with it. */
#ifndef PROFBPF_CALL_END_BPF_H
#define PROFBPF_CALL_END_BPF_H

#include "short_calls.bpf.h"

static __noinline __u64 read_out(__u32 probe, __u64 pointer)
{
	struct conf_place at;
	const struct probe_conf *conf = conf_of(&at, probe);
	__u64 value = 0;

	if (pointer)
		bpf_probe_read_user(&value, sizeof(value), (void *)pointer);
	return conf ? narrow(value, conf->args[2].width) : 0;
}

/* Checks how full the ring is whenever a thread's counts are added up. */
static __noinline __u64 submit_flags(struct call_stack *stack, void *ring)
{
	hand_over_produced(stack);
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= settings.wake_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* Like emit_begin() and emit_end(), but counts produced records per thread. */
static __noinline void write_call(struct call_stack *stack, const struct call_frame *frame,
				  __u64 returned, __u64 dur)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u16 flags;
	struct rec_call *r;
	void *ring;

	ring = bpf_map_lookup_elem(&rings, &cpu);
	r = ring ? bpf_ringbuf_reserve(ring, sizeof(*r), 0) : NULL;
	if (!r) {
		lost_call(LOSS_RING_FULL, 1);
		return;
	}
	flags = frame->flags | frame->depth << CALL_DEPTH_SHIFT;
	if (stack->value_later)
		flags |= CALL_RET_UNKNOWN;
	else if (!returned)
		flags |= CALL_RET_ZERO;
	r->header.type = REC_CALL;
	r->header.flags = flags;
	r->header.cpu = cpu;
	r->header.ts_ns = frame->start_ns;
	r->dur_ns = dur;
	r->tgid = stack->tgid;
	r->tid = stack->tid;
	r->probe = frame->probe;
	r->ret = (__u32)returned;
	r->args[0] = frame->args[0];
	r->args[1] = frame->args[1];
	if (frame->flags & FRAME_OUT)
		r->args[2] = read_out(frame->probe, frame->args[2]);
	else if (frame->flags & FRAME_RETURN)
		r->args[2] = returned;
	else
		r->args[2] = frame->args[2];
	r->text = frame->text;
	bpf_ringbuf_submit(r, ++stack->produced < RECORDS_PER_LOOK ? BPF_RB_NO_WAKEUP
								   : submit_flags(stack, ring));
}

/* Removes the calls that are gone now that the call at @sp has ended. */
static __noinline void settle_rest(struct call_stack *stack, __u32 slot, __u64 sp)
{
	if (slot + 1 < stack->depth)
		settle(stack, sp, NO_PROBE);
	else
		trim(stack);
}

/* Ends the call in @slot. Not static: the verifier checks a global function once, not on each path to it. */
__weak __noinline int leave(struct call_stack *stack, __u32 slot, __u64 sp, __u64 now,
			    __u64 returned)
{
	struct call_frame *frame;
	__u64 dur;

	if (!stack)
		return 0;
	frame = frame_at(stack, slot);
	dur = now - frame->start_ns;
	/* The second: it went on in code whose exits were first reached by calls of which nobody reads the value. */
	if (frame->flags & FRAME_UNSURE || (stack->value_later && frame->flags & FRAME_VALUE))
		end_unseen(stack, frame, CALL_ENTRY);
	else if (dur < settings.min_duration_ns && !(frame->flags & FRAME_KEEP))
		count_short(stack, frame->probe, dur, now);
	else
		write_call(stack, frame, returned, dur);
	frame->sp = 0;
	if (slot + 1 == stack->depth && (!slot || frame_at(stack, slot - 1)->sp))
		stack->depth = slot;
	else
		settle_rest(stack, slot, sp);
	return 0;
}

/* The last call begun at @sp whose end is seen by @seen_by; REC_CALL_DEPTH if there is none. */
static __always_inline __u32 find_slot_in(struct call_stack *stack, __u64 sp, __u32 seen_by)
{
	if (!stack)
		return REC_CALL_DEPTH;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		__u32 slot = stack->depth - 1 - i;

		if (slot >= REC_CALL_DEPTH)
			return REC_CALL_DEPTH;
		if (stack->frames[slot].sp == sp && stack->frames[slot].flags & seen_by)
			return slot;
	}
	return REC_CALL_DEPTH;
}

__weak __noinline int find_slot_once(struct call_stack *stack, __u64 sp, __u32 seen_by)
{
	return find_slot_in(stack, sp, seen_by);
}

__weak __noinline int find_slot_found(__u64 sp, __u32 seen_by)
{
	return find_slot_in(current_stack(), sp, seen_by);
}

static __always_inline __u32 find_slot(struct call_stack *stack, __u64 sp, __u32 seen_by)
{
	return ONCE(find_slot, stack, sp, seen_by);
}

/* Like find_slot(), but tries the last call first, which it mostly is. */
static __always_inline __u32 slot_at(struct call_stack *stack, __u64 sp, __u32 seen_by)
{
	__u32 last = stack->depth - 1;

	if (last < REC_CALL_DEPTH && stack->frames[last].sp == sp &&
	    stack->frames[last].flags & seen_by)
		return last;
	return find_slot(stack, sp, seen_by);
}

/*
 * Ends the last call that continued in the call that has ended at @sp. Returns 0 if there is none. Global for the
 * verifier, like leave().
 */
__weak __noinline int leave_one_around(struct call_stack *stack, __u64 sp, __u64 now,
				       __u64 returned)
{
	__u32 slot;

	if (!stack)
		return 0;
	slot = find_slot(stack, sp, FRAME_TAILED | FRAME_RETURNS);
	/* Its own return probe will still fire. */
	if (slot >= REC_CALL_DEPTH || frame_at(stack, slot)->flags & FRAME_RETURNS)
		return 0;
	leave(stack, slot, sp, now, returned);
	return 1;
}

/* Ends all calls that tail-jumped into the call that has ended at @sp. */
static __noinline void leave_around(struct call_stack *stack, __u64 sp, __u64 now, __u64 returned)
{
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++)
		if (!leave_one_around(stack, sp, now, returned))
			return;
}

static __always_inline void at_return(struct pt_regs *ctx, struct call_stack *stack, __u32 slot,
				      __u64 sp, __u64 now)
{
	__u64 returned = stack->value_later ? 0 : PT_REGS_RC(ctx);
	__u32 last;

	leave(stack, slot, sp, now, returned);
	last = stack->depth - 1;
	if (last < REC_CALL_DEPTH && stack->frames[last].sp == sp)
		leave_around(stack, sp, now, returned);
}

#endif /* PROFBPF_CALL_END_BPF_H */
