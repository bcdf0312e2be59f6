// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * sched.bpf.c - context switches and wake-ups of the targets.
 *
 * Recorded are: every switch to or from a target's thread; every switch on a CPU while a target waits for that
 * CPU, to know which thread ran instead; every wake-up of a target, with its waker and context. The topic
 * stack follows targets' sleeps, with or without these records.
 */
#include "interrupt.bpf.h"
#include "known.bpf.h"
#include "run_cost.bpf.h"
#include "sleep.bpf.h"
#include "sleep_stack.bpf.h"
#include "stage.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

/* The number of this session's targets that wait for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* as many as CPUs; set before loading */
	__type(key, __u32);
	__type(value, struct waiting_count);
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

static __always_inline void count_waiting(__u32 cpu, __s32 more)
{
	struct waiting_count *waits = bpf_map_lookup_elem(&waiting, &cpu);

	if (waits)
		__sync_fetch_and_add(&waits->count, more);
	if (!settings.gated)
		return;
	waits = bpf_map_lookup_elem(&gate_waiting, &cpu);
	if (waits)
		__sync_fetch_and_add(&waits->count, more);
}

static __always_inline __u32 waiting_cpu(const struct known_thread *known)
{
	return (__u32)(known->wait & KNOWN_BELOW_OWNER) - 1;
}

static __always_inline bool waits(struct task_struct *task, const struct known_thread *known)
{
	return known->wait && (known->wait & ~KNOWN_BELOW_OWNER) == known_owner(task);
}

static __always_inline void wait_begin(struct task_struct *task, struct known_thread *known,
				       __u32 cpu)
{
	if (known->wait) {
		if (waits(task, known))
			return;
		/* Another thread with the same place is waiting: its wait is no longer followed. */
		count_waiting(waiting_cpu(known), -1);
	}
	known->wait = known_owner(task) | (cpu + 1);
	count_waiting(cpu, 1);
}

static __always_inline void wait_end(struct task_struct *task, struct known_thread *known)
{
	__u32 cpu;

	if (!waits(task, known))
		return;
	cpu = waiting_cpu(known);
	known->wait = 0;
	count_waiting(cpu, -1);
}

static __always_inline bool someone_waits(__u32 cpu)
{
	struct waiting_count *waits = bpf_map_lookup_elem(&waiting, &cpu);

	return waits && waits->count > 0;
}

static __always_inline bool is_idle(struct task_struct *task)
{
	return task->pid == 0;
}

/* Since 6.18 threads are throttled one by one, when they would return to user space. */
struct task_struct___throttled {
	bool throttled;
} __attribute__((preserve_access_index));

struct hrtimer___refill {
	struct {
		__s64 expires;
	} node;
} __attribute__((preserve_access_index));

struct task_group___refill {
	struct {
		__s64 period;
		__u64 quota;
		struct hrtimer___refill period_timer;
	} cfs_bandwidth;
} __attribute__((preserve_access_index));

struct cfs_rq___throttled {
	int throttled;
	__s64 runtime_remaining;
	struct task_group___refill *tg;
} __attribute__((preserve_access_index));

