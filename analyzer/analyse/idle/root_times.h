/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_times.h - the times at which each root of idle time held up the job, for charts.
 *
 * Sums by interval of the window are exact and cover all stretches. The stretches themselves are kept only if
 * they are at least shortest_ns long, which grows so that no more than ROOT_STRETCHES_MAX remain.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_TIMES_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_TIMES_H

#include <stdint.h>

#include "analyzer/model/model.h"
#include "lib/base/map.h"

#define ROOT_INTERVALS 240
#define ROOT_STRETCHES_MAX (1u << 17)

struct root_stretch {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t row; /* of idle_roots */
	uint32_t whose; /* index of the device that was idle, or of the thread that waited */
	uint32_t way; /* from there to the root: index into idle_roots.ways */
};

/* The time of a row in an interval. */
struct root_share {
	uint64_t ns;
	uint32_t interval;
	uint32_t row;
};

#define ROOT_CELLS_SEEN 64 /* a power of 2 */

/* Zeroed except for from_ns and interval_ns is empty. */
struct root_times {
	uint64_t from_ns;
	uint64_t interval_ns; /* 0: nothing is kept */
	MODEL_ARRAY(struct root_share) shares; /* in no order */
	MODEL_ARRAY(struct root_stretch) stretches; /* in the order in which they were added */
	uint64_t shortest_ns;
	struct map cells; /* (interval, row) -> shares */
	uint32_t seen[ROOT_CELLS_SEEN]; /* cache: 1 + index of the last share used, by the low bits of the row */
};

void root_times_init(struct root_times *times, uint64_t from_ns, uint64_t to_ns);
void root_times_free(struct root_times *times);

/* root_times_add - adds the part of a stretch that lies in the window. Returns false without memory. */
bool root_times_add(struct root_times *times, const struct root_stretch *stretch);

/* root_times_renumber - replaces each row number by row_of[row] */
void root_times_renumber(struct root_times *times, const uint32_t *row_of);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_TIMES_H */
