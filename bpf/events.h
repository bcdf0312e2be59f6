/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause OR Apache-2.0 */
/*
 * events.h - the fixed-width records that the BPF programs write into the
 * per-CPU rings and the daemon reads from them.
 *
 * This, session_maps.h and unwind.h are the only headers shared by kernel and user space. Every record
 * starts with struct rec_header; all instants are CLOCK_MONOTONIC nanoseconds
 * (bpf_ktime_get_ns), all durations nanoseconds, all ids those of the initial
 * pid namespace. "tgid" is what user space calls the process id, "tid" what the
 * kernel calls pid.
 *
 * The layout and the numbers are private to one build of profbpf: they never reach
 * a file. The public format is proto/trace.proto, with enums of its own; the daemon
 * translates these into those (daemon/profbpfd/encode/trace_values.h).
 */
#ifndef PROFBPF_BPF_EVENTS_H
#define PROFBPF_BPF_EVENTS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define REC_COMM_LEN 16		/* TASK_COMM_LEN of the kernel */
#define REC_STRING_LEN 128	/* longest string argument kept, with its NUL */
#define REC_ARGS 3		/* arguments kept of a call */
#define REC_CALL_DEPTH 32	/* nested traced calls kept per thread */
#define REC_SYSCALL_NONE (-1)	/* rec_switch.syscall: not inside a system call */

enum rec_type {
	REC_NONE = 0,
	REC_CALL = 1,		/* struct rec_call */
	REC_STRING = 2,		/* struct rec_string */
	REC_IOCTL = 3,		/* struct rec_ioctl */
	REC_SWITCH = 4,		/* struct rec_switch */
	REC_WAKE = 5,		/* struct rec_wake */
	REC_TASK = 6,		/* struct rec_task */
	REC_ACCOUNT = 7,	/* struct rec_account */
	REC_INTERRUPT = 8,	/* struct rec_interrupt */
	REC_PROCESS = 16,	/* struct rec_process */
	REC_STAGED = 17,	/* struct rec_staged */
	REC_STACK = 20,		/* struct rec_stack, of any length */
	REC_FAULT = 24,		/* struct rec_fault */
	REC_BLOCK = 25,		/* struct rec_block */
	REC_TAIL = 26,		/* struct rec_tail */
	REC_TYPES
};

struct rec_header {
	__u16 type;		/* enum rec_type */
	__u16 flags;		/* see each record */
	__u32 cpu;		/* where it was written */
	__u64 ts_ns;		/* when the thing began (call, ioctl) or happened */
};

/* rec_call.header.flags, rec_ioctl.header.flags */
enum call_flag {
	CALL_OPEN = 0x01,	/* had not returned at detach or thread exit; dur_ns is up to then */
	CALL_HAS_STRING = 0x02,	/* "text" is the key of a REC_STRING that was sent before */
	CALL_RET_ZERO = 0x04,	/* the returned value was 0 in its full width (a null handle) */
	CALL_BEFORE = 0x08,	/* an ioctl that was under way when the session began, at ts_ns; dur_ns is a lower bound */
	CALL_UNSEEN = 0x10,	/* with CALL_BEFORE: it has returned unseen; dur_ns is 0 */
	CALL_LEFT = 0x20,	/* it never returned: an exception, a longjmp or the end of its stack went past it; dur_ns is up to when that was noticed */
	CALL_ENTRY = 0x40,	/* its end was not seen; dur_ns is 0, ret is unknown */
	CALL_RET_UNKNOWN = 0x80, /* its end was seen before the return value was set */
};
#define CALL_FLAGS 0xff		/* the mask of the flags above */
#define CALL_DEPTH_SHIFT 8	/* bits 8..15: nesting depth, 0 = outermost */

/* One call of a traced function, written when it ends. 72 bytes. */
struct rec_call {
	struct rec_header header;
	__u64 dur_ns;
	__u32 tgid;
	__u32 tid;
	__u32 probe;		/* index into the session's probe table */
	__u32 ret;		/* low 32 bits of the returned value; 0 if open */
	__u64 args[REC_ARGS];	/* as chosen by the probe's struct probe_conf; 0 if unused */
	__u64 text;		/* with CALL_HAS_STRING */
};

/*
 * A string argument, written before the record of the first call that has it, possibly on another CPU.
 * Calls refer to it by a 64-bit hash of its bytes: among a million strings two have the same hash once in
 * 37 million sessions.
 */
