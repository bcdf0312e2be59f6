/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.h - a model and the results of all passes (passes.h) on it.
 */
#ifndef PROFBPF_ANALYZER_CLI_FOUND_H
#define PROFBPF_ANALYZER_CLI_FOUND_H

#include <stdbool.h>
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
#include "analyzer/analyse/idle/job_verdicts.h"
#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/model/far_counts.h"
#include "analyzer/model/model.h"
#include "analyzer/view/report.h"

struct analysis {
	struct model *model;
	struct far_counts far; /* tasks outside of the loaded part */
	bool rows_wanted; /* the caller needs the rows themselves, not only the results of analyses */
	uint32_t sections; /* enum report_section: only the results for these are computed; 0 = all */
	struct ticker *ticker; /* display of the current activity; NULL = none */
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
	struct job_verdicts jobs;
};

#endif /* PROFBPF_ANALYZER_CLI_FOUND_H */
