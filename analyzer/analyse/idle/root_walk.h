/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_walk.h - follows a wait from waker to waker to its root.
 *
 * A thread that sleeps waits for its waker. If that is a thread W, the walk continues with the activity of W
 * in the same time; where W slept, with the waker of W, and so on, through threads and processes.
 * Each nanosecond ends at a root:
 *
 *   on a CPU                                          user_code, runtime, driver, irq
 *   ready, without a CPU                              runnable, throttled
 *   asleep in a runtime call that waits for the device, not woken by another caller of the runtime
 *                                                     device_wait
 *   asleep in an ioctl                                driver
 *   asleep until its own block request was done       io, page_fault
 *   woken by a kernel thread                          in a page fault page_fault; uninterruptible, in an I/O
 *                                                     wait or in a call for files io; at a socket network
 *   woken by a packet from a process of this host     the activity of the sending thread, as if that were the waker
 *   woken by another interrupt                        BLOCK: io; NET_RX, NET_TX: network; else the cause by
 *                                                     idle_rules.h, if that is io, page_fault or network
 *   woken by a timer                                  sleep; in recv and the like network; in a page fault, or
 *                                                     uninterruptible in I/O, page_fault or io
 *   woken by a thread that was not traced             no_work or network as in idle_rules.h, else unknown
 *
 * A thread that polls (polls.h) waits for the thread that makes what it polls for, if that is known: the walk continues
 * there where this leads to roots other than unknown and network, and ends at the poll elsewhere. Each way is tried
 * first, up to the next poll; further polls on it are followed in the same way.
 *
 * All else is unknown, never guessed, and root.end has the reason. Signals are followed to
 * their sender. Sleeps that form one wait (one_wait.h) are followed to the waker of the last sleep, and waits for the
 * lock of a CPython interpreter to its holder. A thread that is on the path already closes a circle: the cause is
 * that of the wait in which it was found.
 *
 * Cost: the stretches examined at one depth do not overlap, so each depth reads each record of
 * the threads at most twice (once without polls); there are at most ROOT_DEPTH_MAX depths.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_WALK_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_WALK_H

#include <stdint.h>

#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/idle/idle_piece.h"
#include "analyzer/analyse/idle/one_wait.h"
#include "analyzer/model/model.h"

#define ROOT_DEPTH_MAX 32

/* The reason why a walk ended without a root; in a circle no thread is the root. */
enum root_end {
	ROOT_END_FOUND = 0,
	ROOT_END_CIRCLE, /* who, the waker, is on the path already */
	ROOT_END_DEPTH, /* the chain is longer than ROOT_DEPTH_MAX threads */
	ROOT_END_UNTRACED, /* who was not traced */
	ROOT_END_NO_WAKER, /* the waker is not known */
	ROOT_END_NO_RECORD, /* the thread's activity at that time is not known */
	ROOT_END_INTERRUPT, /* an interrupt of unknown purpose ended the sleep */
	ROOT_END_UNSEEN_WORK, /* the device had the task, and was idle for long */
	ROOT_END_STOPPED, /* stopped by a signal or a debugger */
	ROOT_ENDS
};

/* Where the thread ran or slept. */
enum root_place {
	PLACE_NONE = 0,
	PLACE_FUNCTION, /* index into functions: of a runtime, or a scope */
	PLACE_SYSCALL, /* system call number */
	PLACE_FAULT, /* a page fault */
	PLACE_FRAME, /* index into code_frames: the function with most samples */
};

/* The object for which the thread waited. */
enum root_object {
	OBJECT_NONE = 0,
	OBJECT_SLEEP, /* index into sleep_objects */
	OBJECT_COMMAND, /* index into drivers, with a command of an ioctl */
	OBJECT_CGROUP, /* index into cgroups */
	OBJECT_DEVICE, /* index into devices */
	OBJECT_INTERRUPT, /* string: its name */
	OBJECT_INTERRUPT_KIND, /* Wakes.Flag of proto/trace.proto: its kinds, if it has no name */
	OBJECT_INTERPRETER, /* the lock of the thread's interpreter */
};

struct root {
	uint64_t start_ns;
	uint64_t end_ns;
	uint8_t cause; /* enum idle_cause */
	uint8_t end; /* enum root_end */
	uint8_t who_kind; /* enum idle_who: WHO_THREAD, WHO_RUNNER, WHO_IDLE_CPU, WHO_DEVICE, WHO_NONE */
	uint8_t place_kind; /* enum root_place */
	uint8_t object_kind; /* enum root_object */
	bool running; /* the thread had a CPU, also in an ioctl */
	bool generated; /* with PLACE_FRAME: half of the samples or more have code of no file and without a name */
	uint32_t who;
	uint32_t thread; /* at which the walk ended, or INDEX_NONE */
	uint32_t place;
	uint32_t entry; /* with PLACE_FRAME: the system call or exception, if the kernel did the work: index into
			 * code_frames, or INDEX_NONE */
	uint32_t caller; /* with PLACE_FRAME of a function without a name: the nearest function around it that has one:
			  * index into code_frames, or INDEX_NONE */
	uint32_t object;
	uint32_t command; /* with OBJECT_COMMAND */
	uint32_t disk; /* index into drivers: the block device of io, or INDEX_NONE */
};

/* A thread on the path, and the cause of its wait. */
struct root_hop {
	uint32_t thread; /* INDEX_NONE: not known */
	uint8_t cause; /* enum idle_cause; for the last hop the root's cause */
};

/* Receives each root, in time order; @path[0 .. depth) is the path to it. Returns 0 or -errno. */
typedef int root_sink(void *context, const struct root *root, const struct root_hop *path,
		      uint32_t depth);

struct root_walk {
	const struct model *model;
	const struct idle_tools *tools;
	const struct waits *waits;
	root_sink *sink;
	void *context;
	uint64_t steps; /* taken so far: the cost of the walks */
	/* private */
	const struct device_gap *gap; /* NULL: there is no device */
	struct root_hop path[ROOT_DEPTH_MAX];
	uint32_t depth;
	bool trying; /* the sink only weighs what a way leads to */
	int error;
};

/*
 * root_walk_gap - passes the roots of a gap to the sink; @pieces come from idle_rules_apply()
 *
 * The roots follow each other without holes from the gap's start to its end. Returns 0 or the sink's error.
 */
int root_walk_gap(struct root_walk *walk, const struct device_gap *gap,
		  const struct idle_pieces *pieces);

/*
 * root_walk_thread - passes the roots of a thread's activity to the sink, without a device
 *
 * A sleep in a call that waits for the device is device_wait here in the thread itself, too.
 */
int root_walk_thread(struct root_walk *walk, uint32_t thread, uint64_t from_ns, uint64_t to_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_WALK_H */
