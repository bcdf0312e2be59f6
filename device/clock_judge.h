/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_judge.h - finds out which of the host's clocks a runtime stamps its
 * commands with, from commands that were enqueued between two readings of every
 * clock: the runtime's "queued" time must lie between those of its own clock.
 */
#ifndef PROFBPF_DEVICE_CLOCK_JUDGE_H
#define PROFBPF_DEVICE_CLOCK_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "device/stream.h"

#define CLOCK_JUDGE_CLOCKS 4 /* enum stream_clock 1..4 are entries 0..3 */
#define CLOCK_JUDGE_TOLERANCE_NS 50000 /* how far outside a reading may lie */
#define CLOCK_JUDGE_MIN 8 /* readings before a clock is declared */
#define CLOCK_JUDGE_MAX 64 /* readings without any clock that fits before giving up */
#define CLOCK_JUDGE_RETRY_NS 1000000000ull /* between readings while two clocks run alike */

/* One reading of every clock, in nanoseconds. */
struct clock_reading {
	uint64_t ns[CLOCK_JUDGE_CLOCKS];
};

/* Start with all zero. Not locked: the caller sees to that. */
struct clock_judge {
	uint32_t readings;
	uint32_t fits[CLOCK_JUDGE_CLOCKS]; /* within the tolerance */
	uint32_t exact[CLOCK_JUDGE_CLOCKS]; /* between the two readings */
	uint64_t last_ns; /* CLOCK_MONOTONIC of the last reading */
	bool done;
	enum stream_clock clock; /* valid once done; UNDECLARED = none fits */
};

/* Reads the four clocks; those the kernel lacks are 0. */
void clock_reading_take(struct clock_reading *reading);

/* Is another command's reading wanted? now_ns is CLOCK_MONOTONIC. */
bool clock_judge_wants(const struct clock_judge *judge, uint64_t now_ns);

/*
 * Adds a command stamped queued_ns between two readings. Returns true when this
 * settles the matter: judge->clock then says which clock it is. While two clocks
 * can't be told apart (an undisturbed MONOTONIC runs with MONOTONIC_RAW for a
 * while after boot) the matter stays open. MONOTONIC and BOOTTIME are the same
 * on a host that was never suspended; it's called MONOTONIC then.
 */
bool clock_judge_add(struct clock_judge *judge, const struct clock_reading *before,
		     const struct clock_reading *after, uint64_t queued_ns);

#endif /* PROFBPF_DEVICE_CLOCK_JUDGE_H */
