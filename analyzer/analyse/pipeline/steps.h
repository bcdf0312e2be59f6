/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the training steps of a data pipeline's trainer, and what its operators
 * cost them.
 *
 * A step begins when the trainer asks for a batch and ends when it asks again,
 * whatever the mode it trains in. An operator costs a step time in three ways:
 *
 *   wait  the trainer waits for the batch, and this is the operator that everybody
 *         above it waits for: from the trainer down, queues are empty until the
 *         operator whose own input is not empty, or that has none
 *   lock  outside of that, the trainer's thread sleeps until a thread of a Python
 *         operator wakes it: both need the interpreter lock
 *   cpu   the trainer's thread is ready, and a thread of the operator has the CPU; or,
 *         over all judged steps, what analyse/cpu_taken.h says, if that is more
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEPS_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEPS_H

#include <stdint.h>

#include "analyzer/analyse/pipeline/operator_cost.h"
#include "analyzer/analyse/pipeline/pipelines.h"

#define BOTTLENECK_PERCENT 10 /* an operator that costs less of the steps' time is none */
#define STEPS_WARM_UP 2 /* first steps, that compile and fill queues, are not judged */

struct step {
	uint32_t index; /* from 0, as the trainer fetched; also those outside the window count */
	uint64_t start_ns;
	uint64_t duration_ns;
	uint64_t data_wait_ns; /* in the fetch */
	uint32_t
		op; /* that bounded it: cost it most, and BOTTLENECK_PERCENT or more; or INDEX_NONE */
};

struct pipeline_steps {
	const struct pipeline_usage *usage;
	struct step *rows; /* those that begin in the window and whose end is known */
	uint32_t count;
	struct operator_cost *costs; /* of each operator, over the judged steps */
	uint64_t judged_from_ns; /* the judged steps lie in between */
	uint64_t judged_to_ns;
	uint64_t judged_ns; /* duration of the judged steps */
	uint64_t judged_wait_ns; /* of it in fetches */
	uint64_t other_cpu_ns; /* the trainer's thread was ready, others had its CPU */
	uint32_t judged;
	uint32_t bottleneck; /* operator that costs most, INDEX_NONE = none costs enough */
};

struct step_results {
	struct pipeline_steps *pipelines; /* one per row of pipeline_results */
	uint32_t count;
	uint32_t main; /* the one with most steps: the report's steps; INDEX_NONE = none has any */
};

/*
 * steps_analyse - fill @results; needs timelines
 *
 * Returns 0 or -ENOMEM; in both cases steps_free() is to be called. @pipelines
 * must live as long as @results.
 */
int steps_analyse(const struct model *model, const struct analysis_options *options,
		  const struct pipeline_results *pipelines, struct step_results *results);
void steps_free(struct step_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEPS_H */
