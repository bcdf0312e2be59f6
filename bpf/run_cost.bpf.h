/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * run_cost.bpf.h - how often programs run and how long they take, and what of that the daemon wants left out.
 *
 * One run of some is timed, by its last clock reading less the one that it takes anyway for its record: the
 * way into the program, and the look at whether it is about a target at all, are not in it.
 *
 * For programs that run with interrupts off, or as an interrupt: nobody comes in between, but where a
 * thread wakes itself, of which a run may be missed.
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

/* Set by the daemon: of these runs nothing is recorded, they are counted. */
volatile __u32 runs_shed[RUN_KINDS] __weak = {};

static __always_inline struct run_cost *run_begins(__u32 kind)
{
	struct run_cost *cost = bpf_map_lookup_elem(&run_costs, &kind);

	if (cost)
		cost->runs++;
	return cost;
}

/* Is this run one of those that are timed? */
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
