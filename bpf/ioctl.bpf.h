/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ioctl.bpf.h - the device of an ioctl, and its record. */
#ifndef PROFBPF_IOCTL_BPF_H
#define PROFBPF_IOCTL_BPF_H

#include "task.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define IOCTL_SYSCALL 16 /* asm/unistd_64.h */
#else
#define IOCTL_SYSCALL 29 /* asm-generic/unistd.h */
#endif

#define MODE_TYPE_MASK 0170000
#define MODE_CHARACTER 0020000
#define MODE_BLOCK 0060000

static __always_inline struct inode *descriptor_inode(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = NULL;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file ? BPF_CORE_READ(file, f_inode) : NULL;
}

/* Returns false if the descriptor is not a device file's. */
static __always_inline bool descriptor_device(struct task_struct *task, __u32 fd, __u32 *rdev)
{
	struct inode *inode = descriptor_inode(task, fd);
	__u32 type;

	if (!inode)
		return false;
	type = BPF_CORE_READ(inode, i_mode) & MODE_TYPE_MASK;
	if (type != MODE_CHARACTER && type != MODE_BLOCK)
		return false;
	*rdev = BPF_CORE_READ(inode, i_rdev) | (type == MODE_BLOCK ? RDEV_BLOCK : 0);
	return true;
}

/* Writes the ioctl that the thread was in until @now. If its end was not seen, the duration is unknown. */
static __always_inline void emit_ioctl(struct task_struct *task, struct thread_state *state,
				       __u16 flags, __s32 ret, __u64 now)
{
	struct rec_ioctl *r;
	struct emit e;

	if (state->ioctl_before)
		flags |= CALL_BEFORE;
	else
		flags &= ~CALL_UNSEEN;
	r = emit_begin(&e, SOURCE_IOCTL, sizeof(*r));
	if (r) {
		header_fill(&r->header, REC_IOCTL, flags, state->ioctl_start_ns);
		r->dur_ns = flags & CALL_UNSEEN ? 0 : now - state->ioctl_start_ns;
		r->tgid = field_of(task, tgid);
		r->tid = field_of(task, pid);
		r->cmd = state->ioctl_cmd;
		r->rdev = state->ioctl_rdev;
		r->ret = ret;
		r->fd = state->ioctl_fd;
		emit_end(&e, false);
	}
}

#endif /* PROFBPF_IOCTL_BPF_H */
