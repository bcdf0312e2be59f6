/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - lays out overlapping slices on several rows.
 *
 * A row of a timeline shows slices that are consecutive or, where that has a
 * meaning, nested; it cannot show two that partly overlap. These go to further
 * rows ("lanes") of the same name.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_LANES_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define LANE_DEPTH 64 /* the deepest nesting on one lane */
#define LANES_MAX 1024 /* more simultaneous lanes are refused */

/* Slices that have begun on a lane and whose end has not been written yet, outermost first. */
struct lane {
	uint64_t ends[LANE_DEPTH];
	uint32_t depth;
	uint64_t track; /* for the caller; 0 when the lane is new */
};

struct lanes {
	struct lane *lane;
	uint32_t count;
	uint32_t capacity;
	bool nest; /* slices may be nested */
};

/*
 * lanes_place - returns the lane for a slice
 *
 * Call it in order of start, at equal starts with the longer slice first. The
 * caller then removes the slices that have ended by @start with lane_pop()
 * (writing their ends), writes the new one and pushes its end with lane_push().
 * Returns NULL when all LANES_MAX lanes are taken or there is no memory. The
 * lane may move when the next slice is placed.
 */
struct lane *lanes_place(struct lanes *lanes, uint64_t start_ns, uint64_t end_ns);

/* Takes off the innermost slice if it ends by @at_ns; false if there is none. */
static inline bool lane_pop(struct lane *lane, uint64_t at_ns, uint64_t *end_ns)
{
	if (lane->depth == 0 || lane->ends[lane->depth - 1] > at_ns)
		return false;
	*end_ns = lane->ends[--lane->depth];
	return true;
}

static inline void lane_push(struct lane *lane, uint64_t end_ns)
{
	lane->ends[lane->depth++] = end_ns;
}

/* Forget all lanes but keep the memory; for the next thread or stream. */
void lanes_clear(struct lanes *lanes);
void lanes_free(struct lanes *lanes);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_LANES_H */
