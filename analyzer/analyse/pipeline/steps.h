/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the training steps of a data pipeline's trainer, and their cost by
 * operator.
 *
 * A step begins when the trainer requests a batch and ends with its next request,
 * in any training mode. An operator costs a step time in three ways:
 *
 *   wait  the trainer waits for the batch, and this is the operator for which all
 *         operators above it wait: from the trainer down, queues are empty up to the
 *         operator whose own input is not empty, or that has no input
 *   lock  outside of fetches, the trainer's thread sleeps until a thread of a Python
 *         operator in its process wakes it: both need the interpreter lock
 *   cpu   the trainer's thread is ready, and a thread of the operator has the CPU; or,
 *         over all judged steps, the time by cpu_taken.h, if that is more
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEPS_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/pipeline/operator_cost.h"
#include "analyzer/analyse/pipeline/pipelines.h"

#define BOTTLENECK_PERCENT 10 /* an operator that costs less of the steps' time is no bottleneck */
#define STEPS_WARM_UP 2 /* the first steps, which compile and fill queues, are not judged */

struct step {
	uint32_t index; /* number of the fetch, from 0; fetches outside the window are counted too */
	uint64_t start_ns;
	uint64_t duration_ns;
	uint64_t data_wait_ns; /* in the fetch */
	uint32_t
		op; /* the operator that cost it most, if BOTTLENECK_PERCENT or more; or INDEX_NONE */
};

struct pipeline_steps {
	const struct pipeline_usage *usage;
	struct step *rows; /* steps that begin in the window and whose end is known */
	uint32_t count;
	struct operator_cost *costs; /* of each operator, over the judged steps */
	uint64_t judged_from_ns; /* the judged steps lie in between */
	uint64_t judged_to_ns;
	uint64_t judged_ns; /* duration of the judged steps */
	uint64_t judged_wait_ns; /* the part of it in fetches */
	uint64_t judged_slept_ns; /* the part of that in which the trainer's thread slept; 0 also if that is not known */
	uint64_t other_cpu_ns; /* the trainer's thread was ready, threads of no operator had its CPU */
	uint64_t restart_ns; /* the trainer's time for workers that were started anew, from judged_from_ns to judged_to_ns */
	uint64_t restart_fetch_ns; /* the trainer's time in the first fetches from these */
	uint32_t restarts; /* how often that was */
	uint32_t restart_op; /* the operator whose workers these were */
	uint32_t judged; /* number of judged steps */
	uint32_t bottleneck; /* the operator that costs most; INDEX_NONE = none costs enough */
};

struct step_results {
	struct pipeline_steps *pipelines; /* one per row of pipeline_results */
	uint32_t count;
	uint32_t main; /* the pipeline that steps_precede() puts first: the report's steps; INDEX_NONE = none has any */
};

/*
 * steps_precede - are @a rather than @b the steps of a job that has both? @b may be NULL
 *
 * Steps that train precede those of an evaluation, even if the evaluation has more; then more steps precede fewer.
 */
bool steps_precede(const struct pipeline_steps *a, const struct pipeline_steps *b);

/*
 * steps_analyse - fills @results; needs timelines
 *
 * Returns 0 or -ENOMEM; in both cases the caller calls steps_free(). @pipelines
 * must live as long as @results.
 */
int steps_analyse(const struct model *model, const struct analysis_options *options,
		  const struct pipeline_results *pipelines, struct step_results *results);
void steps_free(struct step_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_STEPS_H */