struct sched_entity___grouped {
	struct sched_entity___grouped *parent;
	struct cfs_rq___throttled *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___grouped {
	struct sched_entity___grouped se;
} __attribute__((preserve_access_index));

#define GROUP_DEPTH 8 /* levels of cgroups above a thread that are checked */

/* Before 6.18 a whole group is throttled: the thread's cgroup, or one above it. NULL: none is. */
static __always_inline struct cfs_rq___throttled *throttled_queue(struct task_struct *task)
{
	struct task_struct___grouped *of = (void *)task;
	struct sched_entity___grouped *entity;
	struct cfs_rq___throttled *queue = NULL;

	if (!bpf_core_field_exists(of->se.parent) || !bpf_core_field_exists(queue->throttled))
		return NULL;
	queue = BPF_CORE_READ(of, se.cfs_rq);
	entity = BPF_CORE_READ(of, se.parent);
	for (int i = 0; i < GROUP_DEPTH && queue; i++) {
		if (BPF_CORE_READ_BITFIELD_PROBED(queue, throttled))
			return queue;
		if (!entity)
			break;
		queue = BPF_CORE_READ(entity, cfs_rq);
		entity = BPF_CORE_READ(entity, parent);
	}
	return NULL;
}

/*
 * How long it is until the group may run again, whose quota is filled up by a timer of CLOCK_MONOTONIC; at least, since what it
 * has overdrawn on other CPUs is not counted. As distribute_cfs_runtime() does it: it needs more than it has overdrawn here. 0: not known.
 */
static __always_inline __u32 refill_in(struct task_struct *task, __u64 now)
{
	struct task_group___refill *group = NULL;
	struct cfs_rq___throttled *queue = NULL;
	__u64 at, quota;
	__s64 left;

	if (!bpf_core_field_exists(queue->tg) ||
	    !bpf_core_field_exists(group->cfs_bandwidth.period_timer.node.expires))
		return 0;
	queue = throttled_queue(task);
	if (!queue)
		return 0;
	group = BPF_CORE_READ(queue, tg);
	at = (__u64)BPF_CORE_READ(group, cfs_bandwidth.period_timer.node.expires);
	quota = BPF_CORE_READ(group, cfs_bandwidth.quota);
	left = BPF_CORE_READ(queue, runtime_remaining);
	if (left < 0 && quota)
		at += (__u64)-left / quota * (__u64)BPF_CORE_READ(group, cfs_bandwidth.period);
	return at > now && at - now < 1ull << 32 ? at - now : 0;
}

/* Has a cgroup of the thread, which is ready to run, used up its quota of CPU time? */
static __always_inline bool is_throttled(struct task_struct *task)
{
	struct task_struct___throttled *of = (void *)task;

	if (bpf_core_field_exists(of->throttled))
		return BPF_CORE_READ(of, throttled);
	return throttled_queue(task) != NULL;
}

/* A thread may sleep more than once in a fault; the kernel counts the fault when it is over. */
static __always_inline void sleeps_in_fault(struct task_struct *task, __u64 now)
{
	struct thread_state *state = thread_state(task);
	__u64 count = task->min_flt + task->maj_flt;

	if (!state || (state->fault_ns && state->fault_count == count))
		return;
	state->fault_ns = now;
	state->fault_count = count;
}

static __always_inline void emit_switch(struct task_struct *prev, struct task_struct *next,
					struct known_thread *of_prev, __u8 state, __u16 flags,
					__u64 now)
{
	struct sleep_facts sleep = { .fd = -1 };
	struct rec_staged *stage;
	struct rec_switch *r;
	__s16 syscall = REC_SYSCALL_NONE;
	__u32 refill_ns = 0;

	if (flags & SWITCH_PREV_TARGET && state != SWITCH_PREEMPTED && state != SWITCH_DEAD) {
		const struct pt_regs *regs = user_regs(prev, REGISTERS_OF_SWITCH);

		if (regs)
			syscall = syscall_in(regs, &flags);
		if (BPF_CORE_READ_BITFIELD(prev, in_iowait))
			flags |= SWITCH_IOWAIT;
		if (regs && syscall != REC_SYSCALL_NONE)
			describe_sleep(prev, regs, syscall, &sleep);
		else if (settings.faults)
			sleeps_in_fault(prev, now);
		flags |= sleep.flags;
		/* The next thread may share this place and may have taken it by now. */
		of_prev->epoll = known_is_of(prev, of_prev) ? sleep.epoll : NULL;
		of_prev->polls = known_is_of(prev, of_prev) && sleep.polls;
	} else if (flags & SWITCH_PREV_TARGET && state == SWITCH_PREEMPTED && is_throttled(prev)) {
		flags |= SWITCH_THROTTLED;
		refill_ns = refill_in(prev, now);
	}
	r = stage_begin(&stage);
	if (!r)
		return;
	header_fill(&r->header, REC_SWITCH, flags, now);
	r->prev_tid = prev->pid;
	r->next_tid = next->pid;
	r->syscall = syscall;
	r->state = state;
	r->prev_prio = prev->prio;
	r->device = sleep.device;
	r->object = sleep.object;
	r->fd = sleep.fd;
	r->refill_ns = refill_ns;
	stage_end(stage, now);
}

/* Sends the final figures of a thread that is no target's when it exits; its switches are not recorded. */
static __always_inline void stranger_exits(struct task_struct *prev, struct known_thread *known,
					      __u32 facts)
{
	known_announce(prev, known, facts);
	known->facts = 0;
	emit_account(prev, ACCOUNT_FINAL, REC_SYSCALL_NONE);
}

/* Records, for a session with topic sched, a switch to or from a target, or one on a CPU that a target waits for. */
static __always_inline void keep_switch(struct task_struct *prev, struct task_struct *next,
					struct known_thread *of_prev, struct known_thread *of_next,
					__u8 state, __u16 flags, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (flags & SWITCH_PREV_TARGET && state == SWITCH_PREEMPTED)
		wait_begin(prev, of_prev, cpu);
	/* A thread may have begun to wait before the session's owner lost the right to look into it. */
	if (flags & SWITCH_NEXT_TARGET || settings.owner_uid != NO_OWNER)
		wait_end(next, of_next);
	emit_switch(prev, next, of_prev, state, flags, now);
	if (state != SWITCH_DEAD)
		return;
	of_prev->facts = 0;
	emit_account(prev, ACCOUNT_FINAL | (flags & SWITCH_PREV_TARGET ? ACCOUNT_TARGET : 0),
		     REC_SYSCALL_NONE);
}

/* Follows sleeps for their stacks; only counts the runs while these are shed. */
static __always_inline void follow_sleeps(struct task_struct *prev, struct task_struct *next,
					  __u8 state, __u16 flags, __u64 now, bool recent)
{
	bool begins = flags & SWITCH_PREV_TARGET && state != SWITCH_PREEMPTED && state != SWITCH_DEAD;
	struct run_cost *cost;
	__u64 began_ns = now;

	if (!begins && !(flags & SWITCH_NEXT_TARGET))
		return;
	cost = run_begins(RUN_SLEEP);
	if (runs_shed[RUN_SLEEP])
		return;
	if (run_is_timed(cost))
		began_ns = bpf_ktime_get_ns();
	began_ns = unfollowed(began_ns, now);
	if (flags & SWITCH_NEXT_TARGET)
		sleep_ends(next, now, recent);
	if (begins)
		sleep_begins(prev, now, recent);
	run_ends(cost, began_ns);
}

/* @recent, a constant: the kernel has bpf_loop() and accepts callback functions. */
static __always_inline int handle_switch(bool preempt, struct task_struct *prev,
					 struct task_struct *next, __u64 prev_state, bool recent)
{
	struct known_thread *of_prev = known_thread(prev), *of_next = known_thread(next);
	__u8 state = switch_state(preempt, prev_state);
	__u32 prev_facts = KNOWN_ANNOUNCED, next_facts = KNOWN_ANNOUNCED;
	struct run_cost *cost;
	__u16 flags = 0;
	__u64 now;

