/* SPDX-License-Identifier: Apache-2.0 */
/* features.h - what the running kernel can do; probed, never derived from its version. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_FEATURES_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/profbpfd/capture/mentioned_types.h"

enum probe_method {
	PROBE_METHOD_NONE,
	PROBE_METHOD_SESSION,	/* multi links, and return probes that can be left out for single calls */
	PROBE_METHOD_MULTI,	/* a link for all places of a file */
	PROBE_METHOD_PERF,	/* a perf event for each place */
};

/* How it is known who made a block request. */
enum block_source {
	BLOCK_SOURCE_NONE,		/* nothing is known of block requests */
	BLOCK_SOURCE_REQUEST,		/* its own tracepoint: 6.5 and later */
	BLOCK_SOURCE_BIO,		/* the tracepoint of what it is made for */
	BLOCK_SOURCE_QUEUE_BIO,		/* the same, which tells the queue first: before 5.11 */
};

/* How ioctls are seen, best first. */
enum ioctl_method {
	IOCTL_METHOD_FUNCTION,		/* fentry and fexit of the function of the system call */
	IOCTL_METHOD_KPROBE,		/* kprobes on it */
	IOCTL_METHOD_TRACEPOINT,	/* its tracepoints: every system call gets slower */
	IOCTL_METHODS
};

struct features {
	bool btf;		/* the kernel's types are known */
	bool btf_given;		/* ... or would be from a file that the user gave (kernel_types.h) */
	bool typed_task;	/* programs are given a pointer to the current thread that can be followed */
	bool task_storage;	/* each thread can have storage; else a hash by thread */
	bool global_pointers;	/* functions that are looked at once may be given pointers */
	bool task_registers;	/* programs are told where a thread's registers are; else it is computed */
	bool loops;		/* a helper loops: what it does is looked at once */
	bool unwind;		/* user stacks can be walked by unwind tables; needs loops */
	bool uprobes;		/* by whatever method */
	bool cookies;		/* probes carry a number; else they are known by their place in their file */
	bool late_room;		/* a probe's program may take room for what it puts into a hash */
	bool places;		/* ... which the kernel's own last look tells */
	bool doubled_stacks;	/* kernel stacks are twice as large, for KASAN */
	bool switch_state;	/* sched_switch hands over the previous state */
	bool ioctls[IOCTL_METHODS];	/* which are to be had */
	bool ioctl_compat;	/* those of 32-bit programs have a function of their own */
	bool optimized_nop;	/* uprobes on 5-byte nops become calls */
	bool emulated_returns;	/* programs may do the return instruction that they are at */
	bool early_exits;	/* an instruction before a return is cheaper to probe (early_exit.h) */
	bool task_work;		/* threads can be told to run a program before they return to user space */
	bool run_delay;		/* the kernel accounts time in run queues */
	bool typed_pointers;	/* programs may follow pointers without a helper's call for each */
	bool symbols;		/* an iterator tells its functions, whatever /proc/kallsyms shows */
	bool gate;		/* functions may call programs: sessions can share the scheduler's events (gate.h) */
	bool throttling;	/* it can be seen that a cgroup's CPU quota stopped a thread */
	enum probe_method method;
	enum block_source block;
	struct mentioned_types types;	/* by capture_find_types(); not by features_probe() */
	char error[512];	/* why tracing is impossible here, with the remedy; "" if it is possible */
};

/*
 * features_probe - look; needs no privilege beyond reading /sys, but without CAP_BPF and
 * CAP_PERFMON it does not find IOCTL_METHOD_FUNCTION
 *
 * Features that the variable FEATURES_WITHOUT_ENV names are left out (features_leave_out()).
 * The variable PROFBPF_IOCTLS ("function", "kprobe", "tracepoint") leaves one way to see ioctls, for
 * measurements and tests.
 */
void features_probe(struct features *features);

/* For tests: names of features, with commas, that are to be taken for missing. */
#define FEATURES_WITHOUT_ENV "PROFBPF_WITHOUT_FEATURES"

/*
 * features_leave_out - as if the kernel had not what @name says
 *
 * "session" and "multi" leave the next method of probes; "task-storage", "cookies", "typed-task", "loops",
 * "task-registers", "global-pointers", "emulated-returns", "switch-state", "task-work", "typed-pointers", "unwind", "gate" and
 * "late-room" what their fields tell. Returns false if there is no such name.
 */
bool features_leave_out(struct features *features, const char *name);

/* features_see_ioctls - in any way */
static inline bool features_see_ioctls(const struct features *features)
{
	return features->ioctls[IOCTL_METHOD_FUNCTION] || features->ioctls[IOCTL_METHOD_KPROBE] ||
	       features->ioctls[IOCTL_METHOD_TRACEPOINT];
}

/* "session", "multi", "perf", "none" */
const char *probe_method_name(enum probe_method method);

/* ioctl_method_name - in words, for users; a constant */
const char *ioctl_method_name(enum ioctl_method method);

/*
 * features_describe - feature number @index in words, for `profctl status`
 *
 * Returns false past the last one. The strings are constants.
 */
bool features_describe(const struct features *features, size_t index, const char **name,
		       bool *available, const char **detail);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_FEATURES_H */
