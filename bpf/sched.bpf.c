// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * sched.bpf.c - context switches and wake-ups of the targets.
 *
 * Recorded are: every switch in or out of a target thread; every switch on a
 * CPU while a target waits for it, so that it is known who ran instead; every
 * wake-up of a target, with who woke it and from what context.
 */
#include "interrupt.bpf.h"
#include "task.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

#define MAX_CPUS 4096

/* How many targets wait for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CPUS);
	__type(key, __u32);
	__type(value, __s32);
} waiting SEC(".maps");

struct task_struct___before_5_14 {
	volatile long state;
} __attribute__((preserve_access_index));

struct task_struct___before_5_16 {
	unsigned int cpu;
} __attribute__((preserve_access_index));

static __always_inline __u8 switch_state(bool preempt, __u64 state)
{
	if (preempt || !(state & 0xffff))
		return SWITCH_PREEMPTED;
	if (state & ST_DEAD)
		return SWITCH_DEAD;
	if (state & ST_STOPPED_TRACED_PARKED)
		return SWITCH_STOPPED;
	if (state & ST_UNINTERRUPTIBLE)
		return state & ST_NOLOAD ? SWITCH_SLEEP : SWITCH_DISK;
	if (state & ST_INTERRUPTIBLE)
		return SWITCH_SLEEP;
	return SWITCH_PREEMPTED;
}

static __always_inline void wait_begin(struct thread_state *state, __u32 cpu)
{
	__s32 *n = bpf_map_lookup_elem(&waiting, &cpu);

	if (!n || state->waiting_cpu)
		return;
	state->waiting_cpu = cpu + 1;
	__sync_fetch_and_add(n, 1);
}

static __always_inline void wait_end(struct thread_state *state)
{
	__u32 cpu = state->waiting_cpu - 1;
	__s32 *n;

	if (!state->waiting_cpu)
		return;
	state->waiting_cpu = 0;
	n = bpf_map_lookup_elem(&waiting, &cpu);
	if (n)
		__sync_fetch_and_add(n, -1);
}

static __always_inline bool someone_waits(__u32 cpu)
{
	__s32 *n = bpf_map_lookup_elem(&waiting, &cpu);

	return n && *n > 0;
}

static __always_inline bool is_idle(struct task_struct *task)
{
	return task->pid == 0;
}

static __always_inline void emit_switch(struct task_struct *prev, struct task_struct *next,
					__u8 state, __u16 flags)
{
	struct emit e;
	struct rec_switch *r;
	__s16 syscall = REC_SYSCALL_NONE;

	if (flags & SWITCH_PREV_TARGET && state != SWITCH_PREEMPTED && state != SWITCH_DEAD) {
		syscall = syscall_of(prev, &flags);
		if (BPF_CORE_READ_BITFIELD(prev, in_iowait))
			flags |= SWITCH_IOWAIT;
	}
	r = emit_begin(&e, SOURCE_SCHED, sizeof(*r));
	if (!r)
		return;
	header_fill(&r->header, REC_SWITCH, flags, bpf_ktime_get_ns());
	r->prev_tid = prev->pid;
	r->next_tid = next->pid;
	r->syscall = syscall;
	r->state = state;
	r->prev_prio = prev->prio;
	r->reserved = 0;
	emit_end(&e, false);
}

static __always_inline int handle_switch(bool preempt, struct task_struct *prev,
					 struct task_struct *next, __u64 prev_state)
{
	__u8 state = switch_state(preempt, prev_state);
	__u32 cpu = bpf_get_smp_processor_id();
	struct thread_state *prev_ts = NULL, *next_ts = NULL;
	__u16 flags = 0;

	if (capture_stopped)
		return 0;
	if (!is_idle(prev)) {
		prev_ts = thread_state(prev);
		if (is_target_task(prev, prev_ts))
			flags |= SWITCH_PREV_TARGET;
	}
	if (!is_idle(next)) {
		next_ts = thread_state(next);
		if (is_target_task(next, next_ts))
			flags |= SWITCH_NEXT_TARGET;
	}
	if (!flags && !someone_waits(cpu)) {
		if (state == SWITCH_DEAD) {
			announce(prev, prev_ts);
			emit_account(prev, ACCOUNT_FINAL, REC_SYSCALL_NONE);
		}
		return 0;
	}
	if (!is_idle(prev)) {
		prev_ts = announce(prev, prev_ts);
		if (prev_ts && flags & SWITCH_PREV_TARGET && state == SWITCH_PREEMPTED)
			wait_begin(prev_ts, cpu);
	}
	if (!is_idle(next)) {
		next_ts = announce(next, next_ts);
		if (next_ts && flags & SWITCH_NEXT_TARGET)
			wait_end(next_ts);
	}
	emit_switch(prev, next, state, flags);
	if (state == SWITCH_DEAD)
		emit_account(prev,
			     ACCOUNT_FINAL | (flags & SWITCH_PREV_TARGET ? ACCOUNT_TARGET : 0),
			     REC_SYSCALL_NONE);
	return 0;
}

/* Since 5.18 the tracepoint hands over the state that the scheduler acted on. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return handle_switch(preempt, prev, next, prev_state);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_before_5_18, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	struct task_struct___before_5_14 *old = (void *)prev;
	__u64 state;

	if (bpf_core_field_exists(old->state))
		state = BPF_CORE_READ(old, state);
	else
		state = BPF_CORE_READ(prev, __state);
	return handle_switch(preempt, prev, next, state);
}

static __always_inline __u32 task_cpu(struct task_struct *task)
{
	struct task_struct___before_5_16 *old = (void *)task;

	if (bpf_core_field_exists(old->cpu))
		return old->cpu;
	return task->thread_info.cpu;
}

static __always_inline void emit_wake(struct task_struct *task, __u16 flags)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct emit e;
	struct rec_wake *r;

	if (waker->pid && !(flags & WAKE_INTERRUPT))
		announce(waker, thread_state(waker));
	r = emit_begin(&e, SOURCE_SCHED, sizeof(*r));
	if (!r)
		return;
	header_fill(&r->header, REC_WAKE, flags, bpf_ktime_get_ns());
	r->waker_tid = waker->pid;
	r->tid = task->pid;
	r->target_cpu = task_cpu(task);
	r->reserved = 0;
	emit_end(&e, false);
}

/* Fires in the waker's context, before the CPU is chosen. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	__u32 *mark;

	if (!is_target_task(task, thread_state(task)))
		return 0;
	mark = interrupt_mark();
	emit_wake(task, mark ? *mark : 0);
	return 0;
}

/* Fires when the thread stands in a run queue: from now on it waits for that CPU. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	struct thread_state *state = thread_state(task);

	/* Its width differs between kernels. */
	if (!is_target_task(task, state) || BPF_CORE_READ_BITFIELD(task, on_cpu))
		return 0;
	state = announce(task, state);
	if (state)
		wait_begin(state, task_cpu(task));
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	struct thread_state *state;

	if (!is_target(task->tgid))
		return 0;
	emit_wake(task, WAKE_NEW);
	state = announce(task, thread_state(task));
	if (state)
		wait_begin(state, task_cpu(task));
	return 0;
}
