/* SPDX-License-Identifier: Apache-2.0 */
/* step_blame.h - the cost of a pipeline's operators for one step; the rules are in steps.h. */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEP_BLAME_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEP_BLAME_H

#include "analyzer/analyse/pipeline/operator_cost.h"
#include "analyzer/analyse/pipeline/pipelines.h"
#include "analyzer/analyse/selection.h"

struct step_blame {
	const struct model *model;
	const struct pipeline *pipeline;
	uint32_t *owner; /* operator of each thread of the model, or INDEX_NONE */
	uint32_t *queue_first; /* first event of each queue, and the end */
	uint64_t *work_ns; /* total work of each operator */
	bool *calls; /* by edge: there is no queue, one operator calls the other */
	struct analysis_window fetch; /* of the current step */
	struct operator_cost *costs; /* by operator, for the last step */
	uint64_t slept_ns; /* time in that fetch in which the trainer's thread slept; 0 also if that is not known */
	uint64_t other_cpu_ns; /* time in that step in which threads of no operator had the trainer's CPU */
};

/* step_blame_new - NULL without memory */
struct step_blame *step_blame_new(const struct model *model, const struct pipeline *pipeline);
void step_blame_free(struct step_blame *blame);

/* step_blame_find - fills costs for the step of @fetch, which ends at @end_ns */
void step_blame_find(struct step_blame *blame, const struct pipeline_fetch *fetch, uint64_t end_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEP_BLAME_H */
