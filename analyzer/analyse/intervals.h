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
 * Append; one that begins in the interval added last, or where that ends, makes that one longer. An interval that ends at or
 * before its start is ignored. Returns 0 or -ENOMEM.
 */
int intervals_add(struct intervals *intervals, uint64_t start_ns, uint64_t end_ns);
void intervals_free(struct intervals *intervals);

/* Sort and merge overlapping and touching ones, in place. */
void intervals_unite(struct intervals *intervals);

/* Length of a united set. */
uint64_t intervals_length(const struct intervals *intervals);

/* Length of what two united sets have in common. */
uint64_t intervals_overlap(const struct intervals *a, const struct intervals *b);

#endif /* PROFBPF_ANALYZER_ANALYSE_INTERVALS_H */
