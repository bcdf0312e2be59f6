/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* stack_record.bpf.h - builds and sends a record with stacks. */
#ifndef PROFBPF_STACK_RECORD_BPF_H
#define PROFBPF_STACK_RECORD_BPF_H

#include "user_stack.bpf.h"

/* Frames of the user stack, then of the kernel stack, then two words for each interpreter frame; in all a power of two. */
#define STACK_WORDS (REC_USER_FRAMES + 1 + REC_KERNEL_FRAMES + 2 * REC_PYTHON_FRAMES)

struct stack_frames {
	__u64 address[STACK_WORDS];
};

/* A record is built here, because rings take records of variable size only as a copy. */
struct stacks_record {
	struct rec_stack head;
	struct stack_frames frames;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 3); /* BY_SAMPLE, BY_SWITCH, BY_LOOK */
	__type(key, __u32);
	__type(value, struct stacks_record);
} stack_scratch __weak_map;

#define USER_FRAMES_MASK (REC_USER_FRAMES) /* one less than a power of two */

/* The smaller of @count and @most, in a register whose bound the verifier sees, whatever the compiler knows. */
static __always_inline __u64 at_most(__u64 count, __u64 most)
{
	asm volatile("" : "+r"(count));
	if (count > most)
		count = most;
	asm volatile("" : "+r"(count));
	return count;
}

/*
 * Sends the record, whose frames are in place: @user (the result of user_stack()), @kernel and @python frames. @wake:
 * BPF_RB_FORCE_WAKEUP if the reader must act at once, else BPF_RB_NO_WAKEUP.
 */
static __always_inline void stack_send(struct stacks_record *r, __u32 user, __u32 kernel, __u32 python, __u64 wake)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct source_stats *s = source_stats(SOURCE_STACK);
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	__u64 size;
	long err = -1;

	if (user & USER_WHOLE)
		r->head.header.flags |= STACK_WHOLE;
	user &= USER_FRAMES_MASK;
	if (kernel > REC_KERNEL_FRAMES)
		kernel = REC_KERNEL_FRAMES;
	r->head.user_frames = user;
	if (python > REC_PYTHON_FRAMES)
		python = REC_PYTHON_FRAMES;
	r->head.kernel_frames = kernel;
	r->head.python_frames = python;
	size = sizeof(r->head) + (user + kernel + 2 * python) * sizeof(__u64);
	/* The compiler knows that the size is in bounds; the verifier must see the check. */
	asm volatile("" : "+r"(size));
	if (ring && size <= sizeof(*r))
		err = bpf_ringbuf_output(ring, r, size, wake);
	if (!s)
		return;
	add(&s->produced, 1);
	if (err)
		add(&s->lost[LOSS_RING_FULL], 1);
}

#endif /* PROFBPF_STACK_RECORD_BPF_H */
