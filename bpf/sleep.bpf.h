/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sleep.bpf.h - the object that a thread sleeps on: the file, futex or child that its system call waits for, and
 * whether the call has a timeout.
 *
 * Read from the registers saved at the system call and from the thread's file table, when the thread leaves its
 * CPU. It is then still the current thread, so its memory can be read, too. Since 6.2 programs can follow
 * pointers without a helper call for each (bpf_rdonly_cast).
 */
#ifndef PROFBPF_SLEEP_BPF_H
#define PROFBPF_SLEEP_BPF_H

#include "profbpf.bpf.h"

void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

#define TYPE_BITS 0170000 /* of i_mode, include/uapi/linux/stat.h */
#define TYPE_SOCKET 0140000
#define TYPE_REGULAR 0100000
#define TYPE_BLOCK 0060000
#define TYPE_DIRECTORY 0040000
#define TYPE_CHARACTER 0020000
#define TYPE_FIFO 0010000

#define ANON_INODE_MAGIC 0x09041934 /* include/uapi/linux/magic.h */

#define FAMILY_UNIX 1 /* include/linux/socket.h */
#define FAMILY_INET 2
#define FAMILY_INET6 10

#define WAIT_PROCESS 1 /* P_PID of waitid(2) */

/* The arguments of a thread's system call. */
struct syscall_facts {
	__u64 arg[5];
};

/* The object that a thread waits for; see struct rec_switch. */
struct sleep_facts {
	__u64 object;
	struct file *epoll; /* the file if it is an epoll instance */
	bool polls; /* several files, in poll or select */
	__u32 device;
	__s32 fd;
	__u16 flags;
};

/* fs/eventpoll.c */
struct epoll_filefd___of_epoll {
	struct file *file;
	int fd;
} __attribute__((preserve_access_index));

struct epitem___of_epoll {
	struct list_head rdllink;
	struct epoll_filefd___of_epoll ffd;
} __attribute__((preserve_access_index));

struct eventpoll___of_epoll {
	struct list_head rdllist;
} __attribute__((preserve_access_index));

enum wait_class {
	WAIT_OTHER,
	WAIT_FILE,	/* argument 0 is a descriptor */
	WAIT_FUTEX,	/* argument 0 an address, 3 a time or NULL */
	WAIT_FUTEX2,	/* the same, 4 a time or NULL */
	WAIT_FUTEXES,	/* argument 3 a time or NULL */
	WAIT_EPOLL,	/* argument 0 a descriptor, 3 milliseconds */
	WAIT_EPOLL2,	/* argument 0 a descriptor, 3 a time or NULL */
	WAIT_POLL,	/* argument 0 descriptors, 1 how many, 2 milliseconds */
	WAIT_PPOLL,	/* the same, 2 a time or NULL */
	WAIT_SELECT,	/* argument 4 a time or NULL */
	WAIT_SIGNAL,	/* argument 2 a time or NULL */
	WAIT_TIME,
	WAIT_CHILD,	/* argument 0 a process */
	WAIT_CHILD_ID,	/* argument 0 the kind, 1 a process */
};

static __always_inline enum wait_class wait_class(__s32 number)
{
#if defined(__TARGET_ARCH_x86)
	switch (number) {
	case 0: case 1: case 17: case 18: case 19: case 20:	/* read write pread64 pwrite64 readv writev */
	case 40: case 42: case 43: case 44: case 45: case 46: case 47:	/* sendfile connect accept send.. recv.. */
	case 72: case 73: case 74: case 75:			/* fcntl flock fsync fdatasync */
	case 16: case 78: case 217: case 288: case 295: case 296: case 299: case 307: case 326:
		return WAIT_FILE;
	case 202: return WAIT_FUTEX;
	case 455: return WAIT_FUTEX2;
	case 449: return WAIT_FUTEXES;
	case 232: case 281: return WAIT_EPOLL;
	case 441: return WAIT_EPOLL2;
	case 7: return WAIT_POLL;
	case 271: return WAIT_PPOLL;
	case 23: case 270: return WAIT_SELECT;
	case 128: return WAIT_SIGNAL;
	case 35: case 230: return WAIT_TIME;
	case 61: return WAIT_CHILD;
	case 247: return WAIT_CHILD_ID;
	}
#elif defined(__TARGET_ARCH_arm64)
	switch (number) {
	case 63: case 64: case 65: case 66: case 67: case 68: case 69: case 70:
	case 71: case 202: case 203: case 206: case 207: case 211: case 212: case 242: case 243:
	case 25: case 32: case 82: case 83: case 29: case 61: case 269: case 285:
		return WAIT_FILE;
	case 98: return WAIT_FUTEX;
	case 455: return WAIT_FUTEX2;
	case 449: return WAIT_FUTEXES;
	case 22: return WAIT_EPOLL;
	case 441: return WAIT_EPOLL2;
	case 73: return WAIT_PPOLL;
	case 72: return WAIT_SELECT;
	case 137: return WAIT_SIGNAL;
	case 101: case 115: return WAIT_TIME;
	case 260: return WAIT_CHILD;
	case 95: return WAIT_CHILD_ID;
	}
#endif
	return WAIT_OTHER;
}

