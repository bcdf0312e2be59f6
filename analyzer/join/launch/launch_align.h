/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_align.h - finds which calls of a stream launched which of its tasks where records are lost.
 *
 * A stream runs its work in order, so calls and tasks correspond in order. If some calls or tasks are missing, there
 * are many ways to align them; only what all these ways have in common is certain. A call and a task cannot belong
 * together if they are of different kinds or names, or if the task starts before the call or ends after the return of
 * a call that waited for it.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ALIGN_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/join/clock/clock_fit.h"

#define ALIGN_NONE UINT32_MAX /* no call can have launched the task */
#define ALIGN_UNSURE (UINT32_MAX - 1) /* several calls may have launched it */
#define ALIGN_MANY UINT32_MAX /* any number of tasks */

/* A call of a stream; calls are sorted by start. */
struct align_call {
	uint64_t start_ns; /* host clock */
	uint64_t done_ns; /* by then all its tasks had ended; UINT64_MAX = unknown */
	uint32_t least; /* number of tasks that it launches: 1, or from 0 or 1 to ALIGN_MANY */
	uint32_t most;
	uint32_t group; /* calls with the same number launch equally many tasks, ALIGN_NONE = no group */
	uint32_t name; /* string of the name that it launches; 0 = unknown */
	bool copies;
};

/* A task of a stream; tasks are in the order in which they were started. */
struct align_task {
	uint64_t start_ns; /* device clock; 0 = unknown, as the end */
	uint64_t end_ns;
	uint32_t name; /* a call's name may be equal to either of the two; 0 = unknown */
	uint32_t type;
	bool copies;
};

/* Host time is @line of the device time, plus or minus @error_ns; UINT64_MAX = the clock is unknown. */
struct align_clock {
	struct clock_line line;
	uint64_t error_ns;
};

/* The input and the result of an alignment. */
struct alignment {
	const struct align_call *calls;
	const struct align_task *tasks;
	uint32_t call_count, task_count;
	struct align_clock clock;
	bool calls_lost; /* records of calls may be missing */
	bool tasks_lost; /* records of tasks may be missing */
	bool whole; /* the tasks are exactly those of the calls: none was launched before or after them */
	bool names; /* the names that calls launch are comparable with the names of tasks */
	/* Filled in by launch_align(); the caller allocates task_count and call_count entries. */
	uint32_t *task_call; /* index of the call, or ALIGN_NONE or ALIGN_UNSURE */
	uint32_t *earliest; /* by element of the shorter side: first and last element of the other that may match it */
	uint32_t *latest; /* ... (room for the larger of task_count and call_count, plus 1) */
	bool ranges; /* earliest and latest are known: each element of the shorter side matches one of the other side */
	bool tasks_short; /* the tasks are the shorter side */
};

/*
 * launch_align - finds the certain correspondences
 *
 * Equally many calls and tasks correspond one to one. Otherwise each element of the shorter side matches one of the
 * other side, which may have more. Where no call was lost and some calls launch several tasks, all tasks are divided
 * among the calls. Returns false if nothing is certain: either side lost records, nothing explains why there are more
 * tasks than calls, or no correspondence is possible. Time and memory are linear.
 */
bool launch_align(struct alignment *alignment);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ALIGN_H */
