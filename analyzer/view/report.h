/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the text, the JSON and the HTML report.
 *
 * Writers read the model and the analyses' results; they compute nothing but
 * the order and number of the rows shown. The names in the JSON report and
 * their units are a promise to users.
 */
#ifndef PROFBPF_ANALYZER_VIEW_REPORT_H
#define PROFBPF_ANALYZER_VIEW_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/model/model.h"

/* Sections of the report, in the order in which they appear. */
enum report_section {
	SECTION_TRACE = 1 << 0,
	SECTION_CAPTURE = 1 << 1,
	SECTION_HOST = 1 << 2,
	SECTION_PROCESSES = 1 << 3,
	SECTION_API = 1 << 4,
	SECTION_IOCTL = 1 << 5,
	SECTION_DEVICES = 1 << 6,
	SECTION_JOIN = 1 << 7,
	SECTION_OPERATORS = 1 << 8,
	SECTION_IDLE = 1 << 9,
	SECTION_PIPELINE = 1 << 10,
	SECTION_STACKS = 1 << 11,
	SECTION_STEPS = 1 << 12,
	SECTION_ADVICE = 1 << 13,
	SECTION_PYTHON = 1 << 14,
	SECTION_OVERLAP = 1 << 15,
	SECTION_IO = 1 << 16,
	SECTION_COMMUNICATION = 1 << 17,
	SECTION_MEMORY = 1 << 18,
	SECTION_SHAPES = 1 << 19,
	SECTION_CLUSTER = 1 << 20,
	SECTION_VERDICT = 1 << 21, /* comes first */
	SECTION_WAITS = 1 << 22,
	SECTION_ALL = (1 << 23) - 1,
	SECTION_DEFAULT = SECTION_ALL &
			  ~SECTION_SHAPES, /* that is long: a row per operator and step */
};

struct report_options {
	uint32_t sections; /* enum report_section, or-ed */
	uint32_t top; /* rows shown of each table; 0 = all */
	unsigned int width; /* columns of the terminal; 0 = as wide as needed */
	bool colour;
};

struct capture_results;
struct host_results;
struct probe_cost_results;
struct process_results;
struct pipeline_results;
struct step_results;
struct advice_results;
struct series_results;
struct cgroup_results;
struct api_results;
struct ioctl_results;
struct block_results;
struct fault_results;
struct launched_results;
struct device_results; /* analyse/results.h */
struct device_step_results;
struct operator_step_results;
struct cluster_results;
struct memory_results;
struct api_statistic_results;
struct stack_results;
struct python_results;
struct host_waits;
struct verdict;

/* Everything the analyses found out. Results that are NULL are left out of the report. */
struct results {
	uint64_t from_ns; /* the analysed part of the trace */
	uint64_t to_ns;
	struct capture_results *capture;
	struct probe_cost_results *probe_cost;
	struct host_results *host;
	struct process_results *processes;
	struct pipeline_results *pipelines;
	struct pipeline_series *pipeline_series; /* of each row of pipelines */
	struct step_results *steps;
	struct advice_results *advice;
	struct series_results *series;
	struct cgroup_results *cgroups;
	struct api_results *api;
	struct ioctl_results *ioctl;
	struct block_results *block;
	struct fault_results *faults;
	struct device_results *devices;
	struct device_step_results *device_steps;
	struct operator_step_results *operator_steps;
	struct cluster_results *cluster;
	struct memory_results *memory;
	struct api_statistic_results *api_statistic;
	struct launched_results *launched;
	struct stack_results *stacks;
	struct python_results *python;
	struct host_waits *waits;
	struct step_outliers *outliers;
	struct verdict *verdict;
};

/*
 * report_text, report_json - write the report to @out
 *
 * Return 0 or a negative errno: -ENOMEM, or the error of writing to @out.
 */
int report_text(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options);
int report_json(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options);

#define REPORT_SCHEMA "profbpf.report/1"

/* report_schema - the JSON report as a JSON Schema: keys, types and meanings. Returns as the others do. */
int report_schema(FILE *out);

/*
 * report_html - the JSON report in a page that draws it
 *
 * The page (page/page.html) loads nothing. Returns as the others do.
 */
int report_html(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options);

#endif /* PROFBPF_ANALYZER_VIEW_REPORT_H */