	if (capture_stopped || !of_prev || !of_next)
		return 0;
	if (!is_idle(prev))
		prev_facts = known_facts(prev, of_prev);
	if (!is_idle(next))
		next_facts = known_facts(next, of_next);
	if (prev_facts & KNOWN_TARGET)
		flags |= SWITCH_PREV_TARGET;
	if (next_facts & KNOWN_TARGET)
		flags |= SWITCH_NEXT_TARGET;
	if (!flags && !someone_waits(bpf_get_smp_processor_id())) {
		if (settings.switches && state == SWITCH_DEAD)
			stranger_exits(prev, of_prev, prev_facts);
		return 0;
	}
	cost = run_begins(RUN_SWITCH);
	now = bpf_ktime_get_ns();
	state = unfollowed(state, now);
	flags = unfollowed(flags, now);
	prev_facts = unfollowed(prev_facts, now);
	next_facts = unfollowed(next_facts, now);
	if (settings.switches) {
		known_announce(prev, of_prev, prev_facts);
		known_announce(next, of_next, next_facts);
		keep_switch(prev, next, of_prev, of_next, state, flags, now);
	}
	run_ends(cost, now);
	if (settings.sleep_stacks)
		follow_sleeps(prev, next, state, flags, now, recent);
	return 0;
}

/* Since 5.18 the tracepoint has the state that the scheduler acted on as an argument. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return handle_switch(preempt, prev, next, prev_state, true);
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
	return handle_switch(preempt, prev, next, state, false);
}

static __always_inline __u32 task_cpu(struct task_struct *task)
{
	struct task_struct___before_5_16 *old = (void *)task;

	if (bpf_core_field_exists(old->cpu))
		return old->cpu;
	return task->thread_info.cpu;
}

static __always_inline void fill_wake(struct rec_wake *r, struct task_struct *task,
				      struct task_struct *waker, __u16 flags, __u32 source,
				      const struct sleep_facts *ready, __u64 now)
{
	header_fill(&r->header, REC_WAKE, flags | ready->flags, now);
	r->waker_tid = field_of(waker, pid);
	r->tid = task->pid;
	r->target_cpu = task_cpu(task);
	r->source = source;
	r->object = ready->object;
	r->device = ready->device;
	r->fd = ready->fd;
}

/* The set of files that a thread sleeps for: an epoll instance, or NULL; or several files in poll or select. */
struct many_files {
	struct file *epoll;
	bool polls;
};

static __always_inline void emit_wake(struct task_struct *task, const struct many_files *of,
				      struct interrupt_state *interrupt, __u16 flags, __u64 now)
{
	struct sleep_facts ready = { .fd = -1 };
	struct task_struct *waker = current_task();
	struct known_thread *known;
	struct rec_staged *stage;
	struct rec_switch *r;
	struct rec_wake *w;
	struct emit e;
	__u32 source = 0;