struct rec_string {
	struct rec_header header;
	__u64 key;
	__u32 len;		/* bytes before the NUL in str */
	char str[REC_STRING_LEN];
};

/* A traced function tail-jumped to code whose ends are not probed yet. For the daemon only, never in a file. */
struct rec_tail {
	struct rec_header header;
	__u32 tgid;
	__u32 probe;		/* the function's */
	__u64 address;		/* where it jumped to */
};

/* In rec_ioctl.rdev: the device is a block device. Linux major numbers end at 511, so the bit is free. */
#define RDEV_BLOCK 0x80000000u

/* One ioctl on a device file. */
struct rec_ioctl {
	struct rec_header header;
	__u64 dur_ns;
	__u32 tgid;
	__u32 tid;
	__u32 cmd;
	__u32 rdev;		/* kernel dev_t: major << 20 | minor; RDEV_BLOCK */
	__s32 ret;		/* negative errno or the ioctl's own value */
	__u32 fd;
};

/* rec_switch.state: why the previous thread left the CPU */
enum switch_state {
	SWITCH_PREEMPTED = 0,	/* still runnable */
	SWITCH_SLEEP = 1,	/* TASK_INTERRUPTIBLE */
	SWITCH_DISK = 2,	/* TASK_UNINTERRUPTIBLE */
	SWITCH_STOPPED = 3,	/* stopped, traced, parked or frozen */
	SWITCH_DEAD = 4,	/* exited */
};

/* rec_switch.header.flags */
enum switch_flag {
	SWITCH_PREV_TARGET = 0x01,	/* previous thread belongs to a traced process */
	SWITCH_NEXT_TARGET = 0x02,
	SWITCH_IOWAIT = 0x04,	/* previous thread was in an I/O wait (in_iowait) */
	SWITCH_FAULT = 0x08,	/* previous thread was in a page fault or exception */
	SWITCH_TIMEOUT = 0x10,	/* the system call it sleeps in has a timeout */
	SWITCH_THROTTLED = 0x20,	/* it left because its cgroup had used up its quota */
};
#define SWITCH_FLAGS 0xff	/* the mask of these flags, and of the flags of struct rec_wake */
#define SWITCH_KIND_SHIFT 8	/* bits 8..15: enum sleep_kind */

/* rec_switch.header.flags, bits 8..15: what the previous thread waits for. */
enum sleep_kind {
	SLEEP_NOTHING = 0,	/* none of the following, or unknown */
	SLEEP_FILE = 1,		/* regular file: object is the inode, device its file system's */
	SLEEP_DIRECTORY = 2,
	SLEEP_PIPE = 3,		/* object is the inode */
	SLEEP_UNIX = 4,		/* Unix socket; object is the inode of all sockets */
	SLEEP_INET = 5,		/* TCP or UDP socket */
	SLEEP_SOCKET = 6,	/* another socket */
	SLEEP_CHARACTER = 7,	/* character device: device is its own number */
	SLEEP_BLOCK = 8,	/* block device: device is its own number */
	SLEEP_EVENTFD = 9,	/* anonymous files have no object that means something */
	SLEEP_EPOLL = 10,
	SLEEP_TIMERFD = 11,
	SLEEP_SIGNALFD = 12,
	SLEEP_INOTIFY = 13,
	SLEEP_PIDFD = 14,
	SLEEP_ANONYMOUS = 15,	/* another file without a name */
	SLEEP_SEVERAL = 16,	/* poll or select: object is the number of descriptors, 0 = not known */
	SLEEP_FUTEX = 17,	/* object is the address */
	SLEEP_CHILD = 18,	/* object is the process, 0 = any child */
	SLEEP_KINDS
};

/* One context switch. header.cpu is the CPU it happened on. */
struct rec_switch {
	struct rec_header header;
	__u32 prev_tid;		/* 0 = idle */
	__u32 next_tid;
	__s16 syscall;		/* system call the previous thread is in, or REC_SYSCALL_NONE */
	__u8 state;		/* enum switch_state */
	__u8 prev_prio;		/* kernel priority, 0..139 */
	__u32 device;		/* see enum sleep_kind: kernel dev_t, major << 20 | minor */
	__u64 object;		/* see enum sleep_kind */
	__s32 fd;		/* the descriptor; -1 = none */
	__u32 refill_ns;	/* SWITCH_THROTTLED: how long its group has no quota at least; 0 = not known */
};

