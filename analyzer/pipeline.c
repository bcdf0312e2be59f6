/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device_advice.h"
#include "analyzer/analyse/pipeline_series.h"
#include "analyzer/import/importer.h"
#include "analyzer/join/ioctl_ends.h"
#include "analyzer/join/sleep_causes.h"
#include "analyzer/join/symbols.h"
#include "analyzer/join/timelines.h"
#include "analyzer/load/load_pbt.h"
#include "analyzer/step_window.h"
#include "analyzer/write/report/report_parts.h"

static int load_files(struct analysis *analysis, char **traces, unsigned int count, bool survey,
		      char *error, size_t error_size)
{
	struct loader *loader = loader_new(analysis->model);
	char reason[512] = "";
	int err = 0;

	if (!loader) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	if (survey)
		loader_survey(loader);
	for (unsigned int i = 0; i < count && !err; i++) {
		err = load_pbt(loader, traces[i], reason, sizeof(reason));
		/* Readers name the file themselves where it is part of the sentence. */
		if (err && strncmp(reason, traces[i], strlen(traces[i])) == 0)
			snprintf(error, error_size, "%s", reason);
		else if (err)
			snprintf(error, error_size, "%s: %s", traces[i], reason);
	}
	if (!err)
		err = load_finish(loader, error, error_size);
	loader_free(loader);
	return err;
}

static int load(struct analysis *analysis, char **traces, unsigned int count, bool survey,
		bool strict, char *error, size_t error_size)
{
	char damage[512];
	int err;

	*analysis = (struct analysis){ .model = model_new() };
	if (!analysis->model) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	err = load_files(analysis, traces, count, survey, error, error_size);
	if (err)
		return err;
	text_damage(analysis->model, damage, sizeof(damage));
	if (damage[0] && strict) {
		snprintf(error, error_size, "%s: %s", count == 1 ? traces[0] : "traces", damage);
		return -EBADMSG;
	}
	if (damage[0])
		fprintf(stderr, "analyzer: %s: %s (see --strict)\n",
			count == 1 ? traces[0] : "traces", damage);
	return 0;
}

int analysis_load(struct analysis *analysis, char **traces, unsigned int count, bool strict,
		  char *error, size_t error_size)
{
	return load(analysis, traces, count, false, strict, error, error_size);
}

int analysis_survey(struct analysis *analysis, char *trace, bool strict, char *error,
		    size_t error_size)
{
	return load(analysis, &trace, 1, true, strict, error, error_size);
}

int analysis_import(struct analysis *analysis, char **devices, unsigned int count, bool alone,
		    char *error, size_t error_size)
{
	int err = 0;

	for (unsigned int i = 0; i < count && !err; i++)
		err = import_device_file(analysis->model, devices[i], alone, error, error_size);
	if (err || !count)
		return err;
	err = import_finish(analysis->model, alone);
	if (err)
		snprintf(error, error_size, "out of memory");
	return err;
}

/* What all analyses need: threads' timelines, what their sleeps were for, and device tasks on the host's clock. */
static int join(struct analysis *analysis)
{
	int err = timelines_build(analysis->model);

	if (!err)
		err = sleep_causes_find(analysis->model);
	if (err)
		return err;
	ioctl_ends_find(analysis->model);
	analysis->results.devices = &analysis->devices;
	return device_results_join(analysis->model, &analysis->devices);
}

static int compute_host(struct analysis *analysis, const struct analysis_options *options)
{
	struct model *model = analysis->model;
	struct results *results = &analysis->results;
	int err = host_analyse(model, options, results->host = &analysis->host);

	if (!err)
		err = processes_analyse(model, options, results->processes = &analysis->processes);
	if (!err)
		err = series_analyse(model, results->host, results->series = &analysis->series);
	if (!err)
		err = cgroups_analyse(model, options, results->cgroups = &analysis->cgroups);
	return err;
}

#define SERIES_ROWS_MAX (1u << 18) /* of a pipeline; a report with more is none for people */
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

static void free_series(const struct results *results)
{
	for (uint32_t i = 0; results->pipeline_series && i < results->pipelines->count; i++)
		pipeline_series_free(&results->pipeline_series[i]);
	free(results->pipeline_series);
}

/* The steps are the pipelines' marks, the advice is on the steps. */
static int compute_pipelines(struct analysis *analysis, const struct analysis_options *options)
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
		err = advice_analyse(model, results->steps, results->advice = &analysis->advice);
	return err;
}

