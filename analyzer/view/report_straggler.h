/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_straggler.h - which rank holds the others up and why (analyse/cluster/straggler.h), in words and as JSON.
 */
#ifndef PROFBPF_ANALYZER_VIEW_REPORT_STRAGGLER_H
#define PROFBPF_ANALYZER_VIEW_REPORT_STRAGGLER_H

#include <stddef.h>

#include "analyzer/analyse/cluster/straggler.h"
#include "analyzer/view/render/json.h"

/* " (54.0 % of its time), on which gemm takes ...": what follows its name; cut to @size. */
void straggler_text(const struct model *model, const struct straggler *straggler, char *text,
		    size_t size);

/* The key "straggler" of the open map; none if there is none. */
void json_straggler(struct json *json, const struct model *model,
		    const struct straggler *straggler);

#endif /* PROFBPF_ANALYZER_VIEW_REPORT_STRAGGLER_H */
