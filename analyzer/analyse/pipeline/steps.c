/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/pipeline/cpu_taken.h"
#include "analyzer/analyse/pipeline/step_blame.h"

#define FETCHERS_MAX 256 /* maximum number of threads that fetch in turn */

/* Returns the operator that costs most, if it costs BOTTLENECK_PERCENT of @ns; else INDEX_NONE. */
static uint32_t costliest(const struct operator_cost *costs, uint32_t count, uint64_t ns)
{
	uint32_t best = INDEX_NONE;

	for (uint32_t i = 0; i < count; i++)
		if (operator_cost_ns(&costs[i]) &&
		    (best == INDEX_NONE ||
		     operator_cost_ns(&costs[i]) > operator_cost_ns(&costs[best])))
			best = i;
	if (best == INDEX_NONE ||
	    (double)operator_cost_ns(&costs[best]) * 100 < (double)ns * BOTTLENECK_PERCENT)
		return INDEX_NONE;
	return best;
}

static void judge(struct pipeline_steps *steps, const struct step *step,
		  const struct step_blame *blame)
{
	uint32_t count = steps->usage->pipeline->operators.count;

	if (step->index < STEPS_WARM_UP)
		return;
	if (!steps->judged)
		steps->judged_from_ns = step->start_ns;
	steps->judged_to_ns = step->start_ns + step->duration_ns;
	for (uint32_t i = 0; i < count; i++) {
		steps->costs[i].wait_ns += blame->costs[i].wait_ns;
		steps->costs[i].lock_ns += blame->costs[i].lock_ns;
		steps->costs[i].cpu_ns += blame->costs[i].cpu_ns;
	}
	steps->judged++;
	steps->judged_ns += step->duration_ns;
	steps->judged_wait_ns += step->data_wait_ns;
	steps->judged_slept_ns += blame->slept_ns;
	steps->other_cpu_ns += blame->other_cpu_ns;
}

/* Returns the next fetch of the same thread, which ends the step; an end of data ends it, too. */
static const struct pipeline_fetch *next_fetch(const struct pipeline *pipeline, uint32_t i)
{
	for (uint32_t k = i + 1; k < pipeline->fetches.count && k - i < FETCHERS_MAX; k++)
		if (pipeline->fetches.row[k].thread == pipeline->fetches.row[i].thread)
			return &pipeline->fetches.row[k];
	return NULL;
}

/* Adds the CPU time that operators took from any of the trainer's threads outside of waits for data. */
static bool add_taken(const struct model *model, struct pipeline_steps *steps)
{
	const struct pipeline *pipeline = steps->usage->pipeline;
	uint64_t *taken_ns = calloc((size_t)pipeline->operators.count + 1, sizeof(*taken_ns));
	bool done = taken_ns && cpu_taken_find(model, pipeline, steps->judged_from_ns,
					       steps->judged_to_ns, taken_ns);
	double computing = 0;

	if (steps->judged_ns)
		computing = 1 - (double)steps->judged_wait_ns / (double)steps->judged_ns;
	for (uint32_t i = 0; done && i < pipeline->operators.count; i++) {
		uint64_t ns = (uint64_t)((double)taken_ns[i] * computing);

		if (ns > steps->costs[i].cpu_ns)
			steps->costs[i].cpu_ns = ns;
	}
	free(taken_ns);
	return done;
}

static void add_restarts(struct pipeline_steps *steps)
{
	const struct pipeline *pipeline = steps->usage->pipeline;

	for (uint32_t i = 0; i < pipeline->restarts.count; i++) {
		const struct pipeline_restart *restart = &pipeline->restarts.row[i];

		if (restart->start_ns < steps->judged_from_ns || restart->start_ns >= steps->judged_to_ns)
			continue;
		steps->restarts++;
		steps->restart_op = restart->op;
		steps->restart_ns += restart->make_ns + restart->wait_ns;
		steps->restart_fetch_ns += restart->fetch_ns;
	}
}

static bool add_steps(const struct model *model, const struct analysis_window *window,
		      struct pipeline_steps *steps)
{
	const struct pipeline *pipeline = steps->usage->pipeline;
	uint32_t operators = pipeline->operators.count, index = 0;
	struct step_blame *blame = step_blame_new(model, pipeline);

	steps->costs = calloc((size_t)operators + 1, sizeof(*steps->costs));
	steps->rows = calloc((size_t)pipeline->fetches.count + 1, sizeof(*steps->rows));
	if (!steps->costs || !steps->rows || !blame) {
		step_blame_free(blame);
		return false;
	}
	for (uint32_t i = 0; i < pipeline->fetches.count && !pipeline->by_wakes; i++) {
		const struct pipeline_fetch *fetch = &pipeline->fetches.row[i];
		const struct pipeline_fetch *next = next_fetch(pipeline, i);
		struct step step = { .start_ns = fetch->start_ns };

		if (fetch->end_of_data)
			continue;
		step.index = index++;
		if (!next || fetch->open || next->start_ns < fetch->end_ns ||
		    !analysis_has(fetch->start_ns, window))
			continue;
		step.duration_ns = next->start_ns - fetch->start_ns;
		step.data_wait_ns = fetch->end_ns - fetch->start_ns;
		step_blame_find(blame, fetch, next->start_ns);
		step.op = costliest(blame->costs, operators, step.duration_ns);
		steps->rows[steps->count++] = step;
		judge(steps, &step, blame);
	}
	step_blame_free(blame);
	if (steps->judged && !add_taken(model, steps))
		return false;
	add_restarts(steps);
	steps->bottleneck = costliest(steps->costs, operators, steps->judged_ns);
	return true;
}

bool steps_precede(const struct pipeline_steps *a, const struct pipeline_steps *b)
{
	if (!a->count || !b || !b->count)
		return a->count;
	if (a->usage->pipeline->evaluates != b->usage->pipeline->evaluates)
		return b->usage->pipeline->evaluates;
	return a->count > b->count;
}

int steps_analyse(const struct model *model, const struct analysis_options *options,
		  const struct pipeline_results *pipelines, struct step_results *results)
{
	struct analysis_window window = analysis_window(model, options);

	*results = (struct step_results){ .main = INDEX_NONE };
	results->pipelines = calloc((size_t)pipelines->count + 1, sizeof(*results->pipelines));
	if (!results->pipelines)
		return -ENOMEM;
	for (uint32_t i = 0; i < pipelines->count; i++) {
		struct pipeline_steps *steps = &results->pipelines[results->count++];

		steps->usage = &pipelines->rows[i];
		steps->bottleneck = INDEX_NONE;
		if (!add_steps(model, &window, steps))
			return -ENOMEM;
		if (steps_precede(steps, results->main == INDEX_NONE ? NULL : &results->pipelines[results->main]))
			results->main = i;
	}
	return 0;
}

void steps_free(struct step_results *results)
{
	for (uint32_t i = 0; i < results->count; i++) {
		free(results->pipelines[i].rows);
		free(results->pipelines[i].costs);
	}
	free(results->pipelines);
	*results = (struct step_results){ 0 };
}
