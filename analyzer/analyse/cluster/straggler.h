/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler.h - why a rank comes last to collectives: how it differs from the other ranks.
 *
 * Its device's time in kernels and its idle time are compared with the medians of the other ranks. The other ranks'
 * waits for it are part of neither, because they lie inside collectives. The larger excess decides, if it is more than
 * a hundredth of the device's window:
 *
 *   clock    kernels; those with most of the time all take longer, by nearly the same factor
 *   kernel   kernels; the kernel with the largest excess takes longer each time
 *   work     kernels; the kernel with the largest excess runs more often
 *   data     idle; the heaviest root of its process is in a data loader or another stage of the job
 *   host     idle; for another reason on the host
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
	uint32_t device; /* index into model->devices; INDEX_NONE = there is no straggler */
	uint64_t late_ns; /* how long others waited for it (communication.h) */
	double percent; /* late_ns as a share of its device's window */
	uint8_t why; /* enum straggler_why */
	uint32_t name; /* string: the kernel, or where the host was; 0 = unknown */
	/* clock: the factor, and 1; kernel: mean ns, here and the others' median; work: runs; else idle ns */
	double own;
	double others;
};

/* straggler_explain - explains why @device, for which the others waited longest, is late. Returns 0 or -ENOMEM. */
int straggler_explain(const struct model *model, const struct device_results *devices,
		      uint32_t device, struct straggler *straggler);

/* "kernel", "data", ... Static text; NULL for STRAGGLER_UNKNOWN. */
const char *straggler_why_name(uint8_t why);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_STRAGGLER_H */
