/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_steps.h - straight lines between bounds of a clock that jumps now and then.
 *
 * A device's clock that is set anew (a driver that adjusts it, a profiler that anchors it
 * again) has an offset with steps in it: no single line stays inside all bounds, several, one after
 * the other, do. Where exactly a step lies cannot be told: between two pieces there is a zone whose
 * bounds agree with either.
 */
#ifndef PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_STEPS_H
#define PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/join/clock/clock_fit.h"

#define CLOCK_STEPS_MAX 64 /* a clock with more of them is none */

/* From from_ns up to to_ns, device clock, the line holds; outside there is a zone or nothing. */
struct clock_piece {
	uint64_t from_ns;
	uint64_t to_ns;
	struct clock_line line; /* consistent, bounded on both sides, error_ns known */
};

struct clock_steps {
	struct clock_piece piece[CLOCK_STEPS_MAX + 1];
	uint32_t count;
	uint64_t error_ns; /* of instants inside pieces, at worst */
	uint64_t step_error_ns; /* of instants in zones, at worst: the step, and error_ns;
				 * UINT64_MAX = unknown: it jumped where too little is known */
	bool open_start; /* before the first piece, after the last one, it jumped, too */
	bool open_end;
	uint32_t ignored; /* bounds that contradict the others */
};

/*
 * clock_steps_fit - the pieces of the offset between @bounds
 *
 * Sorts @bounds by time. Returns false if no few pieces satisfy nearly all bounds (at least 90 %),
 * or one of them is not bounded on both sides. Work is linear in @count but for the sorting.
 */
bool clock_steps_fit(struct clock_bound *bounds, uint32_t count, struct clock_steps *steps);

/*
 * clock_steps_at - the line that holds at a device time
 *
 * Where that is not @sure it is the nearest one, and *@other the one beyond the zone, or NULL.
 */
const struct clock_line *clock_steps_at(const struct clock_steps *steps, uint64_t device_ns,
					bool *sure, const struct clock_line **other);

#endif /* PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_STEPS_H */
