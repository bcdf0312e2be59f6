/* SPDX-License-Identifier: Apache-2.0 */
/* step_blame.h - what a pipeline's operators cost one step; the rules are in steps.h. */
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
	uint64_t *work_ns; /* of each operator in all */
	bool *calls; /* of each edge: no queue between the two, one calls the other */
	struct analysis_window fetch; /* of the step that is looked at */
	struct operator_cost *costs; /* of the step that was looked at last */
	uint64_t other_cpu_ns; /* of it: others had the CPU that the trainer waited for */
};

/* step_blame_new - NULL without memory */
struct step_blame *step_blame_new(const struct model *model, const struct pipeline *pipeline);
void step_blame_free(struct step_blame *blame);

/* step_blame_find - fill costs for the step of @fetch, which ends at @end_ns */
void step_blame_find(struct step_blame *blame, const struct pipeline_fetch *fetch, uint64_t end_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEP_BLAME_H */
