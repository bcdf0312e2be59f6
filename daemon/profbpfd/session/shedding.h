/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shedding.h - what of its records a session leaves out for some time, to cost no more than it may.
 *
 * What its programs cost each CPU is looked at about once a second, and so is whether records were lost or a
 * ring was nearly full. When it was above the budget, or crowded, several times on end, what is dearest of
 * that which can be left out is cut: samples to a quarter, then to none; wake-ups and stacks of sleeps to none.
 * When all would fit into half of the budget again, it is taken back, the cheapest first. The ends of calls are
 * of the same budget, and left out function by function (exit_budget.h): shed_ends_budget().
 *
 * Pure: session_shed.c reads the costs and does what is decided.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_SHEDDING_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_SHEDDING_H

#include <stdbool.h>
#include <stddef.h>

#define SHED_LOOKS 3 /* on end, before something changes */

enum shed_what { SHED_SAMPLES, SHED_WAKES, SHED_SLEEPS, SHED_WHATS };

struct shed_look {
	double total; /* part of the dearest CPU's time that all which is recorded takes of it */
	double now[SHED_WHATS]; /* of that, this */
	double all[SHED_WHATS]; /* what it would be if nothing of it were left out */
	double ends; /* of the total, what it takes to see the ends of calls where that can be left out */
	bool recorded[SHED_WHATS]; /* is it wanted at all? */
	bool crowded; /* records were lost for want of room, or nearly */
};

/* Zeroed is new: nothing is left out. */
struct shed_watch {
	unsigned int level[SHED_WHATS]; /* how often it was cut */
	double crowded_at[SHED_WHATS]; /* look.all when it was cut because it was crowded; 0 = it was not */
	unsigned int above, below; /* looks on end */
};

/* shed_kept_permille - how much of it is kept at a level: 1000 at 0, 0 at the last */
unsigned int shed_kept_permille(enum shed_what what, unsigned int level);

/*
 * shed_judge - change a level, if it is time to
 *
 * @budget: part of a CPU's time, such as 0.03. Returns what changed, or SHED_WHATS: nothing did.
 */
enum shed_what shed_judge(struct shed_watch *watch, const struct shed_look *look, double budget);

/* What it may cost to see the ends of calls, as a part of a CPU's time. */
struct ends_budget {
	double most; /* above it some are left out */
	double room; /* in half of it those have to fit that are seen again */
};

/*
 * shed_ends_budget - what the rest of the session leaves to it
 *
 * As long as something else that can be left out is dearer, that goes first: the ends may cost all of the budget.
 */
struct ends_budget shed_ends_budget(const struct shed_watch *watch, const struct shed_look *look,
				    double budget);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_SHEDDING_H */
