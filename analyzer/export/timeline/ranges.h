/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h - ranges that a job marks by a pair of calls: record_function(), NVTX and ROCTX ranges.
 *
 * One call begins a range, and another call of the same thread ends the range that began last (work_names.h). If records of
 * calls were lost, the pairs are unknown: no range is found, and the calls are shown as calls.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_RANGES_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define RANGE_NONE UINT32_MAX /* begins and ends none */
#define RANGE_OPEN (UINT32_MAX - 1) /* the call begins a range that does not end */
#define RANGE_ENDS (UINT32_MAX - 2) /* the call ends a range */

/* Zeroed has none. */
struct ranges {
	uint32_t *of_call; /* by call: the call that ends its range, or one of these values; NULL: RANGE_NONE for all */
};

/* ranges_find - 0 or -ENOMEM; in both cases ranges_free() is to be called */
int ranges_find(const struct model *model, struct ranges *ranges);
void ranges_free(struct ranges *ranges);

static inline uint32_t range_of_call(const struct ranges *ranges, uint32_t call)
{
	return ranges && ranges->of_call ? ranges->of_call[call] : RANGE_NONE;
}

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_RANGES_H */
