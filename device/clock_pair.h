/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_pair.h - converts instants of a profiler's clock to CLOCK_MONOTONIC, by the line through two
 * comparisons. Accurate for instants near the comparisons. Any thread may convert, only one may compare.
 */
#ifndef PROFBPF_DEVICE_CLOCK_PAIR_H
#define PROFBPF_DEVICE_CLOCK_PAIR_H

#include <stdbool.h>
#include <stdint.h>

/* Compares the clocks now; read_clock returns the other clock's nanoseconds, 0 if it cannot read the clock. */
void clock_pair_compare(uint64_t (*read_clock)(void));

/* Returns 0 before the first comparison. */
uint64_t clock_pair_to_monotonic(uint64_t other_ns);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_pair_monotonic(void);

#endif /* PROFBPF_DEVICE_CLOCK_PAIR_H */
