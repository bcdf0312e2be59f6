/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_waits.h - how long the job was held up by the threads of one operator of a data pipeline, and what these did.
 *
 * For pipelines whose framework nobody knows: their bottleneck is at the end of the walk (idle_roots.h).
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_STAGE_WAITS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_STAGE_WAITS_H

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/frameworks/pipeline_model.h"

struct stage_wait {
	uint64_t ns; /* of all walks that ended at one of its threads */
	double percent; /* of the time that the verdict is about */
	uint8_t cause; /* enum idle_cause: the heaviest of these, if ns is not 0 */
	const struct idle_root *placed; /* the largest row of it, else of all, whose place is known; or NULL */
};

/*
 * stage_wait_find - of operator @op; all 0 if the walks were not made
 *
 * @verdict may be NULL. The result points into its rows.
 */
struct stage_wait stage_wait_find(const struct verdict *verdict, const struct pipeline *pipeline,
				  uint32_t op);

/* One pipeline's operator. */
struct stage {
	const struct pipeline *pipeline; /* NULL: there is none */
	uint32_t op;
	struct stage_wait wait;
};

/*
 * stage_worst_find - which operator of a pipeline that nobody knows holds its main thread up longest
 *
 * None if the verdict is not about threads, or if that is for less than STAGE_PERCENT of the time. Points into @steps.
 */
#define STAGE_PERCENT 10
struct stage stage_worst_find(const struct verdict *verdict, const struct step_results *steps);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_STAGE_WAITS_H */
