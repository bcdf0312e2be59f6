/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the text, the JSON and the HTML report.
 *
 * Writers read the model and the analyses' results; they only compute the order
 * and the number of the rows shown. The names in the JSON report and their
 * units are a stable interface.
 */
#ifndef PROFBPF_ANALYZER_VIEW_REPORT_H
#define PROFBPF_ANALYZER_VIEW_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/model/model.h"

/*
 * FIRST(NAME, name) and NEXT(NAME, name) for each section, in the order of the report; section_name (sections.h)
 * describes it.
 */
#define SECTIONS(FIRST, NEXT) \
	FIRST(VERDICT, verdict) \
	NEXT(TRACE, trace) \
	NEXT(CAPTURE, capture) \
	NEXT(HOST, host) \
	NEXT(PROCESSES, processes) \
	NEXT(PIPELINE, pipeline) \
	NEXT(STEPS, steps) \
	NEXT(WAITS, waits) \
	NEXT(API, api) \
	NEXT(IOCTL, ioctl) \
	NEXT(IO, io) \
	NEXT(DEVICES, devices) \
	NEXT(JOIN, join) \
	NEXT(OPERATORS, operators) \
	NEXT(OVERLAP, overlap) \
	NEXT(COMMUNICATION, communication) \
	NEXT(IDLE, idle) \
	NEXT(CLUSTER, cluster) \
	NEXT(SHAPES, shapes) \
	NEXT(MEMORY, memory) \
	NEXT(STACKS, stacks) \
	NEXT(ADVICE, advice) \
	NEXT(PYTHON, python)

#define SECTION_NUMBER(NAME, name) SECTION_NUMBER_##NAME,
enum section_number { SECTIONS(SECTION_NUMBER, SECTION_NUMBER) SECTION_COUNT };
#undef SECTION_NUMBER

#define SECTION_BIT(NAME, name) SECTION_##NAME = 1 << SECTION_NUMBER_##NAME,
enum report_section {
	SECTIONS(SECTION_BIT, SECTION_BIT)
	SECTION_ALL = (1 << SECTION_COUNT) - 1,
	SECTION_DEFAULT = SECTION_ALL &
			  ~SECTION_SHAPES, /* too long by default: a row per operator and step */
};
#undef SECTION_BIT

struct report_options {
	uint32_t sections; /* enum report_section, or-ed */
	bool named; /* they were asked for by name: one without content says so */
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
struct scope_results;
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
struct job_verdicts;

/* All results of the analyses. Results that are NULL are left out of the report. */
struct results {
	uint64_t from_ns; /* the analysed part of the trace */
	uint64_t to_ns;
	struct capture_results *capture;
	struct probe_cost_results *probe_cost;
	struct host_results *host;
	struct process_results *processes;
	struct pipeline_results *pipelines;
	struct pipeline_series *pipeline_series; /* by row of pipelines */
	struct step_results *steps;
	struct advice_results *advice;
	struct series_results *series;
	struct cgroup_results *cgroups;
	struct api_results *api;
	struct scope_results *scopes;
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
	struct job_verdicts *jobs;
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

/* report_schema - writes the JSON Schema of the JSON report: keys, types and meanings. Returns as the others do. */
int report_schema(FILE *out);

/*
 * report_html - writes the JSON report in a page that draws it
 *
 * The page (page/page.html) loads nothing. Returns as the others do.
 */
int report_html(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options);

#endif /* PROFBPF_ANALYZER_VIEW_REPORT_H */
