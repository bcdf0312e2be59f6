// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * snapshot.bpf.c - programs that the daemon runs over all threads: cumulative figures at the session's start, in
 * each interval and at its end, and the calls that are open at the end.
 */
#include "process.bpf.h"
#include "call_stack.bpf.h"
#include "ioctl.bpf.h"
#include "stack_record.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

/* Set by the daemon before each run. */
__u32 snapshot_flags = 0;	/* ACCOUNT_FIRST or 0 */
__u64 snapshot_end_ns = 0;	/* end of the session, or 0 */
__u32 sleeping_of = 0;		/* sleeping_stacks: only threads of this process; 0: of all targets */
__u32 snapshot_all = 0;		/* also threads whose figures did not change */
volatile __u32 to_return = 0; /* set to 0 by the daemon: calls that "returning_calls" found */
volatile __u32 exiting_with_counts = 0; /* set to 0 by the daemon: threads that "open_calls" left to api_exit */

struct task_struct___old_state {
	volatile long state;
} __attribute__((preserve_access_index));

static __always_inline __u16 run_flags(struct task_struct *task)
{
	struct task_struct___old_state *old = (void *)task;
	__u64 state;

	/* The width of both fields differs between kernels. */
	if (BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu))
		return ACCOUNT_RUNNING;
	if (bpf_core_field_exists(old->state))
		state = BPF_CORE_READ(old, state);
	else
		state = BPF_CORE_READ(task, __state);
	if (state == 0)
		return BPF_CORE_READ_BITFIELD_PROBED(task, on_rq) ? ACCOUNT_QUEUED : 0;
	return state & ST_UNINTERRUPTIBLE && !(state & ST_NOLOAD) ? ACCOUNT_DISK : 0;
}

