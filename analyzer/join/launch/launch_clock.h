/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_clock.h - aligns the streams of a device whose clock is unknown.
 *
 * Order, kinds and names leave each call a range of possible tasks. The first and the last of them bound the clock:
 * the last one cannot have started before the call, nor can the first one have ended after the return of a call that
 * waited for it. The clock within all these bounds excludes further tasks, and so on, until nothing changes.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CLOCK_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CLOCK_H

#include "analyzer/join/launch/launch_align.h"

/* One stream: its calls and its tasks. */
struct launch_pair {
	struct alignment alignment;
	uint32_t device; /* index into devices */
	bool aligned; /* set by launch_clock_align(): launch_align() returned true */
};

/*
 * launch_clock_align - aligns the pairs of one device
 *
 * A pair whose alignment has a clock uses that; the others use the clock that follows from all pairs together, a
 * straight line. If that clock makes the alignment of a stream impossible, it is discarded, and all are aligned
 * without a clock. Returns 0 or -ENOMEM.
 */
int launch_clock_align(struct launch_pair *pairs, uint32_t count);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CLOCK_H */
