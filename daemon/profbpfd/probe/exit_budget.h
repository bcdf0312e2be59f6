/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit_budget.h - keeps what seeing the ends of calls costs the targets of a session within a budget.
 *
 * It is what the rest of the session leaves of --budget (shedding.h). Functions that become too costly
 * (hot_functions.h) are told to the trace, and their calls are
 * recorded as they begin from that moment on; their exits are taken off a look later, when most calls that were
 * under way have ended. On the way back their exits are probed first.
 *
 * With --min-duration the calls of hot functions leave no records at all: they are counted with those that
 * are too short, without their time. Then functions with return probes may become hot, too, by their short
 * calls: most of what they cost serves no record.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_EXIT_BUDGET_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_EXIT_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/probe/end_prices.h"
#include "daemon/profbpfd/probe/file_entry.h"
#include "daemon/profbpfd/session/shedding.h"

struct exit_budget;

/* exit_budget_new - @budget: the part of one CPU's time, such as 0.03. NULL without memory. */
struct exit_budget *exit_budget_new(const struct end_prices *prices, double budget);
void exit_budget_free(struct exit_budget *budget);

/*
 * exit_budget_set - from now on so much; exit_budget_seen - calls a second whose exits are seen
 *
 * From any thread.
 */
void exit_budget_set(struct exit_budget *budget, struct ends_budget now);
double exit_budget_seen(struct exit_budget *budget);

/*
 * exit_budget_look - count the calls since the last look; to be called about once a second
 *
 * Files whose exits are to be probed anew are exits_stale then: the caller sees to it, and calls
 * exit_budget_probed() for each.
 */
void exit_budget_look(struct exit_budget *budget, struct file_setting *setting,
		      struct file_entry **files, size_t count, uint64_t now_ns);

/* exit_budget_probed - the file's exits are those that are not dropped: functions that are not hot are seen again */
void exit_budget_probed(struct exit_budget *budget, struct file_setting *setting,
			struct file_entry *entry, uint64_t now_ns);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_EXIT_BUDGET_H */