/* Returns false if the thread runs a 32-bit program: its system calls have other numbers. */
static __always_inline bool read_arguments(const struct pt_regs *regs, struct syscall_facts *s)
{
#if defined(__TARGET_ARCH_x86)
	s->arg[0] = regs->di;
	s->arg[1] = regs->si;
	s->arg[2] = regs->dx;
	s->arg[3] = regs->r10;
	s->arg[4] = regs->r8;
	return regs->cs != 0x23; /* __USER32_CS */
#elif defined(__TARGET_ARCH_arm64)
	s->arg[0] = regs->orig_x0;
	s->arg[1] = regs->user_regs.regs[1];
	s->arg[2] = regs->user_regs.regs[2];
	s->arg[3] = regs->user_regs.regs[3];
	s->arg[4] = regs->user_regs.regs[4];
	return !(regs->user_regs.pstate & 0x10); /* PSR_MODE32_BIT */
#else
	return false;
#endif
}

static __always_inline struct file *file_of(struct task_struct *task, __u32 fd)
{
	struct file *file = NULL;
	struct fdtable *table;
	struct file **files;

	table = BPF_CORE_READ(task, files, fdt);
	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file;
}

/* The same without helper calls. */
static __always_inline struct file *file_of_current(struct task_struct *task, __u32 fd)
{
	struct files_struct *open = task->files;
	struct fdtable *table;
	struct file *file = NULL;
	struct list_head *slot;

	if (!open)
		return NULL;
	table = bpf_rdonly_cast(open->fdt, settings.type_fdtable);
	if (fd >= table->max_fds)
		return NULL;
	/* No kernel type is an array of file pointers: struct list_head begins with a pointer. */
	slot = bpf_rdonly_cast((void *)((__u64)table->fd + fd * sizeof(file)),
			       settings.type_list_head);
	file = (struct file *)slot->next;
	return file;
}

static __always_inline __u8 socket_kind(__u16 family)
{
	if (family == FAMILY_UNIX)
		return SLEEP_UNIX;
	return family == FAMILY_INET || family == FAMILY_INET6 ? SLEEP_INET : SLEEP_SOCKET;
}

/* The name of its directory entry, such as "[eventfd]", identifies the kind of an anonymous file. */
static __always_inline __u8 anonymous_kind(const unsigned char *name)
{
	char text[8] = "";

	bpf_probe_read_kernel(text, sizeof(text), name);
	if (text[1] == 'e' && text[6] == 'f')
		return SLEEP_EVENTFD;
	if (text[1] == 'e' && text[6] == 'p')
		return SLEEP_EPOLL;
	if (text[1] == 't' && text[2] == 'i')
		return SLEEP_TIMERFD;
	if (text[1] == 's' && text[2] == 'i')
		return SLEEP_SIGNALFD;
	if (text[0] == 'i' && text[1] == 'n')
		return SLEEP_INOTIFY;
	return text[1] == 'p' && text[2] == 'i' ? SLEEP_PIDFD : SLEEP_ANONYMOUS;
}

