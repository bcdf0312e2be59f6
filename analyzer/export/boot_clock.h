/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot_clock.h - CLOCK_MONOTONIC to CLOCK_BOOTTIME, fast and without jitter.
 *
 * The two clocks tick alike and differ by the time the host was suspended, so
 * their difference only changes when it was suspended in the meantime. A
 * snapshot reads them a few nanoseconds apart; converting through each
 * neighbouring pair of snapshots would give durations that are off by as much.
 * Here the difference is taken once (through lib/clocks) and again only after a
 * suspend, so that durations do not change.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_BOOT_CLOCK_H
#define PROFBPF_ANALYZER_EXPORT_BOOT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace/clocks.h"

struct boot_step {
	uint64_t from_ns; /* CLOCK_MONOTONIC from which it holds */
	uint64_t offset_ns; /* to add, modulo 2^64 */
};

struct boot_clock {
	struct boot_step *steps; /* at least one */
	uint32_t count;
	bool known; /* false: no snapshot has CLOCK_BOOTTIME; the difference is 0 */
};

/* Returns 0 or -ENOMEM. boot_clock_free() is to be called in any case. */
int boot_clock_init(struct boot_clock *clock, struct clock_table *table, uint64_t start_ns);
void boot_clock_free(struct boot_clock *clock);

/* Never decreases as @monotonic_ns grows. */
static inline uint64_t boot_clock_at(const struct boot_clock *clock, uint64_t monotonic_ns)
{
	uint32_t i = clock->count - 1;

	while (i > 0 && clock->steps[i].from_ns > monotonic_ns)
		i--;
	return monotonic_ns + clock->steps[i].offset_ns;
}

#endif /* PROFBPF_ANALYZER_EXPORT_BOOT_CLOCK_H */
