/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sleep_stack.bpf.h - where targets block: the stacks of long sleeps.
 *
 * A short sleep leaves no record, and the length of a sleep is known only when the thread gets a CPU again. Its kernel
 * stack is unchanged then and is walked. Its user stack can only be walked by the thread itself: on its way back
 * to user space, if the kernel supports that (returning.bpf.h) and the thread had no long sleep recently; else
 * each time before it sleeps, into its own storage. (Since 6.16 a tracepoint fires when a thread is back from a
 * switch. But it also fires without a switch: 700,000 times a second where threads spin on sched_yield.)
 *
 * For programs of the scheduler's tracepoints. Without unwind tables user stacks are walked by frame pointers.
 */
#ifndef PROFBPF_SLEEP_STACK_BPF_H
#define PROFBPF_SLEEP_STACK_BPF_H

#include "interrupt.bpf.h"
#include "python_stack.bpf.h"
#include "returning.bpf.h"
#include "task.bpf.h"

/* Processes that run Python, by tgid; inserted by the daemon. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct python_range);
} python_locks __weak_map;

/* Set by the daemon when it resumes following sleeps: earlier sleeps are ignored, because their ends may have been missed. */
volatile __u64 sleeps_from_ns __weak = 0;

/* The daemon increases this when it has changed "python_locks". */
volatile __u32 python_locks_version __weak = 1;

#if defined(__TARGET_ARCH_x86)
#define FUTEX_NR 202
#define FIRST_ARGUMENT(regs) ((regs)->di)
#else
#define FUTEX_NR 98
#define FIRST_ARGUMENT(regs) ((regs)->orig_x0)
#endif

static __always_inline void ask_lock(struct task_struct *task, struct sleeper *s, __u32 version)
{
	__u32 tgid = task->tgid;
	struct python_range *range = bpf_map_lookup_elem(&python_locks, &tgid);

	s->lock_range.first = range ? range->first : 0;
	s->lock_range.last = range ? range->last : 0;
	s->lock_version = version;
}

/* Does a thread that goes to sleep wait for the lock of its interpreter? */
static __always_inline bool waits_for_lock(struct task_struct *task, struct sleeper *s,
					   const struct pt_regs *regs)
{
	__u32 version = python_locks_version;
	__u64 address = FIRST_ARGUMENT(regs);
	__u16 flags = 0;

	if (syscall_in(regs, &flags) != FUTEX_NR)
		return false;
	if (s->lock_version != version)
		ask_lock(task, s, version);
	return address >= s->lock_range.first && address < s->lock_range.last;
}

/*
 * Stores the user stack of the current thread in @s, through scratch memory that has room for any stack. Returns the result of
 * user_stack() for what is stored.
 */
static __always_inline __u32 keep_user(struct task_struct *task, struct sleeper *s, const struct pt_regs *regs, bool may_loop)
{
	__u32 key = BY_SWITCH, walked;
	struct stacks_record *r = bpf_map_lookup_elem(&stack_scratch, &key);
	__u64 count;

	if (!r)
		return 0;
	walked = user_stack(task, regs, user_walk(BY_SWITCH), walk_rules(BY_SWITCH), (struct user_frames *)&r->frames,
			    SLEEPER_USER_FRAMES, may_loop);
	/* A mask where it suffices: the verifier follows both ways of a comparison through the rest of the program. */
	count = may_loop ? at_most(walked & USER_FRAMES_MASK, SLEEPER_USER_FRAMES) : walked & SLEEPER_USER_FRAMES;
	bpf_probe_read_kernel(s->user, count * sizeof(__u64), r->frames.address);
	return may_loop && count == (walked & USER_FRAMES_MASK) ? walked : count;
}

/* Stores the Python stack of the current thread in @s, through the same memory. */
static __always_inline __u32 keep_python(struct task_struct *task, struct sleeper *s)
{
	__u32 key = BY_SWITCH;
	struct stacks_record *r = bpf_map_lookup_elem(&stack_scratch, &key);
	__u64 count = r ? at_most(python_stack(task, &r->frames, 0, SLEEPER_PYTHON_FRAMES, &s->python_flags),
				  SLEEPER_PYTHON_FRAMES) :
			  0;

	if (r && count)
		bpf_probe_read_kernel(s->python, count * sizeof(struct rec_python_frame), r->frames.address);
	return count;
}

