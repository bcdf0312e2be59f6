/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowds.h - merges short calls of a thread, or short tasks of a stream, that would make a timeline too large.
 *
 * Slices come in order of start, nested ones after the outer one. Consecutive slices that are shorter than the resolution
 * and less than that apart form one crowd, which is at most CROWD_LENGTH resolutions long and stays within the long slice
 * around it. Slices nested in a short one belong to its crowd. The resolution is the smallest of 1, 2, 4 us and so on up to
 * CROWD_RESOLUTION_MAX that leaves at most CROWDS_KEPT slices, or CROWDS_PER_SECOND.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_CROWDS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_CROWDS_H

#include <stdbool.h>
#include <stdint.h>

#define CROWDS_KEPT 60000
#define CROWDS_PER_SECOND 3000
#define CROWD_LENGTH 8
#define CROWD_RESOLUTION_MAX (UINT64_C(1) << 20) /* about a millisecond */
#define CROWD_DEPTH 64 /* the deepest nesting of long slices that is remembered */

struct crowd {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t in_ns; /* total time of its outer slices */
	uint64_t bound_ns; /* end of the long slice that it is in */
	uint64_t key; /* key of the first slice */
	uint32_t count; /* slices; 0 = there is no crowd */
	bool alike; /* all outer slices have the same key */
};

/* The effect of a slice on its crowd. */
enum crowd_news {
	CROWD_GREW, /* it joined the current crowd */
	CROWD_BEGAN, /* it may be the first slice of a crowd */
	CROWD_PASSED, /* it is long: a slice of its own */
};

/* The state for one row of slices; initially zero except the resolution, which is 0 if nothing is merged. */
struct crowds {
	uint64_t resolution_ns;
	struct crowd now;
	struct crowd done; /* the crowd that crowd_take() or crowd_end() has ended; count 0: none */
	uint64_t ends[CROWD_DEPTH];
	uint32_t depth;
};

/* crowd_take - the next slice of the row; @whole: it is never merged */
enum crowd_news crowd_take(struct crowds *crowds, uint64_t start_ns, uint64_t end_ns, uint64_t key,
			   bool whole);

/* crowd_end - the row has ended */
void crowd_end(struct crowds *crowds);

/* crowds_kept - how many slices may be left of @ns nanoseconds */
uint64_t crowds_kept(uint64_t ns);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_CROWDS_H */