static __always_inline __u8 kind_of(__u16 mode)
{
	switch (mode & TYPE_BITS) {
	case TYPE_SOCKET: return SLEEP_SOCKET;
	case TYPE_REGULAR: return SLEEP_FILE;
	case TYPE_BLOCK: return SLEEP_BLOCK;
	case TYPE_DIRECTORY: return SLEEP_DIRECTORY;
	case TYPE_CHARACTER: return SLEEP_CHARACTER;
	case TYPE_FIFO: return SLEEP_PIPE;
	default: return SLEEP_ANONYMOUS;
	}
}

static __always_inline __u8 describe_cast(struct file *at, struct sleep_facts *facts)
{
	struct file *file = bpf_rdonly_cast(at, settings.type_file);
	struct inode *inode = file->f_inode;
	struct socket *socket;
	__u8 kind = kind_of(inode->i_mode);

	facts->object = inode->i_ino;
	facts->device = inode->i_sb->s_dev;
	if (kind == SLEEP_PIPE)
		return kind;
	if (kind == SLEEP_SOCKET) {
		socket = bpf_rdonly_cast(file->private_data, settings.type_socket);
		return socket_kind(socket->sk->__sk_common.skc_family);
	}
	if (kind == SLEEP_CHARACTER || kind == SLEEP_BLOCK)
		facts->device = inode->i_rdev;
	else if (inode->i_sb->s_magic == ANON_INODE_MAGIC)
		return anonymous_kind(file->f_path.dentry->d_name.name);
	return kind;
}

static __always_inline __u8 describe_read(struct file *file, struct sleep_facts *facts)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct socket *socket;
	__u8 kind = kind_of(BPF_CORE_READ(inode, i_mode));

	facts->object = BPF_CORE_READ(inode, i_ino);
	facts->device = BPF_CORE_READ(inode, i_sb, s_dev);
	if (kind == SLEEP_PIPE)
		return kind;
	if (kind == SLEEP_SOCKET) {
		socket = BPF_CORE_READ(file, private_data);
		return socket_kind(BPF_CORE_READ(socket, sk, __sk_common.skc_family));
	}
	if (kind == SLEEP_CHARACTER || kind == SLEEP_BLOCK)
		facts->device = BPF_CORE_READ(inode, i_rdev);
	else if (BPF_CORE_READ(inode, i_sb, s_magic) == ANON_INODE_MAGIC)
		return anonymous_kind(BPF_CORE_READ(file, f_path.dentry, d_name.name));
	return kind;
}

static __always_inline __u8 describe_file(struct task_struct *task, __u32 fd,
					  struct sleep_facts *facts)
{
	struct file *file;

	facts->fd = fd;
	if (settings.typed_pointers && bpf_ksym_exists(bpf_rdonly_cast)) {
		file = file_of_current(task, fd);
		facts->epoll = file;
		return file ? describe_cast(file, facts) : SLEEP_NOTHING;
	}
	file = file_of(task, fd);
	facts->epoll = file;
	return file ? describe_read(file, facts) : SLEEP_NOTHING;
}

/*
 * Before epoll wakes a sleeping thread, whose ready list was empty, it adds the ready file to that list: the first
 * file in the list is the one that woke the thread. @epoll is open, because a thread sleeps in a call on it.
 */
static __always_inline void describe_ready(struct file *epoll, struct sleep_facts *facts)
{
	struct eventpoll___of_epoll *of = NULL;
	struct epitem___of_epoll *item = NULL;
	struct list_head *list, *first;
	struct file *file;

	if (!bpf_core_field_exists(of->rdllist) || !bpf_core_field_exists(item->rdllink) ||
	    !bpf_core_field_exists(item->ffd.file))
		return;
	of = BPF_CORE_READ(epoll, private_data);
	if (!of)
		return;
	list = (struct list_head *)((void *)of + bpf_core_field_offset(of->rdllist));
	first = BPF_CORE_READ(list, next);
	if (!first || first == list)
		return;
	item = (void *)first - bpf_core_field_offset(item->rdllink);
	file = BPF_CORE_READ(item, ffd.file);
	if (!file)
		return;
	facts->fd = BPF_CORE_READ(item, ffd.fd);
	facts->flags = describe_read(file, facts) << SWITCH_KIND_SHIFT;
}

