// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* task.bpf.c - life of the traced processes: fork, exec, rename, exit. */
#include "task.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_tgid = BPF_CORE_READ(parent, tgid);
	__u32 tgid = BPF_CORE_READ(child, tgid);
	struct thread_state *state;
	bool new_process = tgid != parent_tgid;
	__u32 one = 1;

	if (!is_target(parent_tgid))
		return 0;
	if (new_process && !settings.system_wide) {
		if (!settings.follow)
			return 0;
		bpf_map_update_elem(&targets, &tgid, &one, BPF_ANY);
	}
	state = bpf_task_storage_get(&thread_states, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (state)
		state->announced = 1;
	emit_task(child, TASK_FORK, parent, 0, 0, new_process);
	return 0;
}

/*
 * A user who may trace their own processes must not follow one into a program
 * that runs with another's rights (setuid): it is no target any more.
 */
static __always_inline bool changed_hands(struct task_struct *task)
{
	__u32 owner = settings.owner_uid;

	return owner != NO_OWNER && (BPF_CORE_READ(task, cred, uid.val) != owner ||
				     BPF_CORE_READ(task, cred, euid.val) != owner ||
				     BPF_CORE_READ(task, cred, suid.val) != owner);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (!is_target(tgid))
		return 0;
	if (changed_hands(task)) {
		bpf_map_delete_elem(&targets, &tgid);
		__sync_fetch_and_add(&targets_version, 1);
		emit_task(task, TASK_DROPPED, NULL, 0, 0, false);
	} else {
		emit_task(task, TASK_EXEC, NULL, 0, 0, true);
	}
	return 0;
}

/* The new name is an argument: the task still carries the old one. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *comm)
{
	struct emit e;
	struct rec_task *r;
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (!is_target(tgid))
		return 0;
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
	bool last;

	if (!is_target(BPF_CORE_READ(task, tgid)))
		return 0;
	last = BPF_CORE_READ(task, signal, live.counter) == 0;
	emit_task(task, TASK_EXIT, NULL, BPF_CORE_READ(task, exit_code), last ? TASK_LAST : 0,
		  last);
	return 0;
}
