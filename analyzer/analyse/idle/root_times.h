/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_times.h - when each root of idle time held things up, for pictures.
 *
 * Sums by intervals of the window are exact, of all stretches. Of the stretches themselves only the longest are
 * kept, at most ROOT_STRETCHES_MAX: all that are as long as shortest_ns.
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
	uint32_t whose; /* the device that was idle, or the thread that waited: an index */
	uint32_t way; /* from there to the root: of idle_roots.ways */
};

/* What a row held up in an interval. */
struct root_share {
	uint64_t ns;
	uint32_t interval;
	uint32_t row;
};

#define ROOT_CELLS_SEEN 64 /* a power of 2 */

/* Zeroed, with from_ns and interval_ns, is empty. */
struct root_times {
	uint64_t from_ns;
	uint64_t interval_ns; /* 0: nothing is kept */
	MODEL_ARRAY(struct root_share) shares; /* in no order */
	MODEL_ARRAY(struct root_stretch) stretches; /* in the order in which they were added */
	uint64_t shortest_ns;
	struct map cells; /* (interval, row) -> shares */
	uint32_t seen[ROOT_CELLS_SEEN]; /* 1 + shares that were added to of late, by the last bits of the row */
};

void root_times_init(struct root_times *times, uint64_t from_ns, uint64_t to_ns);
void root_times_free(struct root_times *times);

/* root_times_add - a stretch. What lies outside of the window is left out. Returns false without memory. */
bool root_times_add(struct root_times *times, const struct root_stretch *stretch);

/* root_times_renumber - rows are called row_of[row] from now on */
void root_times_renumber(struct root_times *times, const uint32_t *row_of);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_TIMES_H */
