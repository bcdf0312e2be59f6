// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * thread_pointer.bpf.c - the thread pointers of the targets' threads, from which their thread-local variables are
 * found. The daemon reads them once per session, for libraries whose variables describe the role of a thread.
 */
#include "profbpf.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

SEC("iter/task")
int thread_pointers(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_pointer row = {};

	if (!task || !task->pid || !is_target_thread(task))
		return 0;
	row.tid = task->pid;
	row.tgid = task->tgid;
	row.address = thread_pointer_of(task);
	if (row.address)
		bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}
