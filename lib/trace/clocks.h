/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - reads the host's clocks at one instant, and converts between them
 * with such snapshots.
 */
#ifndef PROFBPF_LIB_TRACE_CLOCKS_H
#define PROFBPF_LIB_TRACE_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

enum clock_kind {
	CLOCK_KIND_MONOTONIC, /* ns; the clock of every instant in a trace */
	CLOCK_KIND_MONOTONIC_RAW, /* ns; not adjusted by NTP */
	CLOCK_KIND_BOOTTIME, /* ns; goes on during suspend */
	CLOCK_KIND_REALTIME, /* ns since 1970 (UTC); may be set forth and back */
	CLOCK_KIND_COUNTER, /* ticks of the CPU counter (TSC, CNTVCT_EL0); may restart at suspend */
	CLOCK_KINDS
};

/* All clocks at one instant. 0 means that the clock was not read. */
struct clock_snapshot {
	uint64_t monotonic_ns;
	uint64_t monotonic_raw_ns;
	uint64_t boottime_ns;
	uint64_t realtime_ns;
	uint64_t counter;
	uint32_t width_ns; /* all were read within so many ns; monotonic_ns is the middle */
};

/*
 * clock_snapshot_take - read all clocks as close together as possible
 *
 * Tries a few times and keeps the reading that took the least time, so that an
 * interrupt or a preemption does not spoil it. Takes a few microseconds. Returns
 * 0, or a negative errno if CLOCK_MONOTONIC cannot be read; another clock that
 * cannot be read is 0. The counter is 0 on architectures other than x86-64 and
 * AArch64.
 */
int clock_snapshot_take(struct clock_snapshot *snapshot);

/* clock_snapshot_value - one clock of a snapshot */
uint64_t clock_snapshot_value(const struct clock_snapshot *snapshot, enum clock_kind kind);

/* clock_kind_name - "CLOCK_MONOTONIC_RAW", ..., "CPU counter" */
const char *clock_kind_name(enum clock_kind kind);

/*
 * Snapshots of one boot of one host, sorted by CLOCK_MONOTONIC. They may be
 * added in any order (several files, damaged files). Left out and counted are:
 * those without a CLOCK_MONOTONIC, a second one for the same instant, those in
 * which MONOTONIC_RAW or BOOTTIME ran backwards, and those beyond
 * CLOCK_TABLE_MAX.
 */
#define CLOCK_TABLE_MAX (4u << 20) /* more than a month at one a second */

struct clock_table;

/* clock_table_new - an empty table; NULL if there is no memory */
struct clock_table *clock_table_new(void);
void clock_table_free(struct clock_table *table);

/* clock_table_add - returns 0, also for one that is left out, or -ENOMEM */
int clock_table_add(struct clock_table *table, const struct clock_snapshot *snapshot);

/* clock_table_count - snapshots in the table */
size_t clock_table_count(struct clock_table *table);

/* clock_table_get - in order of time; NULL if there are no more than @index */
const struct clock_snapshot *clock_table_get(struct clock_table *table, size_t index);

/* clock_table_skipped - snapshots left out so far */
uint64_t clock_table_skipped(struct clock_table *table);

/*
 * clock_table_to_monotonic - CLOCK_MONOTONIC when @kind read @value
 * clock_table_from_monotonic - what @kind read at @monotonic_ns
 *
 * Linear between the two neighbouring snapshots, in integers, exact at the
 * snapshots, rounded down between them. Before the first and after the last
 * snapshot the rate of the nearest ones that lie a second apart (or as far apart
 * as there are) is carried on; for clocks in nanoseconds a rate of 1 is used
 * instead if there is only one snapshot or the clock was visibly set in between.
 * Where a clock was set back, so that it read @value more than once, the earliest
 * instant is the answer.
 *
 * Return 0; -ENODATA if there is no snapshot, or none with this clock (or, for
 * the counter outside the only snapshot, no rate); -ERANGE if the result is
 * negative or exceeds 64 bits; -EINVAL if @kind is no clock. *@result is set
 * only on success.
 */
int clock_table_to_monotonic(struct clock_table *table, enum clock_kind kind, uint64_t value,
			     uint64_t *result);
int clock_table_from_monotonic(struct clock_table *table, enum clock_kind kind,
			       uint64_t monotonic_ns, uint64_t *result);

#endif /* PROFBPF_LIB_TRACE_CLOCKS_H */
