/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* task.bpf.h - identity and cumulative figures of a thread, as records. */
#ifndef PROFBPF_TASK_BPF_H
#define PROFBPF_TASK_BPF_H

#include "profbpf.bpf.h"

/* Task states, include/linux/sched.h; the same values since 4.14. */
#define ST_INTERRUPTIBLE 0x0001
#define ST_UNINTERRUPTIBLE 0x0002
#define ST_STOPPED_TRACED_PARKED (0x0004 | 0x0008 | 0x0040)
#define ST_DEAD (0x0010 | 0x0020 | 0x0080)
#define ST_NOLOAD 0x0400

#define PF_EXITING_FLAG 0x00000004 /* PF_EXITING */
#define PF_USER_WORKER_FLAG 0x00004000 /* PF_USER_WORKER, since 6.4: a kernel thread of a process */
#define PF_KTHREAD_FLAG 0x00200000 /* PF_KTHREAD, include/linux/sched.h */

static __always_inline __u64 task_start_ns(struct task_struct *task)
{
	return BPF_CORE_READ(task, start_time);
}

static __always_inline void emit_task(struct task_struct *task, __u32 event,
				      struct task_struct *parent, __u32 exit_code, __u16 flags,
				      bool urgent)
{
	struct emit e;
	struct rec_task *r = emit_begin(&e, SOURCE_TASK, sizeof(*r));

	if (!r)
		return;
	r->tid = BPF_CORE_READ(task, pid);
	r->tgid = BPF_CORE_READ(task, tgid);
	if (is_target_thread(task))
		flags |= TASK_TARGET;
	if (BPF_CORE_READ(task, flags) & PF_KTHREAD_FLAG)
		flags |= TASK_KTHREAD;
	if (parent) {
		r->parent_tgid = BPF_CORE_READ(parent, tgid);
		r->parent_tid = BPF_CORE_READ(parent, pid);
	} else {
		r->parent_tgid = BPF_CORE_READ(task, real_parent, tgid);
		r->parent_tid = 0;
	}
	r->event = event;
	r->exit_code = exit_code;
	r->start_ns = task_start_ns(task);
	BPF_CORE_READ_STR_INTO(&r->comm, task, comm);
	header_fill(&r->header, REC_TASK, flags, bpf_ktime_get_ns());
	emit_end(&e, urgent);
}

static __always_inline struct thread_state *thread_state(struct task_struct *task)
{
	return thread_find(thread_states, task);
}

static __always_inline bool is_member_task(struct task_struct *task, struct thread_state *state)
{
	return state ? is_known_member(&state->target, field_of(task, tgid)) :
		       is_member(field_of(task, tgid));
}

/* is_target_thread() with the answer cached in @state, which may be NULL */
static __always_inline bool is_target_task(struct task_struct *task, struct thread_state *state)
{
	return is_member_task(task, state) && may_look(task);
}

/*
 * Sends the identity of a thread the first time it matters to this session; @state is the result of thread_state(). Task
 * storage is unavailable to an interrupt that arrives during another access to it on this CPU: then the function
 * returns NULL and sends the identity in any case, which later may send it once more.
 */
static __always_inline struct thread_state *announce(struct task_struct *task,
						     struct thread_state *state)
{
	if (!state)
		state = thread_make(thread_states, task);
	if (state && state->announced)
		return state;
	if (state)
		state->announced = 1;
	emit_task(task, TASK_SEEN, NULL, 0, 0, false);
	return state;
}

/*
 * The system call that a thread is in, from the registers saved at the top of its kernel stack. An exception stores -1
 * there: the thread then entered the kernel by a fault.
 */
static __always_inline __s16 syscall_in(const struct pt_regs *regs, __u16 *flags)
{
	long nr = -1;

#if defined(__TARGET_ARCH_x86)
	nr = (long)regs->orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	nr = (int)regs->syscallno;
#endif
	if (nr < 0 || nr > 32767) {
		*flags |= SWITCH_FAULT;
		return REC_SYSCALL_NONE;
	}
	return nr;
}

/* Kernels without CONFIG_TASK_DELAY_ACCT lack this type. */
struct task_delay_info___kept {
	__u64 blkio_delay;
} __attribute__((preserve_access_index));

struct task_struct___delays {
	struct task_delay_info___kept *delays;
} __attribute__((preserve_access_index));

/* The time spent waiting for block I/O; returns false if this kernel does not record it. */
static __always_inline bool io_wait_ns(struct task_struct *task, __u64 *ns)
{
	struct task_struct___delays *of = (void *)task;
	struct task_delay_info___kept *delays;

	*ns = 0;
	if (!bpf_core_field_exists(of->delays))
		return false;
	delays = BPF_CORE_READ(of, delays);
	if (!delays)
		return false;
	*ns = BPF_CORE_READ(delays, blkio_delay);
	return true;
}

/* Available with CONFIG_TASK_IO_ACCOUNTING, which distributions enable. */
static __always_inline __u16 account_bytes(struct task_struct *task, struct rec_account *r)
{
	if (!bpf_core_field_exists(task->ioac.read_bytes) ||
	    !bpf_core_field_exists(task->ioac.rchar))
		return 0;
	r->read_bytes = BPF_CORE_READ(task, ioac.read_bytes);
	r->write_bytes = BPF_CORE_READ(task, ioac.write_bytes);
	r->read_chars = BPF_CORE_READ(task, ioac.rchar);
	r->write_chars = BPF_CORE_READ(task, ioac.wchar);
	return ACCOUNT_HAS_BYTES;
}

static __always_inline void emit_account_at(struct task_struct *task, __u16 flags, __s16 syscall,
					    __u64 ts_ns)
{
	struct emit e;
	struct rec_account *r = emit_begin(&e, SOURCE_TASK, sizeof(*r));

	if (!r)
		return;
	if (io_wait_ns(task, &r->io_ns))
		flags |= ACCOUNT_HAS_IO;
	r->read_bytes = r->write_bytes = r->read_chars = r->write_chars = 0;
	/* Byte counts of other users' threads are only for sessions that may see everything (as /proc/PID/io). */
	if (settings.owner_uid == NO_OWNER || flags & ACCOUNT_TARGET)
		flags |= account_bytes(task, r);
	header_fill(&r->header, REC_ACCOUNT, flags, ts_ns);
	r->tid = BPF_CORE_READ(task, pid);
	r->tgid = BPF_CORE_READ(task, tgid);
	r->run_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	r->runnable_ns = 0;
	if (bpf_core_field_exists(task->sched_info.run_delay))
		r->runnable_ns = BPF_CORE_READ(task, sched_info.run_delay);
	r->user_ns = BPF_CORE_READ(task, utime);
	r->system_ns = BPF_CORE_READ(task, stime);
	r->voluntary = BPF_CORE_READ(task, nvcsw);
	r->involuntary = BPF_CORE_READ(task, nivcsw);
	r->migrations = BPF_CORE_READ(task, se.nr_migrations);
	r->minor_faults = BPF_CORE_READ(task, min_flt);
	r->major_faults = BPF_CORE_READ(task, maj_flt);
	r->syscall = syscall;
	r->reserved = 0;
	emit_end(&e, false);
}

static __always_inline void emit_account(struct task_struct *task, __u16 flags, __s16 syscall)
{
	emit_account_at(task, flags, syscall, bpf_ktime_get_ns());
}

#endif /* PROFBPF_TASK_BPF_H */
