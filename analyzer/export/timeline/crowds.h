/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowds.h - calls of a thread, or tasks of a stream, that are so short and so many that a timeline of each would be too large.
 *
 * Slices come in order of start, what is inside one after it. Those that are shorter than a resolution and less than that
 * apart, with nothing longer between them, are one crowd, which is CROWD_LENGTH resolutions long at most and within the
 * long slice that they are in. What is inside a short one belongs to its crowd. The least resolution is taken, of
 * 1, 2, 4 us and so on up to CROWD_RESOLUTION_MAX, with which there are CROWDS_KEPT slices at most, or CROWDS_PER_SECOND.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_CROWDS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_CROWDS_H

#include <stdbool.h>
#include <stdint.h>

#define CROWDS_KEPT 60000
#define CROWDS_PER_SECOND 3000
#define CROWD_LENGTH 8
#define CROWD_RESOLUTION_MAX (UINT64_C(1) << 20) /* about a millisecond */
#define CROWD_DEPTH 64 /* long slices inside each other that are remembered */

struct crowd {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t in_ns; /* in the outer ones of it, in all */
	uint64_t bound_ns; /* end of the long slice that it is in */
	uint64_t key; /* of the first */
	uint32_t count; /* slices; 0 = there is no crowd */
	bool alike; /* all outer ones have the same key */
};

/* What became of a slice. */
enum crowd_news {
	CROWD_GREW, /* it belongs to the crowd that there is */
	CROWD_BEGAN, /* it may be the first of one */
	CROWD_PASSED, /* it is long: a slice of its own */
};

/* A row of slices; zeroed but for the resolution, which is 0 where nothing is merged. */
struct crowds {
	uint64_t resolution_ns;
	struct crowd now;
	struct crowd done; /* the one that crowd_take() or crowd_end() has ended; count 0: none */
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
