/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_functions.h - which functions are called so often that seeing the ends of their calls
 * would cost the program more than it may.
 *
 * The probes at a function's exits cost several times as much as the one at its entry where the
 * kernel has to single-step the instruction. What all of them cost is looked at once a second,
 * from the number of times that they were reached. When it was above the budget several times on end, the
 * costliest functions are "hot": their calls are counted and recorded as they begin, without an
 * end. When their calls have become few enough to fit into half of the budget, they are not hot any more.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_HOT_FUNCTIONS_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_HOT_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOT_TICKS 3 /* looks on end before something changes */

/* What is known of one function. Zeroed is new. */
struct hot_function {
	bool hot;
	uint32_t call_ns; /* what it costs to see a call from its entry to its end; 0 = not known: never hot */
	double calls_per_second; /* as of the last look */
};

/* Zeroed is new. */
struct hot_watch {
	unsigned int above,
		below; /* looks on end at which the cost was above the budget, or far below */
};

/*
 * hot_functions_judge - set "hot" of @functions by their "calls_per_second"
 *
 * @most: the part of one CPU's time that all calls whose ends are seen may cost, such as 0.03. @room: in half of
 * it they have to fit with those that are not hot any more. Returns whether any function changed.
 */
bool hot_functions_judge(struct hot_watch *watch, struct hot_function **functions, size_t count,
			 double most, double room);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_HOT_FUNCTIONS_H */
