/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* short_calls.bpf.h - counts calls shorter than --min-duration, which leave no record, per thread. */
#ifndef PROFBPF_SHORT_CALLS_BPF_H
#define PROFBPF_SHORT_CALLS_BPF_H

#include "open_calls.bpf.h"

static __noinline void change_slot(struct call_stack *stack, struct short_slot *slot, __u32 probe)
{
	add_short_calls(slot, stack->tgid);
	slot->probe = probe + 1;
}

static __noinline void hand_over_in_time(struct call_stack *stack, __u64 now)
{
	stack->short_since_ns = now;
	hand_over_counts(stack, stack->tgid);
}

static __always_inline struct short_slot *slot_of(struct call_stack *stack, __u32 probe)
{
	struct short_slot *slot = &stack->short_slots[probe % SHORT_SLOTS];

	if (slot->probe != probe + 1)
		change_slot(stack, slot, probe);
	slot->count++;
	return slot;
}

static __always_inline void count_short(struct call_stack *stack, __u32 probe, __u64 dur, __u64 now)
{
	slot_of(stack, probe)->total_ns += dur;
	if (now - stack->short_since_ns > SHORT_FLUSH_NS)
		hand_over_in_time(stack, now);
}

/* Counts a call whose end will not be seen. */
static __noinline void count_unended(struct call_stack *stack, const struct call_frame *frame)
{
	slot_of(stack, frame->probe)->unended++;
	if (frame->start_ns - stack->short_since_ns > SHORT_FLUSH_NS)
		hand_over_in_time(stack, frame->start_ns);
}

#endif /* PROFBPF_SHORT_CALLS_BPF_H */
