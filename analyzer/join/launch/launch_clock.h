/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_clock.h - aligns the streams of a device whose clock nothing is known of.
 *
 * Order, kinds and names leave each call some tasks that may be its own. The earliest and the last of
 * them bound the clock: it cannot be so that the last one started before the call, nor that the
 * earliest one ended after the return of a call that waited for it. The clock that all these bounds
 * leave rules out more, and so on, until nothing changes.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CLOCK_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CLOCK_H

#include "analyzer/join/launch/launch_align.h"

/* One stream: its calls and its tasks. */
struct launch_pair {
	struct alignment alignment;
	uint32_t device; /* index into devices */
	bool aligned; /* set by launch_clock_align(): launch_align() found something out */
};

/*
 * launch_clock_align - align the pairs of one device
 *
 * Each with the clock that its alignment has already, if there is one; else with that which they give
 * together, taken to be a straight line. If a clock so found leaves a stream no way, it is none,
 * and all are aligned without. Returns 0 or -ENOMEM.
 */
int launch_clock_align(struct launch_pair *pairs, uint32_t count);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CLOCK_H */
