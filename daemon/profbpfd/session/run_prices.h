/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_prices.h - the cost of a session's programs on each CPU, from the number of runs and the time of some runs.
 *
 * Not included: the CPU's entry into a program, and the daemon's own threads.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_RUN_PRICES_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_RUN_PRICES_H

#include <stdint.h>

#include "bpf/session_maps.h"
#include "daemon/profbpfd/session/shedding.h"

/* Cumulative counters of one CPU. */
struct run_counts {
	struct run_cost runs[RUN_KINDS];
	uint64_t calls; /* calls of probed functions, including calls below --min-duration */
};

/* The cost of calls whose ends are seen the expensive way, and of others; nanoseconds, 0 = unknown, or not recorded. */
struct call_prices {
	uint32_t end_seen_ns;
	uint32_t other_ns;
};

struct run_prices;

/* run_prices_new - NULL without memory */
struct run_prices *run_prices_new(int cpus, struct call_prices calls);
void run_prices_free(struct run_prices *prices);

/* run_prices_ends_seen - sets the calls per second, on all CPUs, whose ends are seen the expensive way */
void run_prices_ends_seen(struct run_prices *prices, double calls_per_second);

/*
 * run_prices_look - the cost since the last call, of the CPU where it was highest
 *
 * @counts: per CPU. @seconds: since the last call. @watch: the parts of the counted runs that were recorded.
 * @sampled: the rate of samples, taken or counted, as a part of the requested rate. Fills the
 * costs in @look, which is zeroed. The first call only stores the counters: its costs are 0.
 */
void run_prices_look(struct run_prices *prices, const struct run_counts *counts, double seconds,
		     const struct shed_watch *watch, double sampled, struct shed_look *look);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_RUN_PRICES_H */
