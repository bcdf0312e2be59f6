/* SPDX-License-Identifier: Apache-2.0 */
/* operator_cost.h - the cost of an operator for a step, in the three ways of steps.h. */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_OPERATOR_COST_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_OPERATOR_COST_H

#include <stdint.h>

struct operator_cost {
	uint64_t wait_ns;
	uint64_t lock_ns;
	uint64_t cpu_ns;
};

/* operator_cost_ns - returns the sum of all three */
static inline uint64_t operator_cost_ns(const struct operator_cost *cost)
{
	return cost->wait_ns + cost->lock_ns + cost->cpu_ns;
}

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_OPERATOR_COST_H */