static int compute_calls(struct analysis *analysis, const struct analysis_options *options)
{
	struct model *model = analysis->model;
	struct results *results = &analysis->results;
	int err = api_analyse(model, options, results->api = &analysis->api);

	if (!err)
		err = ioctl_analyse(model, options, results->ioctl = &analysis->ioctl);
	if (!err)
		err = block_analyse(model, options, results->block = &analysis->block);
	if (!err)
		err = faults_analyse(model, options, results->faults = &analysis->faults);
	return err;
}

static int compute_device(struct analysis *analysis, const struct analysis_options *options)
{
	struct model *model = analysis->model;
	struct results *results = &analysis->results;
	int err = symbols_resolve(model); /* roots of idle time tell functions */

	if (!err)
		err = device_results_analyse(model, options, results->devices);
	if (!err)
		err = device_steps_analyse(model, options, results->steps,
					   results->device_steps = &analysis->device_steps);
	if (!err)
		err = operator_steps_analyse(model, options, results->device_steps,
					     results->operator_steps = &analysis->operator_steps);
	if (!err)
		err = cluster_analyse(model, results->devices, results->device_steps,
				      results->cluster = &analysis->cluster);
	if (!err)
		err = device_advice_add(model, results->devices, results->device_steps,
					results->api, results->advice);
	if (!err)
		err = api_statistic_analyse(model, options,
					    results->api_statistic = &analysis->api_statistic);
	if (!err)
		err = memory_analyse(model, options, results->memory = &analysis->memory);
	if (!err)
		err = launched_analyse(model, options, results->launched = &analysis->launched);
	return err;
}

static int compute_stacks(struct analysis *analysis, const struct analysis_options *options)
{
	struct model *model = analysis->model;
	struct results *results = &analysis->results;
	int err = stacks_analyse(model, options, results->stacks = &analysis->stacks);

	if (!err)
		err = python_analyse(model, options, results->python = &analysis->python);
	return err;
}

/* On what all others found. */
static int compute_verdict(struct analysis *analysis)
{
	struct results *results = &analysis->results;
	const struct verdict_facts facts = { .capture = results->capture,
					     .devices = results->devices,
					     .steps = results->steps,
					     .advice = results->advice };

	return verdict_find(analysis->model, &facts, results->verdict = &analysis->verdict);
}

/* When, by whom, with which losses; and the window of everything. */
static int compute_capture(struct analysis *analysis, const struct analysis_options *options)
{
	struct model *model = analysis->model;
	struct results *results = &analysis->results;
	struct analysis_window window = analysis_window(model, options);
	int err;

	results->from_ns = window.from_ns;
	results->to_ns = window.to_ns > window.from_ns ? window.to_ns : window.from_ns;
	err = capture_analyse(model, results->capture = &analysis->capture);
	if (!err)
		err = probe_cost_analyse(model, options,
					 results->probe_cost = &analysis->probe_cost);
	return err;
}

/* In this order: the later ones read what the earlier ones found. */
static int compute(struct analysis *analysis, const struct analysis_options *options)
{
	int err = compute_capture(analysis, options);

	if (!err)
		err = compute_host(analysis, options);
	if (!err)
		err = compute_pipelines(analysis, options);
	if (!err)
		err = compute_calls(analysis, options);
	if (!err)
		err = compute_device(analysis, options);
	if (!err)
		err = compute_stacks(analysis, options);
	if (!err)
		err = compute_verdict(analysis);
	return err;
}

int analysis_compute_capture(struct analysis *analysis, const struct analysis_options *options,
			     char *error, size_t error_size)
{
	int err = compute_capture(analysis, options);

	if (err)
		snprintf(error, error_size, "cannot analyse: %s", strerror(-err));
	return err;
}

int analysis_compute(struct analysis *analysis, const struct analysis_options *options, char *error,
		     size_t error_size)
{
	struct analysis_options wanted = *options;
	int err = join(analysis);

	if (!err && options->has_steps)
		err = step_window_find(analysis->model, &wanted, error, error_size);
	if (err == -ENOENT)
		return err;
	if (!err)
		err = compute(analysis, &wanted);
	if (err)
		snprintf(error, error_size, "cannot analyse: %s", strerror(-err));
	return err;
}

void analysis_free(struct analysis *analysis)
{
	const struct results *results = &analysis->results;

	if (results->capture)
		capture_free(results->capture);
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
	if (results->devices)
		device_results_free(results->devices);
	model_free(analysis->model);
	*analysis = (struct analysis){ 0 };
}
