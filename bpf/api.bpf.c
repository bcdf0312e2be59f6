// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * api.bpf.c - runtime API calls: entry and return of the probed functions.
 *
 * The entry probe notes the call on the thread's call stack; the record is written when the call ends.
 * Probes on the instructions that return from a function, or jump to another one, see that end: they
 * do not change the target's stack. Only functions that the catalog vouches for (plain) get a return
 * probe, as a session program (Linux 6.13), which decides for each call; see docs/safety.md.
 *
 * No function that runs in a uprobe may use more than 48 bytes of stack; for that reason some are not
 * inlined. tests/unit/test_bpf_stack.c checks the limit. Kernels since 6.13 give a program that uses
 * 64 bytes or more (rounded up by 16) one stack per CPU. These programs can be preempted: the next
 * thread on that CPU would overwrite the first thread's stack.
 */
#include "do_return.bpf.h"
#include "exit_places.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

volatile __u8 hot_functions[MAX_PROBES] = {};
volatile __u32 hot_hits[MAX_PROBES] = {};

extern __u64 *bpf_session_cookie(void) __ksym __weak;
/* The same function on kernels where it takes the context (7.0 and later). */
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
 * For functions that end only by returning: the kernel replaces the return address by its own, for
 * calls on the thread's own stack. The kernel sets the session cookie to 0 before the entry; the entry
 * sets it to 1, so its value tells the return from the entry.
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

/* For kernels where a program may write the registers of the thread that it interrupts. */
SEC("uprobe.multi")
int api_place_returning(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	at_place(ctx, cookie, true, true);
	if (cookie & PLACE_RETURN_PLAIN)
		do_return(ctx, cookie);
	return 0;
}

/* The daemon sets this when recording has ended, for the kernel removes these probes slowly, one by one. */
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
 * Ends the open calls of a thread that will not return from them, adds up its counts and frees its slot
 * in near_stacks. After recording has ended, open_calls() writes the open calls instead.
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
 * After an exec no call of the old program returns, and no call of the new program may be taken for one of
 * them. A thread that is not the first of its process takes over the first thread's id.
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
