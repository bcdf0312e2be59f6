/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* sleeper.bpf.h - the state of a target's sleep, and the head of its record. */
#ifndef PROFBPF_SLEEPER_BPF_H
#define PROFBPF_SLEEPER_BPF_H

#include "kernel_stack.bpf.h"
#include "stack_record.bpf.h"

/* The current or last sleep of a thread. */
struct sleeper {
	__u64 since_ns; /* 0 = not asleep, or not to be recorded */
	__u64 woken_ns; /* 0 = not woken yet */
	__u32 waker;
	__u32 lock; /* it waits for its interpreter's lock */
	struct python_range lock_range; /* its process' entry in "python_locks", */
	__u32 lock_version; /* read in this version of that map */
	__u16 returning; /* the thread has a walk of its user stack pending */
	__u16 walk_before; /* walk before this many more sleeps at a stack pointer in "long_at" */
	__u64 at; /* its user stack pointer */
	__u64 long_at[2]; /* stack pointers of its last long sleeps, the last one first */
	__u32 user_count; /* result of user_stack(); 0 = the user stack was not walked */
	__u32 python_count; /* result of python_stack(), */
	__u16 python_flags; /* and its flags about the lock */
	__u64 user[SLEEPER_USER_FRAMES];
	__u64 python[2 * SLEEPER_PYTHON_FRAMES];
};

DEFINE_THREAD_MAP(sleepers, struct sleeper, 8192);

static __always_inline void sleep_fill(struct rec_stack *r, struct task_struct *task,
				       const struct sleeper *s, __u16 flags)
{
	flags |= STACK_BLOCK | (s->lock ? STACK_LOCK : 0);
	header_fill(&r->header, REC_STACK, flags, s->since_ns);
	r->dur_ns = s->woken_ns - s->since_ns;
	r->tgid = task->tgid;
	r->tid = task->pid;
	r->waker = s->waker;
	r->python_frames = 0;
}

#endif /* PROFBPF_SLEEPER_BPF_H */