#define REC_STAGED_MAX 16

/*
 * Several switches and wake-ups (struct rec_wake in the place of a switch) of one CPU. In a ring the first
 * "sent" of them are valid; in the map "staged" the first "count", which were not sent yet.
 */
struct rec_staged {
	struct rec_header header;
	__u32 count;
	__u32 sent;
	struct rec_switch record[REC_STAGED_MAX];
};

/* rec_wake.header.flags; bits 8..15 (SWITCH_KIND_SHIFT): enum sleep_kind of the file that woke a thread that waited for several */
enum wake_flag {
	WAKE_NEW = 0x01,	/* first wake-up of a new thread */
	WAKE_HARDIRQ = 0x02,	/* woken from a hardware interrupt */
	WAKE_SOFTIRQ = 0x04,	/* woken from a software interrupt (network, block I/O, old timers) */
	WAKE_TIMER = 0x08,	/* woken by a timer: a sleep or a timeout ended */
	WAKE_SENT = 0x10,	/* the file is the waker's: the socket that it was sending to */
};
#define WAKE_INTERRUPT (WAKE_HARDIRQ | WAKE_SOFTIRQ | WAKE_TIMER)

/* One wake-up of a thread that was asleep. header.cpu is the waker's CPU. */
struct rec_wake {
	struct rec_header header;
	__u32 waker_tid;	/* the thread that was running (or was interrupted); 0 = idle */
	__u32 tid;		/* the woken thread */
	__u32 target_cpu;	/* CPU it last ran on */
	__u32 source;		/* the interrupt, unless it is a timer: see WAKE_IRQ */
	__u64 object;		/* as in rec_switch, for the file that woke it */
	__u32 device;
	__s32 fd;
};

/* rec_wake.source: 0 = not known, WAKE_IRQ | number of a hardware interrupt, else 1 + number of a software interrupt */
#define WAKE_IRQ 0x80000000u

/*
 * One major page fault, recorded when it has been served. header.ts_ns is the time when the thread first went
 * to sleep in it; if that is unknown or it did not sleep, the time when it was served, and dur_ns is 0.
 */
struct rec_fault {
	struct rec_header header;
	__u64 dur_ns;
	__u32 tgid;
	__u32 tid;
	__u64 address;		/* the address that was accessed */
};

/* rec_block.header.flags */
enum block_flag {
	BLOCK_ISSUED = 0x01,	/* it went to the device: wait_ns is known */
	BLOCK_SYNC = 0x02,	/* synchronous: a thread waits for it */
	BLOCK_META = 0x04,	/* metadata of a file system */
	BLOCK_FUA = 0x08,	/* written through the device's cache */
	BLOCK_FLUSH = 0x10,	/* empties the device's cache, before writing or instead of it */
	BLOCK_AHEAD = 0x20,	/* read ahead of need */
	BLOCK_FAILED = 0x40,
};

/* rec_block.operation */
enum block_operation {
	BLOCK_READ = 0,
	BLOCK_WRITE = 1,
	BLOCK_CACHE_FLUSH = 2,
	BLOCK_DISCARD = 3,
	BLOCK_OTHER = 4,
	BLOCK_OPERATIONS
};

/* One request to a block device, written when it is complete; header.ts_ns is the time when it was made. */
struct rec_block {
	struct rec_header header;
	__u64 dur_ns;		/* from header.ts_ns to the completion */
	__u64 wait_ns;		/* the part of dur_ns before it went to the device */
	__u64 sector;		/* in units of 512 bytes; 0 for a flush */
	__u32 bytes;
	__u32 tgid;		/* the process and the thread that made it */
	__u32 tid;
	__u32 rdev;		/* the disk: kernel dev_t | RDEV_BLOCK */
	__u32 operation;	/* enum block_operation */
	__u32 reserved;
};

/*
 * Consecutive or nested interrupts that took the CPU from a target's thread; header.ts_ns is their start,
 * header.flags the WAKE_INTERRUPT bits of their kinds.
 */
struct rec_interrupt {
	struct rec_header header;
	__u64 dur_ns;
	__u32 tid;
	__u32 source;		/* the interrupt at their end, as rec_wake.source */
};

