/* SPDX-License-Identifier: Apache-2.0 */
/* report_of.h - the report of a trace that a test has made. Failures fail the running test. */
#ifndef PROFBPF_TESTS_UNIT_REPORT_OF_H
#define PROFBPF_TESTS_UNIT_REPORT_OF_H

#include <stdio.h>

#include "analyzer/cli/analysis.h"
#include "tests/unit/json_path.h"
#include "tests/unit/sample_trace.h"

#define ALL_ROWS { .sections = SECTION_ALL }

/* report_json, report_text and the like. */
typedef int report_writer(FILE *out, const struct model *model, const struct results *results,
			  const struct report_options *options);

/* The report as a text that the caller frees. The builder is freed. */
char *report_of(struct trace_builder *builder, const struct analysis_options *wanted,
		const struct report_options *options, report_writer *write_report);

/* The JSON report of sample_trace(@how), all of it; yajl_tree_free() it. */
yajl_val report_of_sample(unsigned int how, const struct analysis_options *wanted);

/* The text has these words somewhere. */
void assert_says(const char *text, const char *words);

#endif /* PROFBPF_TESTS_UNIT_REPORT_OF_H */
