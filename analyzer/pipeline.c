/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/join/timelines.h"
#include "analyzer/load/load_pbt.h"
#include "analyzer/write/report_parts.h"

static int load_files(struct analysis *analysis, char **traces, unsigned int count, char *error,
		      size_t error_size)
{
	struct loader *loader = loader_new(analysis->model);
	char reason[512] = "";
	int err = 0;

	if (!loader) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
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

int analysis_load(struct analysis *analysis, char **traces, unsigned int count, bool strict,
		  char *error, size_t error_size)
{
	char damage[512];
	int err;

	*analysis = (struct analysis){ .model = model_new() };
	if (!analysis->model) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	err = load_files(analysis, traces, count, error, error_size);
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

static int compute(struct analysis *analysis, const struct analysis_options *options)
{
	struct model *model = analysis->model;
	struct results *results = &analysis->results;
	struct analysis_window window = analysis_window(model, options);
	int err;

	results->from_ns = window.from_ns;
	results->to_ns = window.to_ns > window.from_ns ? window.to_ns : window.from_ns;
	results->capture = &analysis->capture;
	err = capture_analyse(model, results->capture);
	if (err)
		return err;
	err = timelines_build(model);
	if (err)
		return err;
	results->host = &analysis->host;
	err = host_analyse(model, options, results->host);
	if (err)
		return err;
	results->processes = &analysis->processes;
	err = processes_analyse(model, options, results->processes);
	if (err)
		return err;
	results->api = &analysis->api;
	err = api_analyse(model, options, results->api);
	if (err)
		return err;
	results->ioctl = &analysis->ioctl;
	err = ioctl_analyse(model, options, results->ioctl);
	if (err)
		return err;
	results->devices = &analysis->devices;
	return device_results_compute(model, options, results->devices);
}

int analysis_compute(struct analysis *analysis, const struct analysis_options *options, char *error,
		     size_t error_size)
{
	int err = compute(analysis, options);

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
	if (results->api)
		api_free(results->api);
	if (results->ioctl)
		ioctl_free(results->ioctl);
	if (results->devices)
		device_results_free(results->devices);
	model_free(analysis->model);
	*analysis = (struct analysis){ 0 };
}