/* rec_task.event */
enum task_event {
	TASK_SEEN = 0,		/* a thread's identity, sent before anything that names it */
	TASK_FORK = 1,		/* new thread or process; parent fields are filled */
	TASK_EXEC = 2,		/* new program in this process */
	TASK_RENAME = 3,	/* new thread name */
	TASK_EXIT = 4,
	TASK_DROPPED = 5,	/* no longer a target: this is its last record */
};

/* rec_task.header.flags */
enum task_flag {
	TASK_TARGET = 0x01,	/* belongs to a traced process */
	TASK_KTHREAD = 0x02,
	TASK_LAST = 0x04,	/* TASK_EXIT: the last thread of its process */
};

struct rec_task {
	struct rec_header header;
	__u32 tid;
	__u32 tgid;
	__u32 parent_tgid;	/* real parent process; for TASK_FORK the forking process */
	__u32 parent_tid;	/* TASK_FORK: the forking thread */
	__u32 event;		/* enum task_event */
	__u32 exit_code;	/* TASK_EXIT: as wait(2) gives it */
	__u64 start_ns;		/* task's start time, CLOCK_MONOTONIC */
	char comm[REC_COMM_LEN];
};

/* rec_account.header.flags */
enum account_flag {
	ACCOUNT_FINAL = 0x01,	/* the thread has exited: these are its final figures */
	ACCOUNT_RUNNING = 0x02,	/* on a CPU at ts_ns */
	ACCOUNT_QUEUED = 0x04,	/* runnable, not on a CPU, at ts_ns */
	ACCOUNT_TARGET = 0x08,
	ACCOUNT_FIRST = 0x10,	/* taken at the start of the session */
	ACCOUNT_IOWAIT = 0x20,	/* asleep in an I/O wait */
	ACCOUNT_DISK = 0x40,	/* asleep uninterruptibly */
	ACCOUNT_FAULT = 0x80,	/* asleep in a page fault or exception */
	ACCOUNT_HAS_IO = 0x100,	/* io_ns is known */
	ACCOUNT_HAS_BYTES = 0x200,	/* bytes read and written are known */
};

/*
 * The kernel's own cumulative figures of one thread since it started. They cost nothing per switch, because
 * the kernel keeps them in any case.
 */
struct rec_account {
	struct rec_header header;
	__u32 tid;
	__u32 tgid;
	__u64 run_ns;		/* se.sum_exec_runtime */
	__u64 runnable_ns;	/* sched_info.run_delay; 0 where the kernel lacks it */
	__u64 user_ns;		/* utime as the tick sees it */
	__u64 system_ns;	/* stime as the tick sees it */
	__u64 voluntary;	/* nvcsw */
	__u64 involuntary;	/* nivcsw */
	__u64 migrations;	/* se.nr_migrations */
	__u64 minor_faults;
	__u64 major_faults;
	__u64 io_ns; /* waits for block I/O: delays->blkio_delay, kept with task_delayacct only */
	__u64 read_bytes;	/* from and to devices; the kernel charges writes from the page cache */
	__u64 write_bytes;	/* to the thread that dirtied the page */
	__u64 read_chars;	/* by read, write and similar system calls, from and to any file */
	__u64 write_chars;
	__s32 syscall;		/* system call it sleeps in, or REC_SYSCALL_NONE; snapshots only */
	__u32 reserved;
};

/* rec_process.header.flags */
enum process_flag {
	PROCESS_FINAL = 0x01,	/* its last thread exits */
	PROCESS_HAS_RSS = 0x02,	/* rss_pages is known */
	PROCESS_TARGET = 0x08,
	PROCESS_FIRST = 0x10,	/* taken at the start of the session */
};

/* The state of a process as a whole; sent when any of it has changed. */
struct rec_process {
	struct rec_header header;
	__u32 tgid;
	__u32 threads;		/* signal->nr_threads: zombies count */
	__u32 ns_pid;		/* its id in its own pid namespace; 0 = unknown */
	__u32 ns_inode;		/* that namespace's inode number, as /proc/PID/ns/pid shows it */
	__u64 cgroup;		/* inode of the group that holds its CPU quota; 0 = unknown */
	__u64 rss_pages;	/* up to a few pages per CPU off, as the kernel keeps it */
	__u64 peak_pages;
	__u64 gone_run_ns;	/* sums over threads that have exited and been reaped: */
	__u64 gone_user_ns;	/* signal->sum_sched_runtime, utime, stime */
	__u64 gone_system_ns;
};

