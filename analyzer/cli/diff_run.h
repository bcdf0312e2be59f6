/* SPDX-License-Identifier: Apache-2.0 */
/* diff_run.h - the command diff: analyses two recordings, or two windows of one, part by part, and compares them */
#ifndef PROFBPF_ANALYZER_CLI_DIFF_RUN_H
#define PROFBPF_ANALYZER_CLI_DIFF_RUN_H

#include <stdio.h>

#include "analyzer/cli/command_line.h"
#include "analyzer/view/report.h"

/*
 * diff_run - read both sides, compare them, and write the result to @out by @options
 *
 * A side is a trace or, if it does not begin like a trace, a device file. Returns 0 or a negative errno with @error,
 * which names the file; @error is empty if writing failed.
 */
int diff_run(FILE *out, const struct options *options, const struct report_options *report,
	     char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_CLI_DIFF_RUN_H */
