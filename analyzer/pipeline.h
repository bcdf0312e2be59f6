/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.h - load, join, analyse: from files to a model and its results.
 */
#ifndef PROFBPF_ANALYZER_PIPELINE_H
#define PROFBPF_ANALYZER_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/api.h"
#include "analyzer/analyse/capture.h"
#include "analyzer/analyse/host.h"
#include "analyzer/analyse/ioctl.h"
#include "analyzer/analyse/options.h"
#include "analyzer/analyse/processes.h"
#include "analyzer/analyse/results.h"
#include "analyzer/model/model.h"
#include "analyzer/write/report.h"

struct analysis {
	struct model *model;
	struct results results; /* points at the members below that were computed */
	struct capture_results capture;
	struct host_results host;
	struct process_results processes;
	struct api_results api;
	struct ioctl_results ioctl;
	struct device_results devices;
};

/*
 * analysis_load - read the traces and complete the model
 *
 * Damage is told on standard error, one line per run. Returns 0 or a negative errno
 * with @error (of @error_size bytes), which names the file; -EBADMSG if @strict and
 * any part of a trace is damaged. analysis_free() is to be called in any case.
 */
int analysis_load(struct analysis *analysis, char **traces, unsigned int count, bool strict,
		  char *error, size_t error_size);

/*
 * analysis_compute - join and analyse
 *
 * Once per model. Returns 0 or -ENOMEM with @error.
 */
int analysis_compute(struct analysis *analysis, const struct analysis_options *options, char *error,
		     size_t error_size);

void analysis_free(struct analysis *analysis);

#endif /* PROFBPF_ANALYZER_PIPELINE_H */
