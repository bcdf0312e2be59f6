// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * forget.bpf.c - frees the map entries of a thread that the kernel frees, on kernels without task storage.
 *
 * Loaded on such kernels only. It is attached before every other program, so that no program makes an entry for
 * a thread whose end is not seen; but after account_free, which needs the entry once more.
 */
#include "call_stack.bpf.h"
#include "sleeper.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

SEC("tp_btf/sched_process_free")
int BPF_PROG(forget_thread, struct task_struct *task)
{
	thread_forget(thread_states, task);
	thread_forget(call_stacks, task);
	thread_forget(sleepers, task);
	return 0;
}
