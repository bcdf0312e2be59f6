/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/passes.h"

#include "analyzer/analyse/idle/job_rules.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/device/device_advice.h"
#include "analyzer/analyse/pipeline/pipeline_series.h"
#include "analyzer/join/thread/python_glue.h"
#include "analyzer/join/thread/symbols.h"
#include "analyzer/load/load_pbt.h"
#include "lib/base/ticker.h"

typedef int pass_fn(struct analysis *analysis, const struct analysis_options *options);

#define SERIES_ROWS_MAX (1u << 18) /* rows of a pipeline; a longer report is unreadable */
#define SERIES_WORK_MAX (1u << 26) /* threads by intervals */

static bool series_wanted(const struct host_results *host, const struct pipeline *pipeline)
{
	return (uint64_t)pipeline->operators.count * host->interval_count <= SERIES_ROWS_MAX &&
	       (uint64_t)pipeline->threads.count * host->interval_count <= SERIES_WORK_MAX;
}

static int compute_series(struct analysis *analysis)
{
	struct results *results = &analysis->results;
	uint32_t count = results->pipelines->count;
	int err = 0;

	results->pipeline_series = calloc((size_t)count + 1, sizeof(*results->pipeline_series));
	if (!results->pipeline_series)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && !err; i++) {
		const struct pipeline_usage *usage = &results->pipelines->rows[i];

		if (series_wanted(results->host, usage->pipeline))
			err = pipeline_series_compute(analysis->model, results->host,
						      results->processes, usage,
						      &results->pipeline_series[i]);
	}
	return err;
}

static int run_host(struct analysis *analysis, const struct analysis_options *options)
{
	return host_analyse(analysis->model, options, analysis->results.host = &analysis->host);
}

static int run_processes(struct analysis *analysis, const struct analysis_options *options)
{
	return processes_analyse(analysis->model, options,
				 analysis->results.processes = &analysis->processes);
}

static int run_series(struct analysis *analysis, const struct analysis_options *options)
{
	struct results *results = &analysis->results;
	int err =
		series_analyse(analysis->model, results->host, results->series = &analysis->series);

	return err ? err
		   : cgroups_analyse(analysis->model, options,
				     results->cgroups = &analysis->cgroups);
}

/* Steps are computed from the pipelines' marks, advice from the steps. */
static int run_pipelines(struct analysis *analysis, const struct analysis_options *options)
{
	struct model *model = analysis->model;
	struct results *results = &analysis->results;
	int err = pipelines_analyse(model, options, results->processes,
				    results->pipelines = &analysis->pipelines);

	if (!err)
		err = compute_series(analysis);
	if (!err)
		err = steps_analyse(model, options, results->pipelines,
				    results->steps = &analysis->steps);
	if (!err)
		err = advice_analyse(model, results->steps, host_idle_cpus(results->host),
				     results->advice = &analysis->advice);
	return err;
}

static int run_api(struct analysis *analysis, const struct analysis_options *options)
{
	int err = api_analyse(analysis->model, options, analysis->results.api = &analysis->api);

	return err ? err
		   : scopes_analyse(analysis->model, options,
				    analysis->results.scopes = &analysis->scopes);
}

static int run_ioctl(struct analysis *analysis, const struct analysis_options *options)
{
	return ioctl_analyse(analysis->model, options, analysis->results.ioctl = &analysis->ioctl);
}

static int run_io(struct analysis *analysis, const struct analysis_options *options)
{
	struct results *results = &analysis->results;
	int err = block_analyse(analysis->model, options, results->block = &analysis->block);

	return err ? err
		   : faults_analyse(analysis->model, options, results->faults = &analysis->faults);
}

static int run_devices(struct analysis *analysis, const struct analysis_options *options)
{
	return device_results_analyse(analysis->model, options, &analysis->devices);
}

/* Roots of idle time contain functions, as stacks do. */
static int run_symbols(struct analysis *analysis, const struct analysis_options *options)
{
	(void)options;
	int err = symbols_resolve(analysis->model);

	if (!err)
		python_glue_fold(analysis->model);
	return err;
}

static int run_idle(struct analysis *analysis, const struct analysis_options *options)
{
	return device_results_idle(analysis->model, options, &analysis->devices);
}

