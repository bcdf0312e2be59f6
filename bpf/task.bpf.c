// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* task.bpf.c - life of the traced processes: fork, exec, rename, exit. */
#include "known.bpf.h"
#include "process.bpf.h"
#include "unwind.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

volatile __u8 target_marks[TARGET_MARKS] = {};

/* The number of processes that are no targets because "targets" was full. */
volatile __u64 targets_refused = 0;

/* A new process that is no target may have got the id of a target that has exited. */
static __always_inline void not_that_target(__u32 tgid)
{
	if (settings.system_wide || !is_listed(tgid))
		return;
	bpf_map_delete_elem(&targets, &tgid);
	__sync_fetch_and_add(&targets_version, 1);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_tgid = BPF_CORE_READ(parent, tgid);
	__u32 tgid = BPF_CORE_READ(child, tgid);
	struct thread_state *state;
	bool new_process = tgid != parent_tgid;
	__u32 one = 1;

	if (!is_target(parent_tgid)) {
		if (new_process)
			not_that_target(tgid);
		return 0;
	}
	if (new_process && !settings.system_wide) {
		if (!settings.follow) {
			not_that_target(tgid);
			return 0;
		}
		mark_target(tgid);
		if (bpf_map_update_elem(&targets, &tgid, &one, BPF_ANY))
			__sync_fetch_and_add(&targets_refused, 1);
	}
	state = thread_make(thread_states, child);
	if (state)
		state->announced = 1;
	emit_task(child, TASK_FORK, parent, 0, 0, new_process);
	return 0;
}

/*
 * An ordinary user must not follow a process into a program that runs with other credentials (set-user-id,
 * set-group-id, file capabilities) or whose file the user may not read: the process stops being a target, for good,
 * even if it gives up those credentials. Called before the program's first instruction; until then
 * the check of its credentials decides about each record (owner.bpf.h).
 */
static __always_inline bool changes_hands(struct task_struct *task, __u32 tgid,
					   struct linux_binprm *program)
{
	if (settings.owner_uid == NO_OWNER || !is_listed(tgid))
		return false;
	return !owner_may_look(task) || BPF_CORE_READ_BITFIELD_PROBED(program, secureexec);
}

/* Threads that are no targets are announced again under their new name when they next matter. */
static __always_inline void forget_identity(struct task_struct *task)
{
	struct thread_state *state = thread_state(task);

	if (state && !capture_stopped)
		state->announced = 0;
	known_forget(task);
}

/* Removes a target, also one that is still being checked before the session goes live. */
static __always_inline void drop(struct task_struct *task, __u32 tgid, bool member)
{
	bpf_map_delete_elem(&targets, &tgid);
	__sync_fetch_and_add(&targets_version, 1);
	if (member)
		emit_task(task, TASK_DROPPED, NULL, 0, 0, true);
	else
		forget_identity(task);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_tid, struct linux_binprm *program)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);
	bool member = is_member(tgid);

	/* The known mappings belong to the previous program. */
	if (settings.unwind)
		bpf_map_delete_elem(&unwind_processes, &tgid);
	if (changes_hands(task, tgid, program))
		drop(task, tgid, member);
	else if (member)
		emit_task(task, TASK_EXEC, NULL, 0, 0, true);
	else
		forget_identity(task);
	return 0;
}

/* The new name is an argument: the task still carries the old one. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *comm)
{
	struct emit e;
	struct rec_task *r;
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (!is_target_thread(task)) {
		forget_identity(task);
		return 0;
	}
	r = emit_begin(&e, SOURCE_TASK, sizeof(*r));
	if (!r)
		return 0;
	header_fill(&r->header, REC_TASK, TASK_TARGET, bpf_ktime_get_ns());
	r->tid = BPF_CORE_READ(task, pid);
	r->tgid = tgid;
	r->parent_tgid = BPF_CORE_READ(task, real_parent, tgid);
	r->parent_tid = 0;
	r->event = TASK_RENAME;
	r->exit_code = 0;
	r->start_ns = task_start_ns(task);
	__builtin_memset(r->comm, 0, sizeof(r->comm));
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), comm);
	emit_end(&e, false);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct memory memory;
	bool last;

	if (!is_target(BPF_CORE_READ(task, tgid)))
		return 0;
	last = BPF_CORE_READ(task, signal, live.counter) == 0;
	if (last) {
		memory_of(task, &memory);
		emit_process(task, &memory, cgroup_of(task), PROCESS_FINAL | PROCESS_TARGET);
	}
	emit_task(task, TASK_EXIT, NULL, BPF_CORE_READ(task, exit_code), last ? TASK_LAST : 0,
		  last);
	return 0;
}

/* Counts for sessions without hooks on switches: threads that exited, and threads that the kernel has freed. */
volatile __u64 threads_exited = 0;
volatile __u64 threads_freed = 0;

static __always_inline __u16 final_flags(struct task_struct *task)
{
	return ACCOUNT_FINAL | (is_target_thread(task) ? ACCOUNT_TARGET : 0);
}

/*
 * Without hooks on switches a thread's figures are sent when it begins to exit and again when the kernel frees it.
 * Only the latter are exact, because the kernel updates the figures of a running thread at each tick. Their
 * timestamp is that of the exit.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(account_exit, struct task_struct *task)
{
	struct thread_state *state;
	__u64 now = bpf_ktime_get_ns();

	if (capture_stopped)
		return 0;
	state = announce(task, thread_state(task));
	emit_account_at(task, final_flags(task), REC_SYSCALL_NONE, now);
	if (!state) {
		count_lost(SOURCE_TASK, LOSS_NO_MEMORY, 1); /* the record that account_free would send */
		return 0;
	}
	state->exit_ns = now;
	__sync_fetch_and_add(&threads_exited, 1);
	return 0;
}

/* Fires after an RCU grace period, which may end after the session. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(account_free, struct task_struct *task)
{
	struct thread_state *state = thread_state(task);

	if (capture_closed || !state || !state->exit_ns)
		return 0;
	emit_account_at(task, final_flags(task), REC_SYSCALL_NONE, state->exit_ns + 1);
	__sync_fetch_and_add(&threads_freed, 1);
	return 0;
}
