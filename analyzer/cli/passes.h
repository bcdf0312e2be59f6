/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passes.h - the analyses of a model in their order, the sections that show their results, and the rows they read.
 */
#ifndef PROFBPF_ANALYZER_CLI_PASSES_H
#define PROFBPF_ANALYZER_CLI_PASSES_H

#include <stdint.h>

#include "analyzer/cli/found.h"

/* passes_rows - the rows (enum load_rows) that the passes of these sections (enum report_section) read */
uint32_t passes_rows(uint32_t sections);

/* passes_run - run the passes of analysis->sections on a joined model. Returns 0 or -ENOMEM. */
int passes_run(struct analysis *analysis, const struct analysis_options *options);

/* passes_free - free the results of passes_run(); the results of the join remain */
void passes_free(struct analysis *analysis);

#endif /* PROFBPF_ANALYZER_CLI_PASSES_H */
