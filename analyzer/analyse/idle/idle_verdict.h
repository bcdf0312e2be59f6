/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_verdict.h - the kind of cause with most of the devices' idle time.
 *
 * Kinds are compared, not rows: if three processes that are not traced each had the CPUs for a quarter of the idle
 * time, CPUs taken by others cost three quarters of it. The heaviest row is chosen within the kind.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_VERDICT_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_VERDICT_H

#include <stdint.h>

#include "analyzer/analyse/idle/idle_roots.h"

enum idle_kind {
	IDLE_KIND_CAUSE, /* any other cause */
	/*
	 * runnable: threads of the same process had the CPUs, or of another one that the same traced process started; if
	 * the whole machine was recorded, one that runs the same program
	 */
	IDLE_KIND_OWN_CPU,
	IDLE_KIND_RECORDED_CPU, /* runnable: threads of other traced processes had the CPUs */
	IDLE_KIND_OTHER_CPU, /* runnable: other threads had the CPUs, or it is not known which */
	IDLE_KIND_WAKE_UP, /* runnable: the CPU was idle; its wake-up latency */
	IDLE_KINDS
};

struct idle_verdict {
	uint8_t cause; /* enum idle_cause */
	uint8_t kind; /* enum idle_kind */
	uint64_t ns; /* of all rows of this kind */
	uint64_t cause_ns; /* of all rows of this cause */
	const struct idle_root *most; /* the largest row of this kind; NULL without any idle time */
};

/*
 * idle_verdict - returns the heaviest cause, and if that is runnable its heaviest kind
 *
 * The result points into @roots.
 */
struct idle_verdict idle_verdict(const struct model *model, const struct idle_roots *roots);

/* Returns the kind of a root: IDLE_KIND_CAUSE for all causes but runnable. */
uint8_t idle_kind_of(const struct model *model, const struct root *root);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_VERDICT_H */
