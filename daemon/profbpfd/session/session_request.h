/* SPDX-License-Identifier: Apache-2.0 */
/* session_request.h - a request for a session: targets, topics, budget, and the daemon's objects that the session uses. */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_REQUEST_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/common/topics.h"
#include "daemon/profbpfd/control/held.h"

struct features;
struct file_cache;
struct flight;
struct gate;
struct kernel_names;
struct map_watch;
struct prices;
struct triggers;
struct unwinder;

struct session_request {
	pid_t *pids;		/* processes to trace; none with system_wide */
	struct held *held;	/* a hold on each of these processes, until it exits */
	size_t pid_count;
	bool system_wide;
	bool follow;		/* include children, existing and future ones */
	uid_t owner;		/* the ordinary user whom the recording is for; (uid_t)-1: a user who may see everything */
	gid_t owner_group;	/* that user's group */
	bool started_here;	/* the only pid is profctl's child, which waits to exec its command */
	uint64_t duration_ns;	/* 0 = until stopped */
	uint64_t min_duration_ns;
	uint64_t interval_ns; /* between readings of accounts and counters */
	uint64_t buffer_bytes;	/* all rings together */
	uint64_t stack_block_ns;	/* topic stack: shorter sleeps leave no stack */
	bool keep_figures;	/* keep figures of processes, for session_figures() */
	bool keep_queues;	/* calls of the kinds queue and marker are recorded, however short */
	uint64_t processes_max;	/* targets at a time; 0 = as many as the table holds */
	uint64_t functions_max;	/* limit of probed functions; 0 = as many as a session can have */
	double budget;		/* part of one CPU that recording may cost (probes.h, shedding.h), 0 = unlimited */
	uint32_t stack_rate;	/* topic stack: samples per second and CPU */
	unsigned int topics;	/* TOPIC_* */
	bool ioctls_later;	/* if hooks on ioctls slow other processes down, attach them only once a target has a device open */
	const struct features *features; /* of this kernel; outlives the session */
	struct prices *prices;	/* the same; not NULL */
	struct map_watch *map_watch; /* the same; not NULL */
	struct kernel_names *kernel_names; /* the same; not NULL */
	struct unwinder *unwinder; /* the same; NULL: stacks are walked by frame pointers */
	struct gate *gate; /* the same; NULL: programs are attached to the scheduler directly */
	struct file_cache *file_cache;	/* the daemon's, outlives the session; may be NULL */
	char *step_call;	/* record from a step on: the function that begins steps (step_gate.h), allocated; NULL = record at once */
	uint64_t first_step, steps; /* for that: the first step, and the number of steps */
	int output;		/* descriptor to write the trace to; -1 with a flight */
	struct flight *flight;	/* memory for the trace of session_add_process() processes; outlives it; NULL: none */
	struct triggers *triggers; /* the triggers of a flight recorder's session; outlive it */
	int *files;		/* executables and libraries to probe before they are mapped */
	size_t file_count;
};

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_REQUEST_H */
