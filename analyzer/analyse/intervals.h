/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intervals.h - sets of half-open intervals: unions, their length, their overlap.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_INTERVALS_H
#define PROFBPF_ANALYZER_ANALYSE_INTERVALS_H

#include <stdint.h>

struct interval {
	uint64_t start_ns;
	uint64_t end_ns; /* exclusive */
};

/* A growing list. After intervals_unite(): sorted, disjoint, not touching, none empty. */
struct intervals {
	struct interval *row;
	uint32_t count;
	uint32_t capacity;
};

/*
 * Appends an interval; one that begins inside the interval added last, or at its end, extends that interval. An
 * interval that ends at or before its start is ignored. Returns 0 or -ENOMEM.
 */
int intervals_add(struct intervals *intervals, uint64_t start_ns, uint64_t end_ns);
void intervals_free(struct intervals *intervals);

/* Sorts, and merges overlapping and touching intervals, in place. */
void intervals_unite(struct intervals *intervals);

/* Length of a united set. */
uint64_t intervals_length(const struct intervals *intervals);

/* Length of the intersection of two united sets. */
uint64_t intervals_overlap(const struct intervals *a, const struct intervals *b);

/*
 * The length covered by intervals that are added in order of their starts: equal to the length of a united set, but no
 * interval is kept. The overlap of two sets is the sum of their covers minus the cover of both together.
 */
struct cover {
	uint64_t length_ns;
	uint64_t first_ns; /* the earliest start and the latest end; 0 = no interval but empty ones */
	uint64_t reach_ns;
};

static inline void cover_add(struct cover *cover, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns <= start_ns)
		return;
	if (!cover->reach_ns)
		cover->first_ns = start_ns;
	if (start_ns < cover->reach_ns)
		start_ns = cover->reach_ns;
	if (end_ns <= start_ns)
		return;
	cover->length_ns += end_ns - start_ns;
	cover->reach_ns = end_ns;
}

#endif /* PROFBPF_ANALYZER_ANALYSE_INTERVALS_H */
