// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * forget.bpf.c - gives back what was kept of a thread that the kernel forgets, where it is not kept in
 * task storage.
 *
 * Only then is it loaded: before any other program, so that none keeps anything of a thread whose end is not
 * seen; but after account_free, which needs it once more.
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
