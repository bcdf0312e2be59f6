/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit_budget.h - keeps the targets' cost for the ends of calls within a budget.
 *
 * The budget is the part of --budget that the rest of the session leaves (shedding.h). Functions that become too
 * expensive (hot_functions.h) are recorded in the trace, and from then on their calls are recorded at their
 * entry; the probes on their exits are removed one check later, when most open calls have ended. On the way back
 * their exits are probed first.
 *
 * With --min-duration the calls of hot functions leave no records at all: they are counted among the short calls,
 * without their time. Then functions with return probes may also become hot by their short calls, because most of
 * their cost serves no record.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_EXIT_BUDGET_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_EXIT_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/probe/end_prices.h"
#include "daemon/profbpfd/probe/file_entry.h"
#include "daemon/profbpfd/session/shedding.h"

struct exit_budget;

/* exit_budget_new - @budget: a part of one CPU's time, such as 0.03. NULL without memory. */
struct exit_budget *exit_budget_new(const struct end_prices *prices, double budget);
void exit_budget_free(struct exit_budget *budget);

/*
 * exit_budget_set - changes the budget
 * exit_budget_seen - calls per second whose exits are seen
 *
 * May be called from any thread.
 */
void exit_budget_set(struct exit_budget *budget, struct ends_budget now);
double exit_budget_seen(struct exit_budget *budget);

/*
 * exit_budget_look - counts the calls since the last check; to be called about once a second
 *
 * Sets exits_stale for files whose exits must be probed again: the caller does that and calls
 * exit_budget_probed() for each.
 */
void exit_budget_look(struct exit_budget *budget, struct file_setting *setting,
		      struct file_entry **files, size_t count, uint64_t now_ns);

/* exit_budget_probed - the file's remaining exits are probed: functions that are not hot any more are seen again */
void exit_budget_probed(struct exit_budget *budget, struct file_setting *setting,
			struct file_entry *entry, uint64_t now_ns);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_EXIT_BUDGET_H */