/* A single descriptor is described like that of a read; of several only the number is recorded. */
static __always_inline bool polled_fd(const struct syscall_facts *s, struct sleep_facts *facts,
				      __s32 *fd)
{
	struct pollfd polled = { .fd = -1 };

	facts->object = (__u32)s->arg[1];
	if ((__u32)s->arg[1] != 1)
		return false;
	bpf_probe_read_user(&polled, sizeof(polled), (void *)s->arg[0]);
	*fd = polled.fd;
	return polled.fd >= 0;
}

static __always_inline bool gave_time(enum wait_class class, const struct syscall_facts *s)
{
	switch (class) {
	case WAIT_FUTEX:
	case WAIT_FUTEXES:
	case WAIT_EPOLL2: return s->arg[3] != 0;
	case WAIT_FUTEX2:
	case WAIT_SELECT: return s->arg[4] != 0;
	case WAIT_EPOLL: return (__s32)s->arg[3] >= 0;
	case WAIT_POLL: return (__s32)s->arg[2] >= 0;
	case WAIT_PPOLL:
	case WAIT_SIGNAL: return s->arg[2] != 0;
	case WAIT_TIME: return true;
	default: return false;
	}
}

/* Describes the object that @task, the current thread, sleeps on; @regs are those of its system call @number. */
static __always_inline void describe_sleep(struct task_struct *task, const struct pt_regs *regs,
					   __s32 number, struct sleep_facts *facts)
{
	__u8 kind = SLEEP_NOTHING;
	struct syscall_facts s;
	enum wait_class class;
	__s32 fd = -1;

	if (!read_arguments(regs, &s))
		return;
	class = unfollowed(wait_class(number), s.arg[0]);
	if (class == WAIT_OTHER)
		return;
	switch (class) {
	case WAIT_FILE:
	case WAIT_EPOLL:
	case WAIT_EPOLL2: fd = (__s32)s.arg[0]; break;
	case WAIT_POLL:
	case WAIT_PPOLL: kind = polled_fd(&s, facts, &fd) ? SLEEP_NOTHING : SLEEP_SEVERAL; break;
	case WAIT_FUTEX:
	case WAIT_FUTEX2:
		kind = SLEEP_FUTEX;
		facts->object = s.arg[0];
		break;
	case WAIT_SELECT: kind = SLEEP_SEVERAL; break;
	case WAIT_CHILD:
		kind = SLEEP_CHILD;
		facts->object = (__s32)s.arg[0] > 0 ? s.arg[0] : 0;
		break;
	case WAIT_CHILD_ID:
		kind = SLEEP_CHILD;
		facts->object = s.arg[0] == WAIT_PROCESS ? s.arg[1] : 0;
		break;
	default: break;
	}
	class = unfollowed(class, s.arg[0]);
	fd = unfollowed(fd, s.arg[0]);
	if (fd >= 0)
		kind = describe_file(task, fd, facts);
	if (kind != SLEEP_EPOLL)
		facts->epoll = NULL;
	facts->polls = kind == SLEEP_SEVERAL;
	facts->flags = kind << SWITCH_KIND_SHIFT | (gave_time(class, &s) ? SWITCH_TIMEOUT : 0);
}

/*
 * The kernel does not keep which of several files woke a poll or select. Between sockets of one host the network interrupt
 * is handled where the packet is sent: the socket that @waker, the current thread, sends to is the peer of that file.
 */
static __always_inline void describe_sent(struct task_struct *waker, struct sleep_facts *facts)
{
	const struct pt_regs *regs;
	struct syscall_facts s;
	struct file *file;
	__u16 ignored = 0;
	__s16 syscall;
	__u8 kind;

	if (field_of(waker, flags) & PF_KTHREAD_FLAG)
		return;
	regs = user_regs(waker, REGISTERS_OF_SWITCH);
	if (!regs || !read_arguments(regs, &s))
		return;
	syscall = syscall_in(regs, &ignored);
	if (syscall == REC_SYSCALL_NONE || wait_class(syscall) != WAIT_FILE)
		return;
	file = file_of(waker, (__u32)s.arg[0]);
	if (!file)
		return;
	kind = describe_read(file, facts);
	if (kind == SLEEP_INET)
		facts->flags = kind << SWITCH_KIND_SHIFT | WAKE_SENT;
}

#endif /* PROFBPF_SLEEP_BPF_H */
