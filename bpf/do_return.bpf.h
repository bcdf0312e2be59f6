/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* do_return.bpf.h - executes the probed return instruction in the BPF program. */
#ifndef PROFBPF_DO_RETURN_BPF_H
#define PROFBPF_DO_RETURN_BPF_H

#include "profbpf.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define BREAKPOINT 0xcc
#define SHADOW_STACK 1 /* ARCH_SHSTK_SHSTK of task_struct.thread.features */

struct thread_struct___shadow {
	unsigned long features;
} __attribute__((preserve_access_index));

struct task_struct___shadow {
	struct thread_struct___shadow thread;
} __attribute__((preserve_access_index));

/* With a shadow stack the return address would have to be popped there, too. */
static __always_inline bool has_shadow_stack(void)
{
	struct task_struct___shadow *task = (void *)current_task();

	return bpf_core_field_exists(task->thread.features) &&
	       BPF_CORE_READ(task, thread.features) & SHADOW_STACK;
}

/*
 * Executes the return instruction at the probe, so that the kernel need not single-step it. In doubt it
 * leaves that to the kernel. If another tracer's program ran first and has done the return, the
 * instruction pointer is no longer at the probe.
 */
static __noinline int do_return(struct pt_regs *ctx, __u64 cookie)
{
	__u64 sp = ctx->sp, ip = ctx->ip, returns_to = 0;
	__u8 byte = 0;

	if ((ip ^ cookie >> PLACE_OFFSET_SHIFT) & 0xfff || has_shadow_stack())
		return 0;
	if (bpf_probe_read_user(&byte, sizeof(byte), (void *)ip) || byte != BREAKPOINT)
		return 0;
	if (bpf_probe_read_user(&returns_to, sizeof(returns_to), (void *)sp) || !returns_to)
		return 0;
	ctx->sp = sp + sizeof(returns_to);
	ctx->ip = returns_to;
	return 0;
}
#else
static __always_inline int do_return(struct pt_regs *ctx, __u64 cookie)
{
	return 0;
}
#endif

#endif /* PROFBPF_DO_RETURN_BPF_H */