/* A Python function of a stack. Not validated: the interpreter may have changed its memory while it was read. */
struct rec_python_frame {
	__u64 code;		/* address of its code object, with PYTHON_FRAME_ENTRY; 0 = a frame of C code */
	__u64 instruction;	/* as stored in the frame: an index or an address */
};
#define PYTHON_FRAME_ENTRY (1ull << 63)	/* bit of "code": the outermost frame of one entry into the interpreter's loop */

/* Limits of a stack's frames. Imports nest deeply: `import torch` reaches more than 300 native and 190 Python frames. */
#define REC_PYTHON_FRAMES 232
#define REC_USER_FRAMES 511	/* one less than a power of two */
#define REC_KERNEL_FRAMES 48
/* Limits of a stack that a thread walked before it slept: the frames stay in the thread's storage meanwhile. */
#define SLEEPER_PYTHON_FRAMES 104
#define SLEEPER_USER_FRAMES 255

/* rec_stack.header.flags */
enum stack_flag {
	STACK_BLOCK = 0x01,	/* the stack of a sleep; else of a thread on a CPU */
	STACK_LOCK = 0x08,	/* the thread waited for its Python interpreter's lock */
	STACK_SHORT = 0x10,	/* the sleep was too short for its stack to be kept */
	STACK_WHOLE = 0x20,	/* the user stack reaches the start of the thread */
	STACK_HAD_LOCK = 0x40,	/* the thread held its Python interpreter's lock */
	STACK_NO_LOCK = 0x80,	/* the thread is known not to have held that lock */
	STACK_STILL = 0x100,	/* with STACK_BLOCK: the thread sleeps at ts_ns; see enum sleeper_word */
};

/*
 * STACK_STILL: the words that such a record has in place of user addresses. The daemon unwinds the user stack by them: a BPF
 * program cannot read another thread's user memory without waiting for pages that are not there.
 */
enum sleeper_word {
	SLEEPER_INSTRUCTION, /* current instruction in user space */
	SLEEPER_STACK_POINTER, /* 0 for a 32-bit process, which is not unwound */
	SLEEPER_FRAME_POINTER,
	SLEEPER_LINK,
	SLEEPER_RAN_NS, /* se.sum_exec_runtime: the stack is unchanged as long as this is */
	SLEEPER_WORDS
};

/*
 * The stacks of a thread at one instant: code addresses of the user stack, then of the kernel stack, each
 * from the innermost frame outwards. The first user address is the current instruction, the others are
 * return addresses.
 */
struct rec_stack {
	struct rec_header header;	/* ts_ns: the time of the sample, or the start of the sleep */
	__u64 dur_ns;			/* STACK_BLOCK: until the wake-up; else 0 */
	__u32 tgid;
	__u32 tid;
	__u32 user_frames;
	__u32 kernel_frames;
	__u32 waker;		/* STACK_LOCK: the thread that woke it; 0 = a timeout, or unknown */
	__u32 python_frames;
	/* __u64 address[user_frames + kernel_frames] follows, then struct rec_python_frame[python_frames] */
};

/* Sources that count what they produce; index into map "stats". */
enum source {
	SOURCE_API = 0,
	SOURCE_IOCTL,
	SOURCE_SCHED,		/* switches and wake-ups */
	SOURCE_TASK,		/* tasks, accounts, strings of calls */
	SOURCE_STACK,		/* stacks of samples and of sleeps */
	SOURCE_FAULT,		/* major page faults */
	SOURCE_BLOCK,		/* requests to block devices */
	SOURCES
};

/* Why a record was lost in the kernel. */
enum loss {
	LOSS_RING_FULL = 0,
	LOSS_TOO_DEEP,		/* more than REC_CALL_DEPTH nested calls */
	LOSS_NO_MEMORY,		/* task-local storage or a map entry could not be allocated */
	LOSS_UNMATCHED,		/* not used any more */
	LOSS_BUSY,		/* the program was running on that CPU: an upper bound, other processes included */
	LOSS_PLACE,		/* the probe could not be identified */
	LOSSES
};

/* Per-CPU counters; produced = records delivered to the ring + sum of lost. */
struct source_stats {
	__u64 produced;
	__u64 lost[LOSSES];
};

#endif /* PROFBPF_BPF_EVENTS_H */
