// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ioctl.bpf.c - ioctls on character and block devices.
 *
 * The file behind the descriptor identifies the device, never the command number: the magic letters of
 * drivers collide.
 *
 * There are three ways to attach, the best first: fentry and fexit on the function of the system call, which do
 * not affect other system calls; kprobes on the same function; the system call's tracepoints, which send
 * all system calls of the machine through the kernel's slow path. The function's argument is the caller's
 * registers.
 *
 * On preemptible kernels a thread can be preempted inside an fentry program; while it is, the kernel skips the
 * program for other threads on the same CPU. The kernel counts the skipped runs, and the daemon reports them as lost.
 */
#include "ioctl.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

static __always_inline struct thread_state *own_state(void)
{
	return thread_make(thread_states, current_task());
}

static __always_inline void ioctl_begins(__u32 fd, __u32 cmd)
{
	struct task_struct *task = current_task();
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *state;
	__u32 rdev;

	if (!descriptor_device(task, fd, &rdev))
		return;
	state = own_state();
	if (!state) {
		count_lost(SOURCE_IOCTL, LOSS_NO_MEMORY, 1);
		return;
	}
	if (state->ioctl_start_ns && state->ioctl_before)
		emit_ioctl(task, state, CALL_UNSEEN, 0, now);
	/* The previous return was missed: the kernel has a limited number of kretprobe instances. */
	else if (state->ioctl_start_ns)
		count_lost(SOURCE_IOCTL, LOSS_UNMATCHED, 1);
	state->ioctl_cmd = cmd;
	state->ioctl_fd = fd;
	state->ioctl_rdev = rdev;
	state->ioctl_before = 0;
	state->ioctl_start_ns = now;
}

static __always_inline bool is_own_target(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return may_be_target(tgid) && is_target(tgid);
}

/* Ioctls that are open when the session ends are written by snapshot.bpf.c. */
static __always_inline int ioctl_ends(__s32 ret)
{
	struct task_struct *task = current_task();
	struct thread_state *state;

	if (capture_stopped || !may_be_target(field_of(task, tgid)))
		return 0;
	state = thread_find(thread_states, task);
	if (state && state->ioctl_start_ns) {
		emit_ioctl(task, state, 0, ret, bpf_ktime_get_ns());
		state->ioctl_start_ns = 0;
	}
	return 0;
}

/* The second function serves 32-bit programs on a 64-bit kernel. features.c looks for both. */
#if defined(__TARGET_ARCH_x86)
#define FUNCTION "__x64_sys_ioctl"
#define COMPAT_FUNCTION "__ia32_compat_sys_ioctl"
#define COMPAT_PARM1(regs) BPF_CORE_READ(regs, bx)
#define COMPAT_PARM2(regs) BPF_CORE_READ(regs, cx)
#else
#define FUNCTION "__arm64_sys_ioctl"
#define COMPAT_FUNCTION "__arm64_compat_sys_ioctl"
#define COMPAT_PARM1(regs) PT_REGS_PARM1_CORE_SYSCALL(regs)
#define COMPAT_PARM2(regs) PT_REGS_PARM2_CORE_SYSCALL(regs)
#endif

static __always_inline int function_enter(const struct pt_regs *regs)
{
	if (is_own_target())
		ioctl_begins(PT_REGS_PARM1_CORE_SYSCALL(regs), PT_REGS_PARM2_CORE_SYSCALL(regs));
	return 0;
}

static __always_inline int compat_enter(const struct pt_regs *regs)
{
	if (is_own_target())
		ioctl_begins(COMPAT_PARM1(regs), COMPAT_PARM2(regs));
	return 0;
}

/*
 * Returns come first, because programs are attached in the order of this file: an ioctl whose entry alone was seen would
 * count as lost, and under load many follow before the next program is attached.
 */
SEC("fexit/" FUNCTION)
int BPF_PROG(ioctl_leave_function, const struct pt_regs *regs, long ret)
{
	return ioctl_ends(ret);
}

SEC("fentry/" FUNCTION)
int BPF_PROG(ioctl_enter_function, const struct pt_regs *regs)
{
	return function_enter(regs);
}

SEC("fexit/" COMPAT_FUNCTION)
int BPF_PROG(ioctl_leave_compat, const struct pt_regs *regs, long ret)
{
	return ioctl_ends(ret);
}

SEC("fentry/" COMPAT_FUNCTION)
int BPF_PROG(ioctl_enter_compat, const struct pt_regs *regs)
{
	return compat_enter(regs);
}

SEC("kretprobe/" FUNCTION)
int BPF_KRETPROBE(ioctl_leave_kprobe, long ret)
{
	return ioctl_ends(ret);
}

SEC("kprobe/" FUNCTION)
int BPF_KPROBE(ioctl_enter_kprobe, const struct pt_regs *regs)
{
	return function_enter(regs);
}

SEC("kretprobe/" COMPAT_FUNCTION)
int BPF_KRETPROBE(ioctl_leave_kprobe_compat, long ret)
{
	return ioctl_ends(ret);
}

SEC("kprobe/" COMPAT_FUNCTION)
int BPF_KPROBE(ioctl_enter_kprobe_compat, const struct pt_regs *regs)
{
	return compat_enter(regs);
}

SEC("tracepoint/syscalls/sys_exit_ioctl")
int ioctl_leave_tracepoint(struct trace_event_raw_sys_exit *ctx)
{
	return ioctl_ends(ctx->ret);
}

SEC("tracepoint/syscalls/sys_enter_ioctl")
int ioctl_enter_tracepoint(struct trace_event_raw_sys_enter *ctx)
{
	if (is_own_target())
		ioctl_begins(ctx->args[0], ctx->args[1]);
	return 0;
}

/* A thread that dies inside an ioctl does not return from it. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(ioctl_thread_exit, struct task_struct *task)
{
	struct thread_state *state;

	if (capture_closed)
		return 0;
	state = thread_find(thread_states, task);
	if (state && state->ioctl_start_ns) {
		emit_ioctl(task, state, state->ioctl_before ? CALL_UNSEEN : CALL_OPEN, 0, bpf_ktime_get_ns());
		state->ioctl_start_ns = 0;
	}
	return 0;
}
