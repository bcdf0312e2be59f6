/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_functions.h - finds functions that are called so often that seeing the ends of their calls would exceed the
 * budget.
 *
 * Where the kernel has to single-step the instruction, the probes on a function's exits cost several times as much
 * as the entry probe. The total cost of exits is checked once a second, from the number of their hits. If
 * it was above the budget several times in a row, the most expensive functions become "hot": their calls are
 * counted and recorded at their entry, without an end. When their calls have become few enough to fit into half
 * of the budget, they are not hot any more.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_HOT_FUNCTIONS_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_HOT_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOT_TICKS 3 /* consecutive checks before a change */

/* The state of one function; initially zero. */
struct hot_function {
	bool hot;
	uint32_t call_ns; /* cost of seeing a call from its entry to its end; 0 = unknown: never hot */
	double calls_per_second; /* at the last check */
};

/* Initially zero. */
struct hot_watch {
	unsigned int above,
		below; /* consecutive checks with a cost above the budget, or far below */
};

/*
 * hot_functions_judge - sets "hot" of @functions by their "calls_per_second"
 *
 * @most: the part of one CPU's time that all calls with seen ends may cost, such as 0.03. @room: functions stop being
 * hot only if all fit into half of it. Returns whether any function changed.
 */
bool hot_functions_judge(struct hot_watch *watch, struct hot_function **functions, size_t count,
			 double most, double room);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_HOT_FUNCTIONS_H */
