/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_judge.h - finds the host clock of a runtime's timestamps, from commands
 * that were enqueued between two readings of every clock: the runtime's "queued"
 * time must lie between the two readings of its clock.
 */
#ifndef PROFBPF_DEVICE_CLOCK_JUDGE_H
#define PROFBPF_DEVICE_CLOCK_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "device/stream.h"

#define CLOCK_JUDGE_CLOCKS 4 /* enum stream_clock 1..4 are entries 0..3 */
#define CLOCK_JUDGE_TOLERANCE_NS 50000 /* distance by which a time may lie outside the readings */
#define CLOCK_JUDGE_MIN 8 /* readings before a clock is declared */
#define CLOCK_JUDGE_MAX 64 /* readings without a fitting clock, after which no clock is declared */
#define CLOCK_JUDGE_RETRY_NS 1000000000ull /* between readings while two clocks cannot be distinguished */

/* One reading of every clock, in nanoseconds. */
struct clock_reading {
	uint64_t ns[CLOCK_JUDGE_CLOCKS];
};

/* Initially all zero. The caller does the locking. */
struct clock_judge {
	uint32_t readings;
	uint32_t fits[CLOCK_JUDGE_CLOCKS]; /* within the tolerance */
	uint32_t exact[CLOCK_JUDGE_CLOCKS]; /* between the two readings */
	uint64_t last_ns; /* CLOCK_MONOTONIC of the last reading */
	bool done;
	enum stream_clock clock; /* valid once done; UNDECLARED = none fits */
};

/* Reads the four clocks; clocks that the kernel lacks are 0. */
void clock_reading_take(struct clock_reading *reading);

/* Returns whether readings around another command are needed. now_ns is CLOCK_MONOTONIC. */
bool clock_judge_wants(const struct clock_judge *judge, uint64_t now_ns);

/*
 * Adds a command with the timestamp queued_ns, enqueued between two readings. Returns
 * true when this decides the clock, which is then in judge->clock. While two clocks
 * cannot be distinguished (without adjustments MONOTONIC equals MONOTONIC_RAW for a
 * while after boot) the decision stays open. MONOTONIC and BOOTTIME are the same
 * on a host that was never suspended; the result is then MONOTONIC.
 */
bool clock_judge_add(struct clock_judge *judge, const struct clock_reading *before,
		     const struct clock_reading *after, uint64_t queued_ns);

#endif /* PROFBPF_DEVICE_CLOCK_JUDGE_H */
