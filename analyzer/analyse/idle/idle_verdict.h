/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_verdict.h - what devices were idle for most, as a kind of cause.
 *
 * Kinds are weighed, not rows: three strangers that had the CPUs for a quarter of the idle time each are CPUs
 * taken by others for three quarters of it. Who comes after that.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_VERDICT_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_VERDICT_H

#include <stdint.h>

#include "analyzer/analyse/idle/idle_roots.h"

enum idle_kind {
	IDLE_KIND_CAUSE, /* a cause as it is */
	IDLE_KIND_OWN_CPU, /* runnable: threads of traced processes had the CPUs */
	IDLE_KIND_OTHER_CPU, /* runnable: others had them, or nobody knows who */
	IDLE_KIND_WAKE_UP, /* runnable: the CPU was idle and took that long to wake up */
	IDLE_KINDS
};

struct idle_verdict {
	uint8_t cause; /* enum idle_cause */
	uint8_t kind; /* enum idle_kind */
	uint64_t ns; /* of all rows of it */
	uint64_t cause_ns; /* of all rows of that cause */
	const struct idle_root *most; /* its largest row; NULL without any idle time */
};

/*
 * idle_verdict - the heaviest cause, and if that is runnable the heaviest kind of it
 *
 * The result points into @roots.
 */
struct idle_verdict idle_verdict(const struct model *model, const struct idle_roots *roots);

/* Which kind of its cause a root is: IDLE_KIND_CAUSE for all but runnable. */
uint8_t idle_kind_of(const struct model *model, const struct root *root);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_VERDICT_H */
