/* SPDX-License-Identifier: Apache-2.0 */
/* features.h - features of the running kernel; probed, never derived from its version. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_FEATURES_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/profbpfd/capture/mentioned_types.h"

enum probe_method {
	PROBE_METHOD_NONE,
	PROBE_METHOD_SESSION,	/* multi links, and return probes that can be skipped for single calls */
	PROBE_METHOD_MULTI,	/* a link for all places of a file */
	PROBE_METHOD_PERF,	/* a perf event for each place */
};

/* How the maker of a block request is found. */
enum block_source {
	BLOCK_SOURCE_NONE,		/* block requests are not recorded */
	BLOCK_SOURCE_REQUEST,		/* its own tracepoint: 6.5 and later */
	BLOCK_SOURCE_BIO,		/* the tracepoint of the bio that it is made for */
	BLOCK_SOURCE_QUEUE_BIO,		/* the same with the queue as its first argument: before 5.11 */
};

/* The ways to see ioctls, best first. */
enum ioctl_method {
	IOCTL_METHOD_FUNCTION,		/* fentry and fexit of the function of the system call */
	IOCTL_METHOD_KPROBE,		/* kprobes on it */
	IOCTL_METHOD_TRACEPOINT,	/* its tracepoints: every system call gets slower */
	IOCTL_METHODS
};

struct features {
	bool btf;		/* type information of the kernel */
	bool btf_given;		/* it is from a file that the user gave (kernel_types.h) */
	bool typed_task;	/* programs can get a typed pointer to the current thread */
	bool task_storage;	/* each thread can have storage; else a hash by thread */
	bool global_pointers;	/* global functions may take pointers */
	bool task_registers;	/* a helper gives the address of a thread's registers; else it is computed */
	bool loops;		/* bpf_loop(), whose body the verifier checks once */
	bool unwind;		/* user stacks can be walked by unwind tables; needs loops */
	bool uprobes;		/* by any method */
	bool cookies;		/* probes carry a cookie; else their place in the file identifies them */
	bool late_room;		/* a probe's program may allocate hash elements */
	bool places;		/* the kernel's cache of its last mapping lookups gives the place of a probe */
	bool doubled_stacks;	/* kernel stacks are twice as large, for KASAN */
	bool switch_state;	/* sched_switch has the previous state as an argument */
	bool ioctls[IOCTL_METHODS];	/* the available ones */
	bool ioctl_compat;	/* ioctls of 32-bit programs have a separate function */
	bool optimized_nop;	/* uprobes on 5-byte nops become calls */
	bool emulated_returns;	/* programs may execute the return instruction that they are at */
	bool early_exits;	/* an instruction before a return is cheaper to probe (early_exit.h) */
	bool task_work;		/* a thread can be made to run a program before it returns to user space */
	bool run_delay;		/* the kernel accounts time in run queues */
	bool typed_pointers;	/* programs may follow pointers without a helper's call for each */
	bool symbols;		/* an iterator lists the kernel's functions, whatever /proc/kallsyms shows */
	bool gate;		/* functions may call programs: sessions can share the scheduler's events (gate.h) */
	bool throttling;	/* threads that are stopped by a cgroup's CPU quota can be recognised */
	enum probe_method method;
	enum block_source block;
	struct mentioned_types types;	/* by capture_find_types(); not by features_probe() */
	char error[512];	/* why tracing is impossible here, with the remedy; "" if it is possible */
};

/*
 * features_probe - probes the features; needs no privilege beyond reading /sys, but without CAP_BPF and
 * CAP_PERFMON it does not find IOCTL_METHOD_FUNCTION
 *
 * The environment variable FEATURES_WITHOUT_ENV names features to leave out (features_leave_out()).
 * The variable PROFBPF_IOCTLS ("function", "kprobe", "tracepoint") restricts the way to see ioctls, for
 * measurements and tests.
 */
void features_probe(struct features *features);

/* For tests: names of features, separated by commas, that count as missing. */
#define FEATURES_WITHOUT_ENV "PROFBPF_WITHOUT_FEATURES"

/*
 * features_leave_out - makes the kernel appear to lack the feature @name
 *
 * "session" and "multi" select the next method of probes; "task-storage", "cookies", "typed-task", "loops",
 * "task-registers", "global-pointers", "emulated-returns", "switch-state", "task-work", "typed-pointers", "unwind", "gate" and
 * "late-room" clear their fields. Returns false if there is no such name.
 */
bool features_leave_out(struct features *features, const char *name);

/* features_see_ioctls - can ioctls be seen in any way? */
static inline bool features_see_ioctls(const struct features *features)
{
	return features->ioctls[IOCTL_METHOD_FUNCTION] || features->ioctls[IOCTL_METHOD_KPROBE] ||
	       features->ioctls[IOCTL_METHOD_TRACEPOINT];
}

/* "session", "multi", "perf", "none" */
const char *probe_method_name(enum probe_method method);

/* ioctl_method_name - a text for users; a constant */
const char *ioctl_method_name(enum ioctl_method method);

/*
 * features_describe - describes feature number @index for `profctl status`
 *
 * Returns false past the last one. The strings are constants.
 */
bool features_describe(const struct features *features, size_t index, const char **name,
		       bool *available, const char **detail);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_FEATURES_H */