/* The current thread goes to sleep. Kernel threads, which have no user stack, are skipped. */
static __always_inline void sleep_begins(struct task_struct *task, __u64 now, bool may_loop)
{
	const struct pt_regs *regs;
	struct sleeper *s;

	if (task->flags & PF_KTHREAD_FLAG)
		return;
	regs = user_regs(task, REGISTERS_OF_SWITCH);
	if (!regs)
		return;
	s = thread_make(sleepers, task);
	if (!s) {
		count_lost(SOURCE_STACK, LOSS_NO_MEMORY, 1);
		return;
	}
	s->at = USER_STACK_POINTER(regs);
	s->user_count = will_return(task, s) ? 0 : keep_user(task, s, regs, may_loop);
	s->python_flags = 0;
	s->python_count = s->user_count && may_loop ? keep_python(task, s) : 0;
	if (s->user_count && s->walk_before)
		s->walk_before--;
	s->woken_ns = 0;
	s->waker = 0;
	s->lock = waits_for_lock(task, s, regs);
	s->since_ns = now;
}

/* @task is woken from the current context: from an interrupt if @interrupt has any kinds. */
static __always_inline void sleep_woken(struct task_struct *task, __u64 now,
					const struct interrupt_state *interrupt)
{
	struct sleeper *s = thread_find(sleepers, task);
	__u64 since = s ? s->since_ns : 0;

	if (!since)
		return;
	/* Another CPU may have begun to wake the thread just before it left its CPU. */
	s->woken_ns = now > since ? now : since;
	/* If an interrupt woke it, the interrupted thread is not the waker. */
	if (s->lock && !(interrupt && interrupt->kinds))
		s->waker = (__u32)bpf_get_current_pid_tgid();
}

static __always_inline struct stacks_record *sleep_record(struct task_struct *task,
							 const struct sleeper *s, __u16 flags)
{
	__u32 key = BY_SWITCH;
	struct stacks_record *r = bpf_map_lookup_elem(&stack_scratch, &key);

	if (r)
		sleep_fill(&r->head, task, s, flags);
	return r;
}

static __always_inline void send_walked(struct task_struct *task, const struct sleeper *s)
{
	struct stacks_record *r = sleep_record(task, s, s->python_flags);
	__u64 user = s->user_count & SLEEPER_USER_FRAMES, kernel; /* the mask is also the limit */
	__u64 python = at_most(s->python_count, SLEEPER_PYTHON_FRAMES);

	if (!r)
		return;
	bpf_probe_read_kernel(r->frames.address, user * sizeof(__u64), s->user);
	kernel = at_most(kernel_stack(task, r->frames.address + user), REC_KERNEL_FRAMES);
	bpf_probe_read_kernel(r->frames.address + user + kernel, python * sizeof(struct rec_python_frame), s->python);
	stack_send(r, user | (s->user_count & USER_WHOLE), kernel, python, BPF_RB_NO_WAKEUP);
}

/* Sends only the current instruction: too many other threads have walks pending. */
static __always_inline void send_not_walked(struct task_struct *task, const struct sleeper *s)
{
	const struct pt_regs *regs = user_regs(task, REGISTERS_OF_SWITCH);
	struct stacks_record *r = sleep_record(task, s, 0);

	if (!r || !regs)
		return;
	r->frames.address[0] = USER_INSTRUCTION(regs);
	stack_send(r, 1, kernel_stack(task, r->frames.address + 1), 0, BPF_RB_NO_WAKEUP);
}

/*
 * To make a thread walk on its return takes an interrupt, which costs as much as about twenty walks (measured in
 * virtual machines). A thread that has slept long at a place is expected to do so again, and walks before that.
 */
#define WALKS_BEFORE 16

static __always_inline void send_sleep(struct task_struct *task, struct sleeper *s, bool may_return)
{
	s->walk_before = WALKS_BEFORE;
	if (s->at != s->long_at[0]) {
		s->long_at[1] = s->long_at[0];
		s->long_at[0] = s->at;
	}
	if (s->user_count)
		send_walked(task, s);
	else if (!may_return || !walk_when_back(task, s))
		send_not_walked(task, s);
}

static __always_inline void send_short_sleep(struct task_struct *task, const struct sleeper *s)
{
	struct stacks_record *r = sleep_record(task, s, STACK_SHORT);

	if (r)
		stack_send(r, 0, 0, 0, BPF_RB_NO_WAKEUP);
}

/*
 * @task gets the CPU, perhaps after a sleep. Without @may_return, a constant, the program contains no callback
 * function; kernels before 5.13 refuse such a program even if the callback is never reached.
 */
static __always_inline void sleep_ends(struct task_struct *task, __u64 now, bool may_return)
{
	struct sleeper *s = thread_find(sleepers, task);

	if (!s || s->since_ns <= sleeps_from_ns)
		return;
	/* The time after the wake-up is a wait for a CPU, not sleep. */
	if (!s->woken_ns)
		s->woken_ns = now;
	if (s->woken_ns - s->since_ns >= settings.stack_block_ns)
		send_sleep(task, s, may_return);
	else if (s->lock)
		send_short_sleep(task, s);
	s->since_ns = 0;
}

#endif /* PROFBPF_SLEEP_STACK_BPF_H */
