/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passes.h - the analyses of a model in their order: which sections show what each finds, and which rows it reads.
 */
#ifndef PROFBPF_ANALYZER_CLI_PASSES_H
#define PROFBPF_ANALYZER_CLI_PASSES_H

#include <stdint.h>

#include "analyzer/cli/found.h"

/* passes_rows - which rows (enum load_rows) the passes of these sections (enum report_section) read */
uint32_t passes_rows(uint32_t sections);

/* passes_run - those of analysis->sections, on a joined model. Returns 0 or -ENOMEM. */
int passes_run(struct analysis *analysis, const struct analysis_options *options);

/* passes_free - what passes_run() found; what the model was joined with stays */
void passes_free(struct analysis *analysis);

#endif /* PROFBPF_ANALYZER_CLI_PASSES_H */
