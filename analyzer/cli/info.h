/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - what a trace holds: header, clocks, sources, losses, damage.
 */
#ifndef PROFBPF_ANALYZER_CLI_INFO_H
#define PROFBPF_ANALYZER_CLI_INFO_H

#include <stdio.h>

#include "analyzer/model/model.h"
#include "analyzer/view/report.h"

/* Return 0 or a negative errno. @results needs the capture's only. */
int info_text(FILE *out, const struct model *model, const struct results *results,
	      const struct report_options *options);
int info_json(FILE *out, const struct model *model, const struct results *results);

#endif /* PROFBPF_ANALYZER_CLI_INFO_H */
