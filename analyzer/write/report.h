/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the text and the JSON report.
 *
 * Writers read the model and the analyses' results; they compute nothing but
 * the order and number of the rows shown. The names in the JSON report and
 * their units are a promise to users.
 */
#ifndef PROFBPF_ANALYZER_WRITE_REPORT_H
#define PROFBPF_ANALYZER_WRITE_REPORT_H

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
	SECTION_ALL = (1 << 10) - 1,
};

struct report_options {
	uint32_t sections; /* enum report_section, or-ed */
	uint32_t top; /* rows shown of each table; 0 = all */
	unsigned int width; /* columns of the terminal; 0 = as wide as needed */
	bool colour;
};

struct capture_results;
struct host_results;
struct process_results;
struct api_results;
struct ioctl_results;
struct device_results; /* analyse/results.h */

/* Everything the analyses found out. Results that are NULL are left out of the report. */
struct results {
	uint64_t from_ns; /* the analysed part of the trace */
	uint64_t to_ns;
	struct capture_results *capture;
	struct host_results *host;
	struct process_results *processes;
	struct api_results *api;
	struct ioctl_results *ioctl;
	struct device_results *devices;
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

#endif /* PROFBPF_ANALYZER_WRITE_REPORT_H */
