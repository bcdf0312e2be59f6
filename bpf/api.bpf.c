// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * api.bpf.c - runtime API calls: entry and return of the probed functions.
 *
 * The entry is noted on the thread's call stack, the record is written when the call ends.
 * That is seen by probes on the instructions with which functions return, or jump to others:
 * they leave the target's memory as it is. Only of functions that the catalog vouches for (plain) a
 * return probe sees it, by a session program (6.13), which decides for each call; docs/safety.md.
 *
 * No function that runs in a uprobe may use more than 48 bytes of stack, which
 * is why some are not inlined; tests/unit/test_bpf_stack.c checks it. From 64 on
 * (rounded up by 16) kernels since 6.13 give it one stack per CPU, and these
 * programs can be preempted: the next thread on that CPU would overwrite what
 * the first has there.
 */
#include "do_return.bpf.h"
#include "exit_places.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

volatile __u8 hot_functions[MAX_PROBES] = {};
volatile __u32 hot_hits[MAX_PROBES] = {};

extern __u64 *bpf_session_cookie(void) __ksym __weak;
/* The same on kernels where it takes the context (7.0 and later). */
extern __u64 *bpf_session_cookie___context(void *ctx) __ksym __weak;

static __always_inline __u64 *session_cookie(struct pt_regs *ctx)
{
	return bpf_ksym_exists(bpf_session_cookie___context) ? bpf_session_cookie___context(ctx)
							     : bpf_session_cookie();
}

static __always_inline void leave_by_return_probe(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), sp = PT_REGS_SP(ctx);
	struct call_stack *stack = current_stack();
	__u32 slot;

	asm volatile("" : "+r"(sp));
	if (!stack)
		return;
#if defined(__TARGET_ARCH_x86)
	sp -= 8; /* the return has popped the return address */
#endif
	slot = slot_at(stack, sp, FRAME_RETURNS);
	if (slot < REC_CALL_DEPTH)
		at_return(ctx, stack, slot, sp, now);
}

/*
 * Of functions that are left only by returning: the kernel puts its own address where the return
 * address was, for calls on the thread's own stack. The cookie is 0 at entry, by the kernel's
 * doing, and 1 at return: no need to ask which it is.
 */
SEC("uprobe.multi")
int api_session(struct pt_regs *ctx)
{
	__u64 *cookie = session_cookie(ctx);

	if (*cookie) {
		leave_by_return_probe(ctx);
		return 0;
	}
	*cookie = enter_returning(ctx, bpf_get_attach_cookie(ctx)) != SLOT_NONE;
	return !*cookie; /* 1: do not come back at return */
}

SEC("uprobe.multi")
int api_place(struct pt_regs *ctx)
{
	at_place(ctx, bpf_get_attach_cookie(ctx), true, false);
	return 0;
}

/* On kernels where a program may write the registers of the thread that it interrupts. */
SEC("uprobe.multi")
int api_place_returning(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	at_place(ctx, cookie, true, true);
	if (cookie & PLACE_RETURN_PLAIN)
		do_return(ctx, cookie);
	return 0;
}

/* Set by the daemon when recording has ended: the kernel takes long to remove these probes, one by one. */
volatile __u32 calls_closed __weak = 0;

SEC("uprobe")
int api_place_perf(struct pt_regs *ctx)
{
	if (calls_closed)
		return 0;
	at_place(ctx, attach_cookie(ctx, PROBED_ENTRY), false, false);
	return 0;
}

/*
 * The calls of a thread will not return any more; its counts and its place are given back.
 * When recording has ended, open_calls() writes what is open.
 */
static __always_inline void close_stack(struct task_struct *task, struct call_stack *stack)
{
	if (is_target(task->tgid))
		emit_open_calls(task, stack, 0, bpf_ktime_get_ns());
	hand_over_counts(stack, task->tgid);
	if (capture_stopped || !stack->owner)
		return;
	stack->depth = 0;
	release_near_stack(stack);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(api_exit, struct task_struct *task)
{
	struct call_stack *stack = stack_of(task);

	if (stack)
		close_stack(task, stack);
	return 0;
}

/*
 * No call of the program before returns any more, nor may one of the new program's be taken for it. A thread
 * that is not its process' first takes over the first one's id.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(api_exec, struct task_struct *task, int old_tid)
{
	struct call_stack *stack = old_tid == task->pid ? stack_of(task) : near_stack(task, old_tid);

	names_change();
	if (!stack)
		return 0;
	if (old_tid != task->pid) {
		close_stack(task, stack);
		return 0;
	}
	if (is_target_thread(task))
		emit_open_calls(task, stack, 0, bpf_ktime_get_ns());
	stack->depth = 0;
	stack->own_version = 0;
	return 0;
}
