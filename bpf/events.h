/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause OR Apache-2.0 */
/*
 * events.h - the fixed-width records that the BPF programs write into the
 * per-CPU rings and the daemon reads from them.
 *
 * This and unwind.h are the only headers shared by kernel and user space. Every record starts
 * with struct rec_header; all instants are CLOCK_MONOTONIC nanoseconds
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
	CALL_BEFORE = 0x08,	/* of ioctls: found under way when the session began, at ts_ns; dur_ns is a lower bound */
	CALL_UNSEEN = 0x10,	/* of those: it has returned, but not where anybody saw it; dur_ns is 0 */
	CALL_LEFT = 0x20,	/* it never returned: an exception, a longjmp or the end of its stack went past it; dur_ns is up to when that was noticed */
	CALL_ENTRY = 0x40,	/* when it ended was not seen; dur_ns is 0, ret is not known */
};
#define CALL_FLAGS 0xff		/* those above */
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
 * A string argument, written when a call first has it: before that call's record, possibly on
 * another CPU. Calls name it by a hash of its bytes, of 64 bits: two of a million strings
 * are taken for one another once in 37 million sessions.
 */
struct rec_string {
	struct rec_header header;
	__u64 key;
	__u32 len;		/* bytes before the NUL in str */
	char str[REC_STRING_LEN];
};

/* A traced function went on in code whose ends are not probed yet: for the daemon, never in a file. */
struct rec_tail {
	struct rec_header header;
	__u32 tgid;
	__u32 reserved;
	__u64 address;		/* where it jumped to */
};

/* In rec_ioctl.rdev: a block device. Majors of Linux do not go that far (they end at 511). */
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
	SWITCH_TIMEOUT = 0x10,	/* the call it sleeps in was given a time to give up at */
	SWITCH_THROTTLED = 0x20,	/* it left because its cgroup had used up its quota */
};
#define SWITCH_FLAGS 0xff	/* those above */
#define SWITCH_KIND_SHIFT 8	/* bits 8..15: enum sleep_kind */

/* rec_switch.header.flags, bits 8..15: what the previous thread waits for. */
enum sleep_kind {
	SLEEP_NOTHING = 0,	/* nothing of these, or not known */
	SLEEP_FILE = 1,		/* regular file: object is the inode, device its file system's */
	SLEEP_DIRECTORY = 2,
	SLEEP_PIPE = 3,		/* object is the inode */
	SLEEP_UNIX = 4,		/* Unix socket; object is the inode of all sockets */
	SLEEP_INET = 5,		/* TCP or UDP socket */
	SLEEP_SOCKET = 6,	/* another socket */
	SLEEP_CHARACTER = 7,	/* character device: device is its own number */
	SLEEP_BLOCK = 8,	/* block device: the same */
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
	__u64 object;		/* the same */
	__s32 fd;		/* the descriptor; -1 = none */
	__u32 reserved;
};

#define REC_STAGED_MAX 16

/*
 * Several switches and wake-ups (struct rec_wake in the place of a switch) of one CPU.
 * In a ring "sent" of them are meant; in the map "staged" there are "count" that
 * were not sent.
 */
struct rec_staged {
	struct rec_header header;
	__u32 count;
	__u32 sent;
	struct rec_switch record[REC_STAGED_MAX];
};

/* rec_wake.header.flags */
enum wake_flag {
	WAKE_NEW = 0x01,	/* first wake-up of a new thread */
	WAKE_HARDIRQ = 0x02,	/* woken from a hardware interrupt */
	WAKE_SOFTIRQ = 0x04,	/* woken from a software interrupt (network, block I/O, old timers) */
	WAKE_TIMER = 0x08,	/* woken by a timer: a sleep or a timeout ended */
};
#define WAKE_INTERRUPT (WAKE_HARDIRQ | WAKE_SOFTIRQ | WAKE_TIMER)

