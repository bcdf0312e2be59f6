/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * run_cost.bpf.h - counts the runs of programs and their time, and skips the kinds of runs that the daemon sheds.
 *
 * One run in RUNS_PER_TIMING is timed: a clock reading at its end less the one that it takes in any case for its record.
 * The entry into the program and its check for a target are not included.
 *
 * For programs that run with interrupts off, or as an interrupt, so that nothing interrupts the counting. Only a thread
 * that wakes itself runs with interrupts on: a run may then be missed.
 */
#ifndef PROFBPF_RUN_COST_BPF_H
#define PROFBPF_RUN_COST_BPF_H

#include "profbpf.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RUN_KINDS);
	__type(key, __u32);
	__type(value, struct run_cost);
} run_costs __weak_map;

/* Set by the daemon: runs of these kinds are counted but record nothing. */
volatile __u32 runs_shed[RUN_KINDS] __weak = {};

static __always_inline struct run_cost *run_begins(__u32 kind)
{
	struct run_cost *cost = bpf_map_lookup_elem(&run_costs, &kind);

	if (cost)
		cost->runs++;
	return cost;
}

/* Is this run timed? */
static __always_inline bool run_is_timed(const struct run_cost *cost)
{
	return cost && cost->runs % RUNS_PER_TIMING == 0;
}

static __always_inline void run_ends(struct run_cost *cost, __u64 began_ns)
{
	if (!run_is_timed(cost))
		return;
	cost->timed++;
	cost->timed_ns += bpf_ktime_get_ns() - began_ns;
}

#endif /* PROFBPF_RUN_COST_BPF_H */
