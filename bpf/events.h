/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause OR Apache-2.0 */
/*
 * events.h - the fixed-width records that the BPF programs write into the
 * per-CPU rings and the daemon reads from them.
 *
 * This is the only header shared by kernel and user space. Every record starts
 * with struct rec_header; all instants are CLOCK_MONOTONIC nanoseconds
 * (bpf_ktime_get_ns), all durations nanoseconds, all ids those of the initial
 * pid namespace. "tgid" is what user space calls the process id, "tid" what the
 * kernel calls pid.
 *
 * The layout is private to one build of profbpf: it never reaches a file. The
 * public format is proto/trace.proto.
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
	REC_TYPES
};

struct rec_header {
	__u16 type;		/* enum rec_type */
	__u16 flags;		/* see each record */
	__u32 cpu;		/* where it was written */
	__u64 ts_ns;		/* when the thing began (call, ioctl) or happened */
};

/* rec_call.header.flags, rec_ioctl.header.flags */
#define CALL_OPEN 0x01		/* had not returned at detach or thread exit; dur_ns is up to then */
#define CALL_HAS_STRING 0x02	/* a REC_STRING of the same tid and ts_ns was sent */
#define CALL_RET_ZERO 0x04	/* the returned value was 0 in its full width (a null handle) */
#define CALL_DEPTH_SHIFT 8	/* bits 8..15: nesting depth, 0 = outermost */

/* One call of a traced function, written when it returns. 64 bytes. */
struct rec_call {
	struct rec_header header;
	__u64 dur_ns;
	__u32 tgid;
	__u32 tid;
	__u32 probe;		/* index into the session's probe table */
	__u32 ret;		/* low 32 bits of the returned value; 0 if open */
	__u64 args[REC_ARGS];	/* as chosen by the probe's struct probe_conf; 0 if unused */
};

/* A string argument, written at entry, just before the call it belongs to returns. */
struct rec_string {
	struct rec_header header;	/* ts_ns equals that of the call */
	__u32 tid;
	__u32 probe;
	__u32 len;			/* bytes before the NUL in str */
	char str[REC_STRING_LEN];
};

/* One ioctl on a character device. */
struct rec_ioctl {
	struct rec_header header;
	__u64 dur_ns;
	__u32 tgid;
	__u32 tid;
	__u32 cmd;
	__u32 rdev;		/* kernel dev_t: major << 20 | minor */
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
#define SWITCH_PREV_TARGET 0x01	/* previous thread belongs to a traced process */
#define SWITCH_NEXT_TARGET 0x02
#define SWITCH_IOWAIT 0x04	/* previous thread was in an I/O wait (in_iowait) */
#define SWITCH_FAULT 0x08	/* previous thread was in a page fault or exception */

/* One context switch. header.cpu is the CPU it happened on. */
struct rec_switch {
	struct rec_header header;
	__u32 prev_tid;		/* 0 = idle */
	__u32 next_tid;
	__s16 syscall;		/* system call the previous thread is in, or REC_SYSCALL_NONE */
	__u8 state;		/* enum switch_state */
	__u8 prev_prio;		/* kernel priority, 0..139 */
	__u32 reserved;
};

/* rec_wake.header.flags */
#define WAKE_NEW 0x01		/* first wake-up of a new thread */
#define WAKE_HARDIRQ 0x02	/* woken from a hardware interrupt */
#define WAKE_SOFTIRQ 0x04	/* woken from a software interrupt (network, block I/O, old timers) */
#define WAKE_TIMER 0x08		/* woken by a timer: a sleep or a timeout ended */
#define WAKE_INTERRUPT (WAKE_HARDIRQ | WAKE_SOFTIRQ | WAKE_TIMER)

/* One wake-up of a thread that was asleep. header.cpu is the waker's CPU. */
struct rec_wake {
	struct rec_header header;
	__u32 waker_tid;	/* the thread that ran (or was interrupted) then; 0 = idle */
	__u32 tid;		/* who was woken */
	__u32 target_cpu;	/* CPU it last ran on */
	__u32 reserved;
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
#define TASK_TARGET 0x01	/* belongs to a traced process */
#define TASK_KTHREAD 0x02
#define TASK_LAST 0x04		/* TASK_EXIT: the last thread of its process */

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
#define ACCOUNT_FINAL 0x01	/* the thread has exited: these are its last figures */
#define ACCOUNT_RUNNING 0x02	/* on a CPU at ts_ns */
#define ACCOUNT_QUEUED 0x04	/* runnable, not on a CPU, at ts_ns */
#define ACCOUNT_TARGET 0x08
#define ACCOUNT_FIRST 0x10	/* taken at the start of the session */
#define ACCOUNT_IOWAIT 0x20	/* asleep in an I/O wait */
#define ACCOUNT_DISK 0x40	/* asleep uninterruptibly */
#define ACCOUNT_FAULT 0x80	/* asleep in a page fault or exception */

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
	__s32 syscall;		/* system call it sleeps in, or REC_SYSCALL_NONE; snapshots only */
	__u32 reserved;
};

/* How one probe reads its arguments; one entry per probe in map "probes". */
struct probe_argument {
	__u8 position;		/* 1-based argument position; 0 = not used */
	__u8 width;		/* bytes to keep: 1, 2, 4 or 8 */
	__s16 deref;		/* offset to read at if the argument is a pointer; -1 = the value itself */
};

/* probe_conf.flags */
#define PROBE_STRING 0x01	/* argument string_position is a C string to send */
#define PROBE_OUT 0x02		/* args[2] is read through its pointer when the function returns */

struct probe_conf {
	struct probe_argument args[REC_ARGS];
	__u8 string_position;
	__u8 flags;
	__u16 reserved;
};

#define NO_OWNER (~0u)

/* What the daemon sets before it loads the programs. */
struct session_settings {
	__u32 daemon_tgid;	/* never traced */
	__u32 system_wide;	/* every process is a target */
	__u32 follow;		/* processes forked by targets become targets */
	__u32 wake_bytes;	/* fill of a ring at which the reader is woken */
	__u32 owner_uid;	/* targets that become another user's are dropped; NO_OWNER = none are */
	__u32 reserved;
	__u64 min_duration_ns;	/* calls shorter than this are counted, not recorded */
};

/* Sources that count what they produce; index into map "stats". */
enum source {
	SOURCE_API = 0,
	SOURCE_IOCTL,
	SOURCE_SCHED,		/* switches and wake-ups */
	SOURCE_TASK,		/* tasks, accounts, strings of calls */
	SOURCES
};

/* Why a record was lost in the kernel. */
enum loss {
	LOSS_RING_FULL = 0,
	LOSS_TOO_DEEP,		/* more than REC_CALL_DEPTH nested calls */
	LOSS_NO_MEMORY,		/* no task-local storage to be had */
	LOSS_UNMATCHED,		/* return without entry, or entry overwritten (longjmp) */
	LOSSES
};

/* Per-CPU counters; produced = records delivered to the ring + sum of lost. */
struct source_stats {
	__u64 produced;
	__u64 lost[LOSSES];
	__u64 filtered;		/* calls shorter than the wanted minimum: counted in "short_calls" */
};

/* Key and value of "short_calls": calls under --min-duration, counted but not recorded. */
struct short_key {
	__u32 probe;
	__u32 tgid;
};

struct short_value {
	__u64 count;
	__u64 total_ns;
	__u64 errors;		/* reserved; judged in user space for recorded calls */
};

#endif /* PROFBPF_BPF_EVENTS_H */
