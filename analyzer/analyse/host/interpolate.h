/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpolate.h - cumulative figures between two snapshots.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_INTERPOLATE_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_INTERPOLATE_H

#include <stdint.h>

/* A position between two instants: @part of @whole, part <= whole. */
struct place {
	uint64_t part;
	uint64_t whole;
};

/* The position of @ts_ns between two instants; the nearer instant if @ts_ns is outside. */
static inline struct place place_between(uint64_t before_ns, uint64_t after_ns, uint64_t ts_ns)
{
	struct place place = { 0, 1 };

	if (ts_ns <= before_ns || after_ns <= before_ns)
		return place;
	place.whole = after_ns - before_ns;
	place.part = ts_ns >= after_ns ? place.whole : ts_ns - before_ns;
	return place;
}

/* Interpolates a figure that grew from @before to @after; returns @before for a figure that fell. */
static inline uint64_t interpolate(uint64_t before, uint64_t after, struct place place)
{
	if (after <= before)
		return before;
	return before + (uint64_t)((unsigned __int128)(after - before) * place.part / place.whole);
}

static inline uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_INTERPOLATE_H */
