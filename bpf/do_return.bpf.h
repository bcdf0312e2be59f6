/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* do_return.bpf.h - the return instruction, done by the program that is probed at it. */
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

/* Returns would have to be taken off the shadow stack, too. */
static __always_inline bool has_shadow_stack(void)
{
	struct task_struct___shadow *task = (void *)current_task();

	return bpf_core_field_exists(task->thread.features) &&
	       BPF_CORE_READ(task, thread.features) & SHADOW_STACK;
}

/*
 * Does the return instruction that the probe is at, so that the kernel need not step over it. In
 * doubt the kernel does: if another tracer's program, which comes first, has done it already, the
 * instruction pointer is not at the probe any more.
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
