/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_window.h - converts numbers of steps to the time in which they ran.
 */
#ifndef PROFBPF_ANALYZER_CLI_STEP_WINDOW_H
#define PROFBPF_ANALYZER_CLI_STEP_WINDOW_H

#include <stddef.h>

#include "analyzer/analyse/selection.h"

/*
 * step_window_find - narrow @options to the steps that they select
 *
 * Steps are those of the report's section: the trainer's, else those of the device with most steps. Needs timelines
 * and joined devices. Returns 0, -ENOMEM, or -ENOENT with @error, which lists the existing steps.
 */
int step_window_find(struct model *model, struct analysis_options *options, char *error,
		     size_t error_size);

#endif /* PROFBPF_ANALYZER_CLI_STEP_WINDOW_H */
