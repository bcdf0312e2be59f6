/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_prices.h - what the programs of a session cost each CPU, from how often they ran and how long some runs took.
 *
 * Not in it: what the CPU needs to get into a program, and what the daemon's own threads use.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_RUN_PRICES_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_RUN_PRICES_H

#include <stdint.h>

#include "bpf/session_maps.h"
#include "daemon/profbpfd/session/shedding.h"

/* Counters of one CPU, which go on counting. */
struct run_counts {
	struct run_cost runs[RUN_KINDS];
	uint64_t calls; /* of probed functions, also those below --min-duration */
};

/* What calls cost whose ends are seen in the dear way, and others; nanoseconds, 0 = not known, or none are recorded. */
struct call_prices {
	uint32_t end_seen_ns;
	uint32_t other_ns;
};

struct run_prices;

/* run_prices_new - NULL without memory */
struct run_prices *run_prices_new(int cpus, struct call_prices calls);
void run_prices_free(struct run_prices *prices);

/* run_prices_ends_seen - of how many calls a second, on all CPUs, the ends are seen in the dear way */
void run_prices_ends_seen(struct run_prices *prices, double calls_per_second);

/*
 * run_prices_look - what was spent since the last look, of the CPU where it was most
 *
 * @counts: of each CPU. @seconds: since the last look. @watch: how much was recorded of what was counted.
 * @sampled: the rate at which samples were taken or counted, as a part of the one that is wanted. Fills the
 * costs in @look, which is zeroed. The first look only takes note of the counters: its costs are 0.
 */
void run_prices_look(struct run_prices *prices, const struct run_counts *counts, double seconds,
		     const struct shed_watch *watch, double sampled, struct shed_look *look);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_RUN_PRICES_H */
