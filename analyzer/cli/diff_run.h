/* SPDX-License-Identifier: Apache-2.0 */
/* diff_run.h - the command diff: two recordings, or two windows of one, analysed part by part and compared */
#ifndef PROFBPF_ANALYZER_CLI_DIFF_RUN_H
#define PROFBPF_ANALYZER_CLI_DIFF_RUN_H

#include <stdio.h>

#include "analyzer/cli/command_line.h"
#include "analyzer/view/report.h"

/*
 * diff_run - read both sides, compare, and write to @out as @options ask
 *
 * A side is a trace or, if it does not begin as one, a device file. Returns 0 or a negative errno with
 * @error, which names the file; @error is empty if writing failed.
 */
int diff_run(FILE *out, const struct options *options, const struct report_options *report,
	     char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_CLI_DIFF_RUN_H */
