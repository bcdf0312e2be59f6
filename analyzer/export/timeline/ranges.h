/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h - what a job marked from one call to another: record_function(), NVTX and ROCTX ranges.
 *
 * A call begins a range and another one of the same thread ends the one that began last (work_names.h). Where records of
 * calls were lost nobody knows which belong together, and none is found: the calls are shown as they are.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_RANGES_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define RANGE_NONE UINT32_MAX /* begins and ends none */
#define RANGE_OPEN (UINT32_MAX - 1) /* begins one that goes on */
#define RANGE_ENDS (UINT32_MAX - 2) /* ends one */

/* Zeroed has none. */
struct ranges {
	uint32_t *of_call; /* by call: the one that ends the range it begins, or one of these; NULL: RANGE_NONE of all */
};

/* ranges_find - 0 or -ENOMEM; in both cases ranges_free() is to be called */
int ranges_find(const struct model *model, struct ranges *ranges);
void ranges_free(struct ranges *ranges);

static inline uint32_t range_of_call(const struct ranges *ranges, uint32_t call)
{
	return ranges && ranges->of_call ? ranges->of_call[call] : RANGE_NONE;
}

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_RANGES_H */
