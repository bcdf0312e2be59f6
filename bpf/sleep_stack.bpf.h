/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sleep_stack.bpf.h - where targets block: the stacks of long sleeps.
 *
 * Only the thread itself can walk its user stack, so that is done when it goes to
 * sleep, into storage of its own. Whether it was worth it is known when it gets a CPU
 * again: a short sleep leaves no record. The kernel stack is walked only then, and
 * only of those who slept long: it is still as it was. (Since 6.16 a tracepoint tells
 * that a thread is back, when its user stack could be walked, too. It also fires where
 * nobody was switched to: 700,000 times a second where threads spin on sched_yield.)
 *
 * For programs of the scheduler's tracepoints. User stacks are followed by frame
 * pointers.
 */
#ifndef PROFBPF_SLEEP_STACK_BPF_H
#define PROFBPF_SLEEP_STACK_BPF_H

#include "interrupt.bpf.h"
#include "known.bpf.h"
#include "stack_record.bpf.h"

/* The user stack of who sleeps. */
struct sleeper {
	__u64 since_ns; /* of the sleep it belongs to */
	__u64 count;
	struct user_frames frames;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sleeper);
} sleepers __weak_map;

/* Processes that run Python, by tgid; the daemon puts them in. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct python_range);
} python_locks __weak_map;

/* Counted up by the daemon when it has changed "python_locks". */
volatile __u32 python_locks_version __weak = 1;

#if defined(__TARGET_ARCH_x86)
#define FUTEX_NR 202
#define FIRST_ARGUMENT(regs) ((regs)->di)
#else
#define FUTEX_NR 98
#define FIRST_ARGUMENT(regs) ((regs)->orig_x0)
#endif

static __always_inline void ask_lock(struct task_struct *task, struct known_thread *known,
				     __u32 version)
{
	__u32 tgid = task->tgid;
	struct python_range *range = bpf_map_lookup_elem(&python_locks, &tgid);

	known->lock_first = range ? range->first : 0;
	known->lock_bytes = range ? range->last - range->first : 0;
	known->lock_version = version;
}

/* Does a thread that goes to sleep wait for the lock of its interpreter? */
static __always_inline bool waits_for_lock(struct task_struct *task, struct known_thread *known)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 version = python_locks_version;
	__u64 address = FIRST_ARGUMENT(regs);
	__u16 flags = 0;

	if (syscall_in(regs, &flags) != FUTEX_NR)
		return false;
	if (known->lock_version != version)
		ask_lock(task, known, version);
	return address - known->lock_first < known->lock_bytes;
}

static __always_inline void keep_user_stack(struct task_struct *task, __u64 now)
{
	struct sleeper *s = bpf_task_storage_get(&sleepers, task, 0,
						 BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!s) {
		count_lost(SOURCE_STACK, LOSS_NO_MEMORY, 1);
		return;
	}
	s->count = user_stack(task, BY_SWITCH, &s->frames);
	s->since_ns = now;
}

/* The current thread goes to sleep. Kernel threads have no user stack. */
static __always_inline void sleep_begins(struct task_struct *task, struct known_thread *known,
					 __u64 now)
{
	if (task->flags & PF_KTHREAD_FLAG)
		return;
	keep_user_stack(task, now);
	known->sleep.woken_ns = 0;
	known->sleep.waker = 0;
	known->sleep.lock = waits_for_lock(task, known);
	known->sleep.since_ns = now;
}

/* A thread is woken in the current context, which is @interrupt's if that has any kinds. */
static __always_inline void sleep_woken(struct known_thread *known, __u64 now,
					const struct interrupt_state *interrupt)
{
	__u64 since = known->sleep.since_ns;

	if (!since)
		return;
	/* Another CPU may have begun to wake it just before it went. */
	known->sleep.woken_ns = now > since ? now : since;
	/* What a timer interrupts did not wake it. */
	if (known->sleep.lock && !(interrupt && interrupt->kinds))
		known->sleep.waker = (__u32)bpf_get_current_pid_tgid();
}

static __always_inline struct stacks_record *sleep_record(struct task_struct *task,
							 const struct sleep_times *sleep,
							 __u16 flags)
{
	__u32 key = BY_SWITCH;
	struct stacks_record *r = bpf_map_lookup_elem(&stack_scratch, &key);

	if (!r)
		return NULL;
	flags |= STACK_BLOCK | (sleep->lock ? STACK_LOCK : 0);
	header_fill(&r->head.header, REC_STACK, flags, sleep->since_ns);
	r->head.dur_ns = sleep->woken_ns - sleep->since_ns;
	r->head.tgid = task->tgid;
	r->head.tid = task->pid;
	r->head.waker = sleep->waker;
	r->head.reserved = 0;
	return r;
}

static __always_inline __u32 kernel_stack(struct task_struct *task, __u64 *address)
{
	return frames_of(bpf_get_task_stack(task, address, REC_KERNEL_FRAMES * sizeof(*address), 0));
}

static __always_inline void send_sleep(struct task_struct *task, const struct sleep_times *sleep)
{
	struct sleeper *s = bpf_task_storage_get(&sleepers, task, 0, 0);
	struct stacks_record *r = sleep_record(task, sleep, 0);
	__u32 user;

	if (!r || !s || s->since_ns != sleep->since_ns)
		return;
	user = s->count & USER_FRAMES_MASK;
	bpf_probe_read_kernel(r->frames.address, user * sizeof(__u64), s->frames.address);
	stack_send(r, user, kernel_stack(task, r->frames.address + user));
}

static __always_inline void send_short_sleep(struct task_struct *task,
					     const struct sleep_times *sleep)
{
	struct stacks_record *r = sleep_record(task, sleep, STACK_SHORT);

	if (r)
		stack_send(r, 0, 0);
}

/* A thread gets the CPU, if it slept. */
static __always_inline void sleep_ends(struct task_struct *task, struct sleep_times *sleep,
				       __u64 now)
{
	if (!sleep->since_ns)
		return;
	/* What comes after the wake-up is a wait for a CPU. */
	if (!sleep->woken_ns)
		sleep->woken_ns = now;
	if (sleep->woken_ns - sleep->since_ns < settings.stack_block_ns) {
		if (sleep->lock)
			send_short_sleep(task, sleep);
	} else {
		send_sleep(task, sleep);
	}
	sleep->since_ns = 0;
}

#endif /* PROFBPF_SLEEP_STACK_BPF_H */