static int run_device_steps(struct analysis *analysis, const struct analysis_options *options)
{
	struct model *model = analysis->model;
	struct results *results = &analysis->results;
	int err = device_steps_analyse(model, options, results->steps,
				       results->device_steps = &analysis->device_steps);

	if (!err)
		err = operator_steps_analyse(model, options, results->device_steps,
					     results->operator_steps = &analysis->operator_steps);
	if (!err)
		err = cluster_analyse(model, &analysis->devices, results->device_steps,
				      results->cluster = &analysis->cluster);
	if (!err)
		err = device_advice_add(model, options, &analysis->devices, results->device_steps,
					results->api, results->advice);
	return err;
}

static int run_api_statistic(struct analysis *analysis, const struct analysis_options *options)
{
	struct results *results = &analysis->results;
	int err = api_statistic_analyse(analysis->model, options,
					results->api_statistic = &analysis->api_statistic);

	return err ? err
		   : launched_analyse(analysis->model, options,
				      results->launched = &analysis->launched);
}

static int run_memory(struct analysis *analysis, const struct analysis_options *options)
{
	return memory_analyse(analysis->model, options,
			      analysis->results.memory = &analysis->memory);
}

static int run_stacks(struct analysis *analysis, const struct analysis_options *options)
{
	return stacks_analyse(analysis->model, options,
			      analysis->results.stacks = &analysis->stacks);
}

static int run_python(struct analysis *analysis, const struct analysis_options *options)
{
	return python_analyse(analysis->model, options,
			      analysis->results.python = &analysis->python);
}

static bool has_device_tasks(const struct analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->devices.device_count; i++)
		if (analysis->devices.devices[i].window_ns)
			return true;
	return false;
}

/* Threads' waits replace idle causes of devices if there are no devices; or the options select threads. */
static int run_waits(struct analysis *analysis, const struct analysis_options *options)
{
	struct results *results = &analysis->results;

	if (has_device_tasks(analysis) && !options->tid_count)
		return 0;
	return host_waits_analyse(analysis->model, options, results->steps,
				  results->waits = &analysis->waits);
}

static int run_outliers(struct analysis *analysis, const struct analysis_options *options)
{
	struct results *results = &analysis->results;

	return step_outliers_find(analysis->model, options, results->steps, results->device_steps,
				  results->outliers = &analysis->outliers);
}

static struct verdict_facts facts_of(const struct results *results)
{
	return (struct verdict_facts){ .capture = results->capture,
				       .devices = results->devices,
				       .steps = results->steps,
				       .waits = results->waits,
				       .advice = results->advice };
}

/* Uses the results of all other passes. */
static int run_verdict(struct analysis *analysis, const struct analysis_options *options)
{
	struct results *results = &analysis->results;
	const struct verdict_facts facts = facts_of(results);
	int err = verdict_find(analysis->model, &facts, results->verdict = &analysis->verdict);

	return err || !(analysis->sections & SECTION_VERDICT)
		       ? err
		       : job_verdicts_find(analysis->model, options, &facts,
					   results->jobs = &analysis->jobs);
}

static int run_job_rules(struct analysis *analysis, const struct analysis_options *options)
{
	struct results *results = &analysis->results;
	const struct verdict_facts facts = facts_of(results);

	(void)options;
	return job_rules_judge(analysis->model, &facts, results->verdict, results->api,
			       results->host, results->advice);
}

/* Sections that depend on steps, of a job and of its devices. */
#define BY_STEPS                                                                                \
	(SECTION_PIPELINE | SECTION_STEPS | SECTION_SHAPES | SECTION_CLUSTER | SECTION_ADVICE | \
	 SECTION_WAITS | SECTION_VERDICT)
#define OF_DEVICES                                                              \
	(SECTION_DEVICES | SECTION_JOIN | SECTION_OPERATORS | SECTION_OVERLAP | \
	 SECTION_COMMUNICATION | SECTION_IDLE | BY_STEPS)

/*
 * In order: later passes read the results of earlier ones, which therefore include the sections of the later ones.
 */
