/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_align.h - which calls of a stream launched which of its tasks, where records are lost.
 *
 * A stream runs what it is given in order, so calls and tasks correspond in order. If some of one side
 * are missing there are many ways to lay the one beside the other; what is the same in all of
 * them is certain, and nothing else is. A call and a task cannot belong together if they are of
 * different kinds or names, if the task starts before the call or ends after the
 * return of a call that waited for it.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ALIGN_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/join/clock/clock_fit.h"

#define ALIGN_NONE UINT32_MAX /* no call can be the task's */
#define ALIGN_UNSURE (UINT32_MAX - 1) /* several may be */
#define ALIGN_MANY UINT32_MAX /* any number of tasks */

/* Calls of one stream, by start. */
struct align_call {
	uint64_t start_ns; /* host's clock */
	uint64_t done_ns; /* by then all that it launched had ended; UINT64_MAX = not known */
	uint32_t least; /* tasks that it launches: 1, or from 1 or 0 to ALIGN_MANY */
	uint32_t most;
	uint32_t group; /* calls with the same number launch equally many, ALIGN_NONE = of none */
	uint32_t name; /* string of what it launches; 0 = unknown */
	bool copies;
};

/* Tasks of one stream, in the order in which they were started. */
struct align_task {
	uint64_t start_ns; /* device's clock; 0 = unknown, as the end */
	uint64_t end_ns;
	uint32_t name; /* either may be the name that a call gives; 0 = unknown */
	uint32_t type;
	bool copies;
};

/* Host's time is @line of the device's, plus or minus @error_ns; UINT64_MAX = not known at all. */
struct align_clock {
	struct clock_line line;
	uint64_t error_ns;
};

/* What is known of the two sides. */
struct alignment {
	const struct align_call *calls;
	const struct align_task *tasks;
	uint32_t call_count, task_count;
	struct align_clock clock;
	bool calls_lost; /* records of calls may be missing */
	bool tasks_lost; /* records of tasks may be missing */
	bool whole; /* the tasks are those of the calls: none was launched before or after them */
	bool names; /* what calls say they launch can be compared with what tasks are called */
	/* Filled in by launch_align(); the caller gives room for task_count and call_count entries. */
	uint32_t *task_call; /* index of the call, or ALIGN_NONE or ALIGN_UNSURE */
	uint32_t *earliest; /* of the shorter side: the first and last of the other that it may be */
	uint32_t *latest; /* ... (room for the larger of task_count and call_count, plus 1) */
	bool ranges; /* these two are known: each of the shorter side has one of the other */
	bool tasks_short; /* the shorter side is that of the tasks */
};

/*
 * launch_align - what is certain
 *
 * Equally many calls and tasks correspond one to one. Else each of the shorter side has one of the
 * other, which may have more. Where no call was lost and some launch several tasks, all tasks are divided
 * among the calls. False if nothing can be told: either side lost records, nothing explains that there are
 * more tasks than calls, or calls and tasks cannot correspond in any way. Time and memory are linear.
 */
bool launch_align(struct alignment *alignment);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ALIGN_H */
