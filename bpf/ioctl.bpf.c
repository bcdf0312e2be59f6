// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ioctl.bpf.c - ioctls on character devices.
 *
 * The device is told by the file behind the descriptor, never by the command
 * number: the magic letters of drivers collide.
 */
#include "task.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

#define MODE_TYPE_MASK 0170000
#define MODE_CHARACTER 0020000

static __always_inline struct inode *descriptor_inode(__u32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = NULL;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file ? BPF_CORE_READ(file, f_inode) : NULL;
}

static __always_inline struct thread_state *own_state(void)
{
	return bpf_task_storage_get(&thread_states, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

SEC("tracepoint/syscalls/sys_enter_ioctl")
int ioctl_enter(struct trace_event_raw_sys_enter *ctx)
{
	struct thread_state *state;
	struct inode *inode;

	if (!is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	inode = descriptor_inode(ctx->args[0]);
	if (!inode || (BPF_CORE_READ(inode, i_mode) & MODE_TYPE_MASK) != MODE_CHARACTER)
		return 0;
	state = own_state();
	if (!state) {
		count_lost(SOURCE_IOCTL, LOSS_NO_MEMORY, 1);
		return 0;
	}
	state->ioctl_cmd = ctx->args[1];
	state->ioctl_fd = ctx->args[0];
	state->ioctl_rdev = BPF_CORE_READ(inode, i_rdev);
	state->ioctl_start_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void ioctl_write(struct thread_state *state, __u16 flags, __s32 ret)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u64 now = bpf_ktime_get_ns();
	struct rec_ioctl *r;
	struct emit e;

	r = emit_begin(&e, SOURCE_IOCTL, sizeof(*r));
	if (r) {
		header_fill(&r->header, REC_IOCTL, flags, state->ioctl_start_ns);
		r->dur_ns = now - state->ioctl_start_ns;
		r->tgid = id >> 32;
		r->tid = (__u32)id;
		r->cmd = state->ioctl_cmd;
		r->rdev = state->ioctl_rdev;
		r->ret = ret;
		r->fd = state->ioctl_fd;
		emit_end(&e, false);
	}
	state->ioctl_start_ns = 0;
}

SEC("tracepoint/syscalls/sys_exit_ioctl")
int ioctl_exit(struct trace_event_raw_sys_exit *ctx)
{
	struct thread_state *state;

	state = bpf_task_storage_get(&thread_states, bpf_get_current_task_btf(), 0, 0);
	if (state && state->ioctl_start_ns)
		ioctl_write(state, 0, ctx->ret);
	return 0;
}

/* A thread killed inside an ioctl never comes to sys_exit. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(ioctl_thread_exit, struct task_struct *task)
{
	struct thread_state *state;

	state = bpf_task_storage_get(&thread_states, task, 0, 0);
	if (state && state->ioctl_start_ns)
		ioctl_write(state, CALL_OPEN, 0);
	return 0;
}
