/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_steps.h - straight lines between bounds of a clock that jumps now and then.
 *
 * A device's clock that is set during the recording (a driver adjusts it, a profiler anchors it again) has an offset
 * with steps: no single line satisfies all bounds, but several successive ones do. The exact position of a step is
 * unknown: between two pieces there is a zone whose bounds agree with both.
 */
#ifndef PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_STEPS_H
#define PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/join/clock/clock_fit.h"

#define CLOCK_STEPS_MAX 64 /* a sequence with more jumps is not treated as a clock */

/* The line holds from from_ns up to to_ns, device clock; outside there is a zone or nothing. */
struct clock_piece {
	uint64_t from_ns;
	uint64_t to_ns;
	struct clock_line line; /* consistent, bounded on both sides, error_ns known */
};

struct clock_steps {
	struct clock_piece piece[CLOCK_STEPS_MAX + 1];
	uint32_t count;
	uint64_t error_ns; /* largest error of instants inside pieces */
	uint64_t step_error_ns; /* largest error of instants in zones: the step plus error_ns; UINT64_MAX = unknown: it
				 * jumped where too little is known */
	bool open_start; /* it also jumped before the first piece, or (open_end) after the last one */
	bool open_end;
	uint32_t ignored; /* bounds that contradict the others */
};

/*
 * clock_steps_fit - finds the pieces of the offset between @bounds
 *
 * Sorts @bounds by time. Returns false if no small number of pieces satisfies nearly all bounds (at least 90 %), or a
 * piece is not bounded on both sides. Work is linear in @count except for the sort.
 */
bool clock_steps_fit(struct clock_bound *bounds, uint32_t count, struct clock_steps *steps);

/*
 * clock_steps_at - returns the line that holds at a device time
 *
 * *@sure: the instant lies inside a piece. If not, returns the nearest line, and *@other is the line beyond the zone,
 * or NULL.
 */
const struct clock_line *clock_steps_at(const struct clock_steps *steps, uint64_t device_ns,
					bool *sure, const struct clock_line **other);

#endif /* PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_STEPS_H */
