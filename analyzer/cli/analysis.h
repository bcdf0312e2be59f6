/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h - load, join, analyse: from files to a model and its results.
 */
#ifndef PROFBPF_ANALYZER_CLI_ANALYSIS_H
#define PROFBPF_ANALYZER_CLI_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/calls/api.h"
#include "analyzer/analyse/calls/api_statistic.h"
#include "analyzer/analyse/host/block_io.h"
#include "analyzer/analyse/losses.h"
#include "analyzer/analyse/host/cgroup_limits.h"
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/idle/step_outliers.h"
#include "analyzer/analyse/host/faults.h"
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/calls/ioctl.h"
#include "analyzer/analyse/calls/launched.h"
#include "analyzer/analyse/memory/memory.h"
#include "analyzer/analyse/cluster/cluster.h"
#include "analyzer/analyse/device/operator_steps.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/pipeline/pipelines.h"
#include "analyzer/analyse/calls/probe_cost.h"
#include "analyzer/analyse/calls/scopes.h"
#include "analyzer/analyse/host/process_series.h"
#include "analyzer/analyse/host/processes.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/host/python.h"
#include "analyzer/analyse/host/stacks.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/model/model.h"
#include "analyzer/view/report.h"

struct analysis {
	struct model *model;
	bool rows_wanted; /* the rows themselves are wanted, not only what is found in them */
	uint32_t sections; /* enum report_section: what is analysed is what these show; 0 = all */
	struct ticker *ticker; /* is told what is being done; NULL = nobody is */
	struct results results; /* points at the members below that were computed */
	struct capture_results capture;
	struct probe_cost_results probe_cost;
	struct host_results host;
	struct process_results processes;
	struct pipeline_results pipelines;
	struct step_results steps;
	struct advice_results advice;
	struct series_results series;
	struct cgroup_results cgroups;
	struct api_results api;
	struct scope_results scopes;
	struct ioctl_results ioctl;
	struct block_results block;
	struct fault_results faults;
	struct device_results devices;
	struct device_step_results device_steps;
	struct operator_step_results operator_steps;
	struct cluster_results cluster;
	struct memory_results memory;
	struct api_statistic_results api_statistic;
	struct launched_results launched;
	struct stack_results stacks;
	struct python_results python;
	struct host_waits waits;
	struct step_outliers outliers;
	struct verdict verdict;
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

/* What is wanted of traces. */
struct analysis_wish {
	uint32_t sections; /* enum report_section */
	uint32_t rows; /* enum load_rows: kept whatever the sections need, and joined */
	bool calls; /* keep calls for any of them: what probes cost in a part of the trace is summed up from these */
	bool part; /* of one trace: only what tells of a part of the time, since the session's start */
	uint64_t from_ns;
	uint64_t to_ns; /* UINT64_MAX = to the session's end */
	uint64_t margin_ns; /* so much around it, too; 0 = 2 s */
	struct progress *progress; /* where to show how much has been read; NULL = nowhere */
};

/* analysis_load_for - the same, but rows that nothing wanted needs are counted, not kept */
int analysis_load_for(struct analysis *analysis, char **traces, unsigned int count,
		      const struct analysis_wish *wish, bool strict, char *error,
		      size_t error_size);

/*
 * analysis_import - take in the device files of other profilers, after analysis_load()
 *
 * @alone: there is no trace; the files' own host halves and clocks are the model's. Returns 0 or a
 * negative errno with @error, which names the file.
 */
int analysis_import(struct analysis *analysis, char **devices, unsigned int count, bool alone,
		    char *error, size_t error_size);

/*
 * analysis_compute - join and analyse
 *
 * Once per model. Returns 0 or a negative errno with @error: -ENOMEM, -ENOENT if there are no such
 * steps as the options want.
 */
int analysis_compute(struct analysis *analysis, const struct analysis_options *options, char *error,
		     size_t error_size);

/*
 * analysis_repeat - after analysis_compute(): analyse another part of the same model
 *
 * What was found before is gone. @options must not ask for steps by number. Returns as that does.
 */
int analysis_repeat(struct analysis *analysis, const struct analysis_options *options, char *error,
		    size_t error_size);

void analysis_free(struct analysis *analysis);

#endif /* PROFBPF_ANALYZER_CLI_ANALYSIS_H */
