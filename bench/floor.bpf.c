// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* floor.bpf.c - empty programs: the kernel's own cost of a probe. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("uprobe.multi")
int empty_session(struct pt_regs *ctx)
{
	return 0;
}

SEC("uprobe.multi")
int empty_enter(struct pt_regs *ctx)
{
	return 0;
}

SEC("uprobe.multi")
int empty_leave(struct pt_regs *ctx)
{
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(empty_switch)
{
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(empty_waking)
{
	return 0;
}
