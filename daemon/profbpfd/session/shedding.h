/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shedding.h - decides which records a session sheds for some time, to stay within its budget.
 *
 * About once a second the cost of its programs on each CPU is checked, and whether records were lost or a ring
 * was nearly full. If the cost was above the budget, or rings were crowded, several times in a row, the most expensive
 * kind of records that can be shed is cut: samples to a quarter, then to none; wake-ups and stacks of sleeps to none.
 * When everything would fit into half of the budget again, the cuts are undone, the cheapest first. The ends of calls
 * share the budget and are shed function by function (exit_budget.h): shed_ends_budget().
 *
 * Pure functions: session_shed.c reads the costs and carries out the decisions.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_SHEDDING_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_SHEDDING_H

#include <stdbool.h>
#include <stddef.h>

#define SHED_LOOKS 3 /* consecutive checks before a change */

enum shed_what { SHED_SAMPLES, SHED_WAKES, SHED_SLEEPS, SHED_WHATS };

struct shed_look {
	double total; /* the part of its time that recording takes on the most loaded CPU */
	double now[SHED_WHATS]; /* the part of the total for each kind */
	double all[SHED_WHATS]; /* the cost of each kind without shedding */
	double ends; /* the part of the total for the ends of calls that can be shed */
	bool recorded[SHED_WHATS]; /* is the kind recorded at all? */
	bool crowded; /* records were lost because a ring was full, or nearly so */
};

/* The state of the decisions; initially zero: nothing is shed. */
struct shed_watch {
	unsigned int level[SHED_WHATS]; /* number of cuts of each kind */
	double crowded_at[SHED_WHATS]; /* look.all when it was cut because rings were crowded; 0 = it was not */
	unsigned int above, below; /* consecutive checks above, below the budget */
};

/* shed_kept_permille - the part that is kept at a level: 1000 at 0, 0 at the last level */
unsigned int shed_kept_permille(enum shed_what what, unsigned int level);

/*
 * shed_judge - changes a level, if that is due
 *
 * @budget: part of a CPU's time, such as 0.03. Returns the kind whose level changed, or SHED_WHATS: none.
 */
enum shed_what shed_judge(struct shed_watch *watch, const struct shed_look *look, double budget);

/* The budget for the ends of calls, as parts of a CPU's time. */
struct ends_budget {
	double most; /* above this cost some functions are shed */
	double room; /* functions are probed again only if they fit into half of it */
};

/*
 * shed_ends_budget - the budget that the rest of the session leaves for the ends of calls
 *
 * As long as another kind that can be shed costs more, that is shed first: then the ends may use the whole budget.
 */
struct ends_budget shed_ends_budget(const struct shed_watch *watch, const struct shed_look *look,
				    double budget);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_SHEDDING_H */