	if (interrupt && interrupt->kinds) {
		flags |= interrupt->kinds;
		source = interrupt_source(interrupt);
	} else if (field_of(waker, pid)) {
		known = known_thread(waker);
		if (known)
			known_announce(waker, known, known_facts(waker, known));
	}
	if (of->epoll)
		describe_ready(of->epoll, &ready);
	else if (of->polls && flags & WAKE_SOFTIRQ && may_look(waker))
		describe_sent(waker, &ready);
	if (waker != task) {
		r = stage_begin(&stage);
		if (!r)
			return;
		fill_wake((struct rec_wake *)r, task, waker, flags, source, &ready, now);
		stage_end(stage, now);
		return;
	}
	/* A thread that wakes itself does so with interrupts on: the stage is not safe for it. */
	w = emit_begin(&e, SOURCE_SCHED, sizeof(*w));
	if (!w)
		return;
	fill_wake(w, task, waker, flags, source, &ready, now);
	emit_end(&e, false);
}

struct sched_entity___delayed {
	unsigned char sched_delayed;
} __attribute__((preserve_access_index));

struct task_struct___delayed {
	struct sched_entity___delayed se;
} __attribute__((preserve_access_index));

/*
 * Must the thread that is about to be woken wait in a run queue? A thread that has announced its sleep but is
 * still in the run queue need not. Since 6.12 sleeping threads stay in the run queue for a while (delayed dequeue).
 */
static __always_inline bool must_queue(struct task_struct *task)
{
	struct task_struct___delayed *of = (void *)task;

	/* Its width differs between kernels. */
	if (!BPF_CORE_READ_BITFIELD(task, on_rq))
		return true;
	return bpf_core_field_exists(of->se.sched_delayed) && of->se.sched_delayed;
}

/* Fires in the waker's context, before the CPU is chosen: until the thread migrates, its last CPU counts. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct known_thread *known = known_thread(task);
	struct interrupt_state *interrupt;
	struct run_cost *cost;
	struct many_files of;
	bool sleeps;
	__u32 facts;
	__u64 now;

	if (capture_stopped || !known)
		return 0;
	facts = known_facts(task, known);
	if (!(facts & KNOWN_TARGET))
		return 0;
	/* Cleared in any case, because the next sleep may not set them. */
	of = (struct many_files){ known->epoll, known->polls };
	known->epoll = NULL;
	known->polls = 0;
	cost = run_begins(RUN_WAKE);
	sleeps = settings.sleep_stacks && !runs_shed[RUN_SLEEP];
	if (runs_shed[RUN_WAKE] && !sleeps)
		return 0;
	interrupt = interrupt_state();
	now = bpf_ktime_get_ns();
	if (settings.switches && !runs_shed[RUN_WAKE]) {
		known_announce(task, known, facts);
		if (must_queue(task))
			wait_begin(task, known, task_cpu(task));
		emit_wake(task, &of, interrupt, 0, now);
	}
	if (sleeps)
		sleep_woken(task, now, interrupt);
	if (!runs_shed[RUN_WAKE])
		run_ends(cost, now);
	return 0;
}

/* A thread that waits for a CPU, or is being woken, migrates to @cpu. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int cpu)
{
	struct known_thread *known = known_thread(task);

	if (!known || !waits(task, known))
		return 0;
	wait_end(task, known);
	wait_begin(task, known, cpu);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	struct known_thread *known = known_thread(task);
	__u32 facts;

	if (capture_stopped || !known)
		return 0;
	facts = known_facts(task, known);
	if (!(facts & KNOWN_TARGET))
		return 0;
	emit_wake(task, &(struct many_files){ NULL }, NULL, WAKE_NEW, bpf_ktime_get_ns());
	known_announce(task, known, facts);
	wait_begin(task, known, task_cpu(task));
	return 0;
}