/* One wake-up of a thread that was asleep. header.cpu is the waker's CPU. */
struct rec_wake {
	struct rec_header header;
	__u32 waker_tid;	/* the thread that ran (or was interrupted) then; 0 = idle */
	__u32 tid;		/* who was woken */
	__u32 target_cpu;	/* CPU it last ran on */
	__u32 source;		/* WAKE_INTERRUPT, no timer: which; see WAKE_IRQ */
};

/* rec_wake.source: 0 = not known, WAKE_IRQ | number of a hardware interrupt, else 1 + number of a software interrupt */
#define WAKE_IRQ 0x80000000u

/*
 * One page fault for which the page had to be fetched: a major one. It is recorded
 * when it is served. header.ts_ns is when the thread first went to sleep in it, or
 * when it was served if that is not known or it did not sleep; dur_ns then is 0.
 */
struct rec_fault {
	struct rec_header header;
	__u64 dur_ns;
	__u32 tgid;
	__u32 tid;
	__u64 address;		/* that was touched */
};

/* rec_block.header.flags */
enum block_flag {
	BLOCK_ISSUED = 0x01,	/* it went to the device: wait_ns is known */
	BLOCK_SYNC = 0x02,	/* somebody waits for it */
	BLOCK_META = 0x04,	/* a file system's own data */
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

/* One request to a block device, written when it is complete; header.ts_ns: when it was made. */
struct rec_block {
	struct rec_header header;
	__u64 dur_ns;		/* from there to its completion */
	__u64 wait_ns;		/* part of it before it went to the device */
	__u64 sector;		/* of 512 bytes; 0 of a flush */
	__u32 bytes;
	__u32 tgid;		/* who made it */
	__u32 tid;
	__u32 rdev;		/* of the disk: kernel dev_t | RDEV_BLOCK */
	__u32 operation;	/* enum block_operation */
	__u32 reserved;
};

/*
 * Interrupts, one after the other or one in the other, that took the CPU from a
 * target's thread; header.ts_ns is their start, header.flags are WAKE_INTERRUPT
 * bits: the kinds that there were.
 */
struct rec_interrupt {
	struct rec_header header;
	__u64 dur_ns;
	__u32 tid;
	__u32 source;		/* that it began with, and is in at its end; as rec_wake.source */
};

/* rec_task.event */
enum task_event {
	TASK_SEEN = 0,		/* a thread's identity, sent before anything that names it */
	TASK_FORK = 1,		/* new thread or process; parent fields are filled */
	TASK_EXEC = 2,		/* new program in this process */
	TASK_RENAME = 3,	/* new thread name */
	TASK_EXIT = 4,
	TASK_DROPPED = 5,	/* no target any more: nothing else is recorded of it */
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
	ACCOUNT_FINAL = 0x01,	/* the thread has exited: these are its last figures */
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
 * The kernel's own cumulative figures of one thread since it started. They
 * cost nothing per switch: the kernel keeps them anyway.
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
	__u64 read_bytes;	/* from and to devices, as the kernel charges them: the page cache */
	__u64 write_bytes;	/* is charged to who dirtied the page */
	__u64 read_chars;	/* by read, write and their kin, whatever they read from */
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

/* What is known of a process as a whole; sent when something of it has changed. */
struct rec_process {
	struct rec_header header;
	__u32 tgid;
	__u32 threads;		/* signal->nr_threads: zombies count */
	__u32 ns_pid;		/* its id in its own pid namespace; 0 = unknown */
	__u32 ns_inode;		/* that namespace's inode number, as /proc/PID/ns/pid shows it */
	__u64 cgroup;		/* inode of the group that holds its CPU quota; 0 = unknown */
	__u64 rss_pages;	/* up to a few pages per CPU off, as the kernel keeps it */
	__u64 peak_pages;
	__u64 gone_run_ns;	/* of threads that have exited and been reaped: */
	__u64 gone_user_ns;	/* signal->sum_sched_runtime, utime, stime */
	__u64 gone_system_ns;
};

/* Addresses that threads of a process sleep on while they wait for its interpreter's lock. */
struct python_range {
	__u64 first;
	__u64 last;	/* the first that does not belong to it */
};

/* Where a thread's Python functions are found: offsets in CPython's structures, which its version decides. */
struct python_layout {
	__u16 state_id;	/* PyThreadState: pthread_t of its thread */
	__u16 state_cframe;	/* ... pointer to what has "state_frame"; PYTHON_LAYOUT_NONE: the state has it */
	__u16 state_frame;	/* the innermost frame */
	__u16 frame_previous;
	__u16 frame_code;
	__u16 frame_instruction;
	__u16 frame_owner;	/* PYTHON_LAYOUT_NONE: it has none */
	__u16 frame_entry;	/* byte that is not 0 where the interpreter's loop was entered; PYTHON_LAYOUT_NONE: each frame enters it,
				 * or those that C code owns part what one entry runs */
};
#define PYTHON_LAYOUT_NONE 0xffff
#define PYTHON_OWNED_BY_C 3	/* owner of a frame that stands for C code; enum _frameowner of 3.12 to 3.14 */

/* Whose PyThreadState it is. */
struct python_thread_key {
	__u64 thread;	/* pthread_t, which is the thread pointer on x86-64 */
	__u32 tgid;
	__u32 reserved;	/* 0 */
};

/* A Python function of a stack; it may be anything, for memory may have changed meanwhile. */
struct rec_python_frame {
	__u64 code;		/* its code object, without PYTHON_FRAME_ENTRY; 0 = C code's frame */
	__u64 instruction;	/* as the frame has it: an index or an address */
};
#define PYTHON_FRAME_ENTRY (1ull << 63)	/* of "code": one entry into the interpreter's loop ends here */

#define REC_PYTHON_FRAMES 104
#define REC_USER_FRAMES 255	/* frames kept of a user stack; one less than a power of two */
#define REC_KERNEL_FRAMES 48

/* rec_stack.header.flags */
enum stack_flag {
	STACK_BLOCK = 0x01,	/* where it slept; else where it was on a CPU */
	STACK_LOCK = 0x08,	/* it waited for its Python interpreter's lock */
	STACK_SHORT = 0x10,	/* too short a sleep for its stack to be kept */
	STACK_WHOLE = 0x20,	/* the user stack is there down to where the thread began */
};

/*
 * The stacks of a thread at an instant. Addresses of code: the user stack's, then
 * the kernel's, each from the innermost frame outwards; the first of the user's is
 * where it goes on, the others are return addresses.
 */
struct rec_stack {
	struct rec_header header;	/* ts_ns: of the sample, or when it fell asleep */
	__u64 dur_ns;			/* STACK_BLOCK: until it was woken; else 0 */
	__u32 tgid;
	__u32 tid;
	__u32 user_frames;
	__u32 kernel_frames;
	__u32 waker;		/* STACK_LOCK: thread that woke it; 0 = a timeout, or not known */
	__u32 python_frames;
	/* __u64 address[user_frames + kernel_frames] follows, then struct rec_python_frame[python_frames] */
};

/* How one probe reads its arguments; one entry per probe in map "probes". */
struct probe_argument {
	__u8 position;		/* 1-based argument position; 0 = not used */
	__u8 width;		/* bytes to keep: 1, 2, 4 or 8 */
	__s16 deref;		/* offset to read at if the argument is a pointer; -1 = the value itself */
	__s16 inner;		/* what is there is a pointer, too: offset to read at; -1 = it is not */
};

/* probe_conf.flags */
#define PROBE_STRING 0x01	/* argument string_position is a C string to send */
#define PROBE_STRING_IN 0x04	/* its address is at string_offset of what the argument points to */
#define PROBE_OUT 0x02		/* args[2] is read through its pointer when the function returns */
#define PROBE_RETURN 0x08	/* args[2] is the returned value */
#define PROBE_KEEP 0x10		/* recorded however short: it names what other calls use */
#define PROBE_MEMORY 0x20	/* an argument lies in memory, not in a register */
#define PROBE_NAME_KEPT 0x40	/* with PROBE_STRING_IN, not PROBE_MEMORY: it stays until one with PROBE_NAMES_CHANGED */
#define PROBE_NAMES_CHANGED 0x80

struct probe_conf {
	struct probe_argument args[REC_ARGS];
	__u8 string_position;
	__u8 flags;
	__u16 string_offset;	/* with PROBE_STRING_IN */
	__u32 entry_only;	/* its ends are not seen: calls are recorded as they begin */
	__u64 exit;		/* cookie of the exit that its first instruction is; 0 = it is none */
};

#define PROBES_IN_CHUNK 1024	/* places in each of the maps in map "probes"; a power of two */

/*
 * What a probe's cookie tells of the place that it is at. Bits 0..31: the probe's number at
 * an entry, the exit's number elsewhere.
 */
#define PLACE_KIND_SHIFT 32	/* bits 32..34: enum place_kind */
#define PLACE_KIND_MASK 7
#define PLACE_RETURN_PLAIN (1ull << 35)	/* of PLACE_RETURN: a return that takes nothing else off the stack */
#define PLACE_OFFSET_SHIFT 48	/* bits 48..59: offset in its page */

enum place_kind {
	PLACE_ENTRY = 0,
	PLACE_RETURN,		/* a return instruction */
	PLACE_JUMP,		/* a jump to code whose ends are probed */
	PLACE_JUMP_INDIRECT,	/* a jump to where a struct exit_conf tells */
};

#define EXITS_MAX 65536		/* exits of a session, a power of two */

#define EXIT_IP 32		/* exit_conf.base */
#define EXIT_NO_REGISTER 33

/* Where an indirect jump leads: base + index * scale + displacement, or what lies there. Map "exit_confs". */
struct exit_conf {
	__u8 base, index;	/* as the machine's instructions number registers */
	__u8 scale;
	__u8 in_memory;
	__s32 displacement;
	__s32 own_start, own_end; /* from the instruction: what leads there stays in the function */
};

/* Key of map "tail_targets": code that a function goes on in. */
struct tail_target {
	__u64 address;
	__u32 tgid;
	__u32 reserved;
};

/* Its values. */
#define TAIL_ASKED 0		/* the daemon was told of it */
#define TAIL_PROBED 1		/* its ends are probed */
#define TAIL_UNKNOWN 2		/* its ends can't be probed */

/* A target's thread and its thread pointer (fs base, TPIDR_EL0). Read from an iterator, not from a ring. */
struct thread_pointer {
	__u32 tid;
	__u32 tgid;
	__u64 address;
};

/* Where a probe is, for kernels that keep no cookies: key of "probed_places". */
struct probed_place {
	__u64 inode;
	__u64 offset;
	__u32 device;		/* of the file's system: kernel dev_t, major << 20 | minor */
	__u32 at;		/* PROBED_ENTRY, PROBED_EXIT */
};

#define PROBED_ENTRY 0
#define PROBED_EXIT 1
#define NO_COOKIE (~0ull)

#define NO_OWNER (~0u)

/* What the daemon sets before it loads the programs. */
struct session_settings {
	__u32 daemon_tgid;	/* never traced */
	__u32 system_wide;	/* every process is a target */
	__u32 follow;		/* processes forked by targets become targets */
	__u32 wake_bytes;	/* fill of a ring at which the reader is woken */
	__u32 owner_uid;	/* the ordinary user who may see all of it; NO_OWNER = may see what there is */
	__u32 owner_gid;
	__u32 cpu_cgroup_v1;	/* the CPU controller has a hierarchy of its own */
	__u64 min_duration_ns;	/* calls shorter than this are counted, not recorded */
	__u64 stack_block_ns;	/* sleeps shorter than this leave no stack */
	__u32 time_interrupts;	/* those that interrupt targets are recorded */
	__u32 faults;		/* sleeps in page faults are kept for their records */
	__u32 block_by_bio;	/* a request is known by what it carries until it is issued */
	__u32 switches;		/* switches and wake-ups are recorded */
	__u32 sleep_stacks;	/* stacks of long sleeps are */
	__u32 gated;		/* the scheduler's events come by the gate (gate.bpf.h) ... */
	__u32 gate_slot;	/* ... where this is the session's place */
	__u32 stacks_when_back;	/* user stacks of sleeps are walked after them, not before */
	__u32 unwind;		/* user stacks are walked by tables where there are any */
	/* What this kernel offers its programs; see compat.bpf.h. */
	__u32 typed_task;	/* a pointer to the current thread that can be followed */
	__u32 typed_pointers;	/* other pointers of the kernel that can be followed */
	/* Numbers of their types in the kernel's own description; as the verifier wants them. */
	__u32 type_file, type_fdtable, type_list_head, type_socket;
	__u32 task_storage;
	__u32 global_pointers;	/* functions that are looked at once may be given pointers */
	__u32 task_registers;	/* the registers that a thread had in user space */
	__u32 cookies;		/* a number that is attached with each probe */
	__u32 page_shift;
	__u32 kernel_stack_bytes; /* of a thread */
	__u32 near_stacks;	/* places of that map, a power of two */
	__u32 known_threads;	/* the same */
};

/* How many threads that got a CPU and have not come back to user space yet can be told to walk. */
#define RETURNING_PER_CPU 8 /* a power of two */

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

#define TARGET_MARKS 32768 /* places of processes that may be targets; a power of two */

/* Sessions of one daemon that can have a place at its gate: no more tail calls follow each other. */
#define GATE_SLOTS 32

/* Which sessions may want the events of a process. Bytes, for two may be set at the same time. */
struct gate_marks {
	union {
		__u8 slot[GATE_SLOTS];
		__u64 words[GATE_SLOTS / 8];
	};
};

/* How many targets wait for a CPU. */
struct waiting_count {
	__s32 count;
	__u8 line[60]; /* of the cache: CPUs change their own */
};

/* Why a record was lost in the kernel. */
enum loss {
	LOSS_RING_FULL = 0,
	LOSS_TOO_DEEP,		/* more than REC_CALL_DEPTH nested calls */
	LOSS_NO_MEMORY,		/* no task-local storage to be had */
	LOSS_UNMATCHED,		/* not used any more */
	LOSS_BUSY,		/* the program was in use on that CPU: at most so many, strangers' too */
	LOSS_PLACE,		/* which probe it was is not known */
	LOSSES
};

/* Per-CPU counters; produced = records delivered to the ring + sum of lost. */
struct source_stats {
	__u64 produced;
	__u64 lost[LOSSES];
};

/* What the programs of a session do that costs those in whose place they run; index into map "run_costs". */
enum run_kind {
	RUN_SAMPLE = 0,		/* samples of who is on a CPU, with their stacks */
	RUN_SWITCH,		/* switches of targets, but for the next */
	RUN_WAKE,		/* wake-ups of targets */
	RUN_SLEEP,		/* what is done at switches to find where targets sleep: stacks */
	RUN_KINDS
};

#define RUNS_PER_TIMING 16	/* one of so many is timed */

/* Of one CPU, since the session began. */
struct run_cost {
	__u64 runs;		/* also those that were counted only, because they are shed */
	__u64 timed;
	__u64 timed_ns;		/* of these */
};

/* Key and value of "short_calls": calls under --min-duration, counted but not recorded. */
struct short_key {
	__u32 probe;
	__u32 tgid;
};

struct short_value {
	__u64 count;
	__u64 total_ns;
	__u64 unended;		/* of these, calls of which only the beginning was seen: they have no time */
};

#endif /* PROFBPF_BPF_EVENTS_H */