static const struct pass {
	uint32_t sections; /* enum report_section: those that show its results */
	uint32_t rows; /* enum load_rows: those that it reads, or that its input was joined with */
	pass_fn *run;
} PASSES[] = {
	{ SECTION_HOST | SECTION_PROCESSES | BY_STEPS, 0, run_host },
	{ SECTION_HOST | SECTION_PROCESSES | BY_STEPS, LOAD_SCHEDULE, run_processes },
	{ SECTION_HOST | SECTION_PROCESSES, LOAD_SCHEDULE, run_series },
	{ BY_STEPS, LOAD_ALL, run_pipelines },
	{ SECTION_API | BY_STEPS, LOAD_CALLS | LOAD_TASKS, run_api },
	{ SECTION_IOCTL, LOAD_IOCTLS | LOAD_SCHEDULE, run_ioctl },
	{ SECTION_IO, LOAD_SCHEDULE, run_io },
	{ OF_DEVICES, LOAD_CALLS | LOAD_TASKS, run_devices },
	{ SECTION_IDLE | SECTION_STACKS | SECTION_PYTHON | BY_STEPS, 0, run_symbols },
	{ SECTION_IDLE | BY_STEPS, LOAD_ALL, run_idle },
	{ BY_STEPS, LOAD_ALL, run_device_steps },
	{ SECTION_API, LOAD_CALLS | LOAD_TASKS, run_api_statistic },
	{ SECTION_MEMORY, LOAD_CALLS | LOAD_TASKS, run_memory },
	{ SECTION_STACKS, 0, run_stacks },
	{ SECTION_PYTHON, LOAD_SCHEDULE, run_python },
	{ SECTION_WAITS | SECTION_VERDICT | SECTION_ADVICE | SECTION_PIPELINE, LOAD_ALL, run_waits },
	{ SECTION_STEPS, LOAD_ALL, run_outliers },
	{ SECTION_VERDICT | SECTION_ADVICE | SECTION_PIPELINE, LOAD_ALL, run_verdict },
	{ SECTION_ADVICE, LOAD_ALL, run_job_rules },
};

#define PASS_COUNT (sizeof(PASSES) / sizeof(PASSES[0]))

uint32_t passes_rows(uint32_t sections)
{
	uint32_t rows = 0;

	for (size_t i = 0; i < PASS_COUNT; i++)
		rows |= sections & PASSES[i].sections ? PASSES[i].rows : 0;
	return rows;
}

int passes_run(struct analysis *analysis, const struct analysis_options *options)
{
	int err = 0;

	for (size_t i = 0; i < PASS_COUNT && !err; i++) {
		if (!(analysis->sections & PASSES[i].sections))
			continue;
		ticker_say(analysis->ticker, "analysing: %zu of %zu", i + 1, PASS_COUNT);
		err = PASSES[i].run(analysis, options);
	}
	return err;
}

/* To be called before the pipelines are freed. */
static void free_series(const struct results *results)
{
	for (uint32_t i = 0; results->pipeline_series && i < results->pipelines->count; i++)
		pipeline_series_free(&results->pipeline_series[i]);
	free(results->pipeline_series);
}

void passes_free(struct analysis *analysis)
{
	const struct results *results = &analysis->results;

	if (results->host)
		host_free(results->host);
	if (results->processes)
		processes_free(results->processes);
	if (results->advice)
		advice_free(results->advice);
	if (results->steps)
		steps_free(results->steps);
	free_series(results);
	if (results->pipelines)
		pipelines_results_free(results->pipelines);
	if (results->series)
		series_free(results->series);
	if (results->cgroups)
		cgroups_free_results(results->cgroups);
	if (results->api)
		api_free(results->api);
	if (results->scopes)
		scopes_free(results->scopes);
	if (results->ioctl)
		ioctl_free(results->ioctl);
	if (results->block)
		block_free(results->block);
	if (results->faults)
		faults_free(results->faults);
	if (results->launched)
		launched_free(results->launched);
	if (results->stacks)
		stacks_free(results->stacks);
	if (results->python)
		python_free(results->python);
	if (results->api_statistic)
		api_statistic_free(results->api_statistic);
	if (results->memory)
		memory_free(results->memory);
	if (results->cluster)
		cluster_free(results->cluster);
	if (results->operator_steps)
		operator_steps_free(results->operator_steps);
	if (results->device_steps)
		device_steps_free(results->device_steps);
	if (results->waits)
		host_waits_free(results->waits);
	if (results->jobs)
		job_verdicts_free(results->jobs);
	if (results->outliers)
		step_outliers_free(results->outliers);
}
