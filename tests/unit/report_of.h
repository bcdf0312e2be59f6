/* SPDX-License-Identifier: Apache-2.0 */
/* report_of.h - makes the report of a trace that a test has built. Failures fail the running test. */
#ifndef PROFBPF_TESTS_UNIT_REPORT_OF_H
#define PROFBPF_TESTS_UNIT_REPORT_OF_H

#include <stdio.h>

#include "analyzer/cli/analysis.h"
#include "tests/unit/json_path.h"
#include "tests/unit/sample_trace.h"

#define ALL_ROWS { .sections = SECTION_ALL }

/* The type of report_json(), report_text() and similar functions. */
typedef int report_writer(FILE *out, const struct model *model, const struct results *results,
			  const struct report_options *options);

/* Returns the report as a text, which the caller frees. Frees the builder. */
char *report_of(struct trace_builder *builder, const struct analysis_options *wanted,
		const struct report_options *options, report_writer *write_report);

/* Returns the complete JSON report of sample_trace(@how); the caller frees it with yajl_tree_free(). */
yajl_val report_of_sample(unsigned int how, const struct analysis_options *wanted);

/* Fails the test unless the text contains these words. */
void assert_says(const char *text, const char *words);

#endif /* PROFBPF_TESTS_UNIT_REPORT_OF_H */