/* Why a thread sleeps: as in a switch record, for threads that slept before the session. */
static __always_inline __s16 sleep_reason(struct task_struct *task, __u16 *flags)
{
	const struct pt_regs *regs;
	__u16 switch_flags = 0;
	__s16 syscall;

	if (*flags & (ACCOUNT_RUNNING | ACCOUNT_QUEUED) || task->flags & PF_KTHREAD_FLAG)
		return REC_SYSCALL_NONE;
	regs = user_regs(task, REGISTERS_OF_ITERATOR);
	if (!regs)
		return REC_SYSCALL_NONE;
	syscall = syscall_in(regs, &switch_flags);
	if (switch_flags & SWITCH_FAULT)
		*flags |= ACCOUNT_FAULT;
	if (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
		*flags |= ACCOUNT_IOWAIT;
	return syscall;
}

/* Sends the process record once per process; @task is its first thread. Without @state its last record is unknown. */
static __always_inline void report_process(struct task_struct *task, struct thread_state *state,
					   bool target)
{
	__u64 cgroup = cgroup_of(task);
	struct memory memory;
	__u16 flags = 0;

	memory_of(task, &memory);
	if (state) {
		if (!snapshot_all && memory.resident == state->last_rss &&
		    cgroup == state->last_cgroup)
			return;
		state->last_rss = memory.resident;
		state->last_cgroup = cgroup;
	}
	if (snapshot_flags & ACCOUNT_FIRST)
		flags |= PROCESS_FIRST;
	if (target)
		flags |= PROCESS_TARGET;
	emit_process(task, &memory, cgroup, flags);
}

SEC("iter/task")
int accounts(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_state *state;
	__s16 syscall;
	bool target;
	__u16 flags;
	__u64 run;

	if (!task || !task->pid)
		return 0;
	target = is_target_thread(task);
	run = task->se.sum_exec_runtime;
	state = thread_make(thread_states, task);
	if (task->tgid == task->pid && !(task->flags & PF_KTHREAD_FLAG))
		report_process(task, state, target);
	if (state) {
		if (!snapshot_all && state->last_run_ns == run)
			return 0;
		state->last_run_ns = run;
	}
	announce(task, state);
	flags = snapshot_flags | run_flags(task) | (target ? ACCOUNT_TARGET : 0);
	syscall = snapshot_flags & ACCOUNT_FIRST && target ? sleep_reason(task, &flags) :
							      REC_SYSCALL_NONE;
	emit_account(task, flags, syscall);
	return 0;
}

/* Finds the ioctl that a thread sleeps in; returns false if it sleeps in none or does not sleep. */
static __always_inline bool slept_in_ioctl(struct task_struct *task, __u32 *fd, __u32 *cmd)
{
	const struct pt_regs *regs = user_regs(task, REGISTERS_OF_ITERATOR);
	__u16 flags = run_flags(task);

	if (!regs || flags & (ACCOUNT_RUNNING | ACCOUNT_QUEUED) || syscall_in(regs, &flags) != IOCTL_SYSCALL)
		return false;
	*fd = PT_REGS_PARM1_CORE_SYSCALL(regs);
	*cmd = PT_REGS_PARM2_CORE_SYSCALL(regs);
	return true;
}

/* Runs once, when recording begins. Entries are already being seen then, so an ioctl without an entry began earlier. */
SEC("iter/task")
int ioctls_before(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_state *state;
	__u32 fd, cmd, rdev;

	if (!task || task->flags & (PF_KTHREAD_FLAG | PF_EXITING_FLAG) || !is_target_thread(task) ||
	    !slept_in_ioctl(task, &fd, &cmd) || !descriptor_device(task, fd, &rdev))
		return 0;
	state = thread_make(thread_states, task);
	if (!state || state->ioctl_start_ns)
		return 0;
	state->ioctl_cmd = cmd;
	state->ioctl_fd = fd;
	state->ioctl_rdev = rdev;
	state->ioctl_before = 1;
	state->ioctl_start_ns = bpf_ktime_get_ns();
	return 0;
}

/* An ioctl from before the session that the thread no longer sleeps in may have returned at any time. */
static __always_inline void emit_open_ioctl(struct task_struct *task, struct thread_state *state, __u64 now)
{
	__u32 fd = 0, cmd = 0;
	bool unseen = state->ioctl_before &&
		      (!slept_in_ioctl(task, &fd, &cmd) || fd != state->ioctl_fd || cmd != state->ioctl_cmd);

	emit_ioctl(task, state, unseen ? CALL_UNSEEN : CALL_OPEN, 0, now);
}

/* The user stack pointer of a thread that sleeps in a system call or a fault; 0 for a thread that runs. */
static __always_inline __u64 sleeping_stack(struct task_struct *task)
{
	const struct pt_regs *regs;

	if (run_flags(task) & (ACCOUNT_RUNNING | ACCOUNT_QUEUED))
		return 0;
	regs = user_regs(task, REGISTERS_OF_ITERATOR);
	return regs ? PT_REGS_SP(regs) : 0;
}

/* Fills in the words by which the daemon unwinds the user stack; returns how many. */
static __always_inline __u32 sleeper_words(struct task_struct *task, struct stack_frames *frames)
{
	const struct pt_regs *regs = user_regs(task, REGISTERS_OF_ITERATOR);

	if (!regs)
		return 0;
	frames->address[SLEEPER_INSTRUCTION] = USER_INSTRUCTION(regs);
	frames->address[SLEEPER_STACK_POINTER] = USER_IS_32_BIT(regs) ? 0 : USER_STACK_POINTER(regs);
	frames->address[SLEEPER_FRAME_POINTER] = USER_FRAME_POINTER(regs);
	frames->address[SLEEPER_LINK] = USER_LINK(regs);
	frames->address[SLEEPER_RAN_NS] = task->se.sum_exec_runtime;
	return SLEEPER_WORDS;
}

/* Records the stacks of targets' threads that sleep now. Other records of a sleep come only when it ends. */
SEC("iter/task")
int sleeping_stacks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct stacks_record *r;
	__u32 key = BY_LOOK, user;
	long bytes;

	if (!task || !task->pid || task->flags & (PF_KTHREAD_FLAG | PF_EXITING_FLAG) || !is_target_thread(task) ||
	    (sleeping_of && task->tgid != sleeping_of) || run_flags(task) & (ACCOUNT_RUNNING | ACCOUNT_QUEUED))
		return 0;
	r = bpf_map_lookup_elem(&stack_scratch, &key);
	if (!r)
		return 0;
	header_fill(&r->head.header, REC_STACK, STACK_BLOCK | STACK_STILL, bpf_ktime_get_ns());
	r->head.dur_ns = 0;
	r->head.waker = 0;
	r->head.tgid = task->tgid;
	r->head.tid = task->pid;
	user = sleeper_words(task, &r->frames);
	bytes = bpf_get_task_stack(task, r->frames.address + SLEEPER_WORDS, REC_KERNEL_FRAMES * sizeof(__u64), 0);
	/* Without registers the kernel's addresses would not be where stack_send() expects them. */
	if (user)
		stack_send(r, user, bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0, 0, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline __u32 count_to_return(const struct call_stack *stack)
{
	__u32 count = 0;

	for (__u32 i = 0; i < REC_CALL_DEPTH && i < stack->depth; i++)
		count += stack->frames[i].sp && stack->frames[i].flags & FRAME_RETURNS;
	return count;
}

/* Counts open calls whose return address is the kernel's trampoline; once recording has ended no new ones appear. */
SEC("iter/task")
int returning_calls(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct call_stack *stack = task ? stack_of(task) : NULL;

	if (stack && !(task->flags & PF_EXITING_FLAG))
		to_return += count_to_return(stack);
	return 0;
}

/* Runs once the probes are gone, so that nothing changes the call stacks any more. */
SEC("iter/task")
int open_calls(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 now = snapshot_end_ns ? snapshot_end_ns : bpf_ktime_get_ns();
	struct thread_state *state;
	struct call_stack *stack;
	bool in_ioctl;

	if (!task)
		return 0;
	/* First, while the verifier knows nothing else: it checks the loop over the slots again for each known state. */
	stack = stack_of(task);
	if (stack)
		emit_open_calls(task, stack, unfollowed(sleeping_stack(task), now), now);
	state = thread_find(thread_states, task);
	in_ioctl = state && state->ioctl_start_ns && state->ioctl_start_ns < now;
	/* A thread that is exiting does this itself in api_exit. */
	if (task->flags & PF_EXITING_FLAG) {
		if (in_ioctl || (stack && has_counts(stack)))
			exiting_with_counts++;
		return 0;
	}
	if (in_ioctl)
		emit_open_ioctl(task, state, now);
	if (stack)
		hand_over_counts(stack, task->tgid);
	return 0;
}
