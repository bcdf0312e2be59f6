/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - the command info: header, clocks, sources, losses, damage of a trace.
 */
#ifndef PROFBPF_ANALYZER_CLI_INFO_H
#define PROFBPF_ANALYZER_CLI_INFO_H

#include <stdio.h>

#include "analyzer/model/model.h"
#include "analyzer/view/report.h"

/* Return 0 or a negative errno. Of @results only the capture's results are needed. */
int info_text(FILE *out, const struct model *model, const struct results *results,
	      const struct report_options *options);
int info_json(FILE *out, const struct model *model, const struct results *results);

#endif /* PROFBPF_ANALYZER_CLI_INFO_H */
