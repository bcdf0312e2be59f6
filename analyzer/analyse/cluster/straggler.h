/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler.h - why a rank comes last to collectives: what is different on it.
 *
 * Its device's time in kernels and its idle time are compared with the medians of the other ranks. Who waits for it does so inside
 * collectives, which are neither. The larger excess tells, if it is a hundredth of the device's window or more:
 *
 *   clock    in kernels; those that take most of the time all take longer, by nearly the same factor
 *   kernel   in kernels; the one with the largest excess takes longer each time
 *   work     in kernels; the one with the largest excess runs more often
 *   data     idle; most of it, of the roots of its process, in a data loader or another stage of the job
 *   host     idle; by something else on the host
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CLUSTER_STRAGGLER_H
#define PROFBPF_ANALYZER_ANALYSE_CLUSTER_STRAGGLER_H

#include <stdint.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/model/model.h"

enum straggler_why {
	STRAGGLER_UNKNOWN = 0,
	STRAGGLER_CLOCK,
	STRAGGLER_KERNEL,
	STRAGGLER_WORK,
	STRAGGLER_DATA,
	STRAGGLER_HOST,
};

struct straggler {
	uint32_t device; /* index into model->devices; INDEX_NONE = there is none */
	uint64_t late_ns; /* how long others waited for it, as communication.h has it */
	double percent; /* of its device's window */
	uint8_t why; /* enum straggler_why */
	uint32_t name; /* string: the kernel, or where the host was; 0 = unknown */
	/* clock: times as long, and 1; kernel: ns of one, the mean here and the others' median; work: runs; else idle ns */
	double own;
	double others;
};

/* straggler_explain - @device: who came last for the longest time. Returns 0 or -ENOMEM. */
int straggler_explain(const struct model *model, const struct device_results *devices,
		      uint32_t device, struct straggler *straggler);

/* "kernel", "data", ... Static text; NULL of STRAGGLER_UNKNOWN. */
const char *straggler_why_name(uint8_t why);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_STRAGGLER_H */
