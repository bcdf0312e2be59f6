/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_walk.h - from a wait to whoever is at the end of it.
 *
 * A thread that sleeps waits for what ends its sleep. If that was a thread W, the question is what W
 * did in that same time; where W slept itself, what ended that, and so on, through threads and processes.
 * Each nanosecond ends at a root:
 *
 *   on a CPU                                          user_code, runtime, driver, irq
 *   ready, without a CPU                              runnable, throttled
 *   asleep in a runtime call that waits for the device, not woken by another caller of the runtime
 *                                                     device_wait
 *   asleep in an ioctl                                driver
 *   asleep until a block request of its own was done  io, page_fault
 *   woken by a thread of the kernel                   in a page fault page_fault; uninterruptible, in an I/O
 *                                                     wait or in a call for files io; at a socket network
 *   woken by a packet of a process of this host       what the thread that sent it did, as if it had woken it
 *   woken by another interrupt                        BLOCK: io; NET_RX, NET_TX: network; else what it slept in
 *                                                     says, if that is io, page_fault or network
 *   a timer ended it                                  sleep; in recv and its like network; in a page fault, or
 *                                                     uninterruptible in I/O, page_fault or io
 *   woken by a thread that was not traced             no_work or network as in idle_rules.h, else unknown
 *
 * What is none of these is unknown, and root.end says why: never a guess. Signals are followed to
 * who sent them. Sleeps that are one wait (one_wait.h) are followed to what ended the last of them, and waits for the
 * lock of a CPython interpreter to who had it. A thread that is on the way already closes a circle: its cause is that
 * of the wait in which it was found.
 *
 * Work: the stretches asked about at one depth do not overlap, so that each depth looks at each record of
 * the threads at most once; there are ROOT_DEPTH_MAX of them.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_WALK_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_WALK_H

#include <stdint.h>

#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/idle/idle_piece.h"
#include "analyzer/analyse/idle/one_wait.h"
#include "analyzer/model/model.h"

#define ROOT_DEPTH_MAX 32

/* Why a walk ended where it is not known what held things up; a circle says that nobody did. */
enum root_end {
	ROOT_END_FOUND = 0,
	ROOT_END_CIRCLE, /* who waits for the thread that waits for it */
	ROOT_END_DEPTH, /* ROOT_DEPTH_MAX threads wait for each other, and who for a further one */
	ROOT_END_UNTRACED, /* who was not traced */
	ROOT_END_NO_WAKER, /* nobody knows what ended the sleep */
	ROOT_END_NO_RECORD, /* what the thread did then is not known */
	ROOT_END_INTERRUPT, /* an interrupt ended the sleep; what for is not known */
	ROOT_END_STOPPED, /* stopped by a signal or a debugger */
	ROOT_ENDS
};

/* What ran or slept there. */
enum root_place {
	PLACE_NONE = 0,
	PLACE_FUNCTION, /* index into functions: of a runtime */
	PLACE_SYSCALL, /* its number */
	PLACE_FAULT, /* a page fault */
	PLACE_FRAME, /* index into code_frames: seen most in samples */
};

/* What it waited for. */
enum root_object {
	OBJECT_NONE = 0,
	OBJECT_SLEEP, /* index into sleep_objects */
	OBJECT_COMMAND, /* index into drivers, with a command of an ioctl */
	OBJECT_CGROUP, /* index into cgroups */
	OBJECT_DEVICE, /* index into devices */
	OBJECT_INTERRUPT, /* string: its name */
	OBJECT_INTERRUPT_KIND, /* Wakes.Flag of proto/trace.proto: of what kinds it was, where it has no name */
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
	uint32_t who;
	uint32_t thread; /* at which the walk ended, or INDEX_NONE */
	uint32_t place;
	uint32_t entry; /* with PLACE_FRAME: by what the kernel was entered that did the work: index into
			 * code_frames, or INDEX_NONE */
	uint32_t object;
	uint32_t command; /* with OBJECT_COMMAND */
	uint32_t disk; /* index into drivers: the block device of io, or INDEX_NONE */
};

/* A thread on the way, and what it was in. */
struct root_hop {
	uint32_t thread; /* INDEX_NONE: not known */
	uint8_t cause; /* enum idle_cause; of the last one the root's */
};

/* Is given each root, in order of time; @path[0 .. depth) is the way to it. 0 or a negative errno. */
typedef int root_sink(void *context, const struct root *root, const struct root_hop *path,
		      uint32_t depth);

struct root_walk {
	const struct model *model;
	const struct idle_tools *tools;
	const struct waits *waits;
	root_sink *sink;
	void *context;
	uint64_t steps; /* taken so far: what the walks cost */
	/* private */
	const struct device_gap *gap; /* NULL: there is no device */
	struct root_hop path[ROOT_DEPTH_MAX];
	uint32_t depth;
	int error;
};

/*
 * root_walk_gap - give the sink the roots of a gap of which idle_rules_apply() made @pieces
 *
 * They follow each other without holes from the gap's start to its end. Returns 0 or the sink's error.
 */
int root_walk_gap(struct root_walk *walk, const struct device_gap *gap,
		  const struct idle_pieces *pieces);

/*
 * root_walk_thread - the same of what a thread did, without a device
 *
 * Asleep in a call that waits for the device is device_wait there, too, in the thread itself as in others.
 */
int root_walk_thread(struct root_walk *walk, uint32_t thread, uint64_t from_ns, uint64_t to_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_WALK_H */
