/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_table.c - convert between clocks by means of snapshots.
 *
 * The arithmetic is in integers of 128 bits: nanoseconds since 1970 do not fit
 * a double.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/base/bisect.h"
#include "lib/trace/clocks.h"

#define RATE_SPAN_NS 1000000000 /* snapshots this far apart give a good rate */

/*
 * Clocks that may be set back are searched by the highest value reached so far,
 * which never falls: the search finds the first time that a value was passed.
 */
struct row {
	struct clock_snapshot s;
	uint64_t realtime_reached_ns;
	uint64_t counter_reached;
};

/* A straight line through two snapshots: (x0, y0) and (x1, y1), x0 < x1, y0 <= y1. */
struct line {
	uint64_t x0, y0, x1, y1;
};

/* Where the latest value between two snapshots was: the next ones are mostly there, too. */
struct recent {
	enum clock_kind from, to;
	uint64_t above, below; /* for the values between these; 0, 0 = none */
	struct line line;
};

struct clock_table {
	struct row *row;
	size_t count;
	size_t capacity;
	uint64_t skipped;
	bool settled; /* sorted, and "reached" and "missing" are right */
	bool missing[CLOCK_KINDS]; /* not in every snapshot: of no use */
	struct recent recent; /* of settled snapshots */
};

struct clock_table *clock_table_new(void)
{
	return calloc(1, sizeof(struct clock_table));
}

void clock_table_free(struct clock_table *table)
{
	if (!table)
		return;
	free(table->row);
	free(table);
}

int clock_table_add(struct clock_table *table, const struct clock_snapshot *snapshot)
{
	if (!snapshot->monotonic_ns || table->count >= CLOCK_TABLE_MAX) {
		table->skipped++;
		return 0;
	}
	if (table->count == table->capacity) {
		size_t capacity = table->capacity ? table->capacity * 2 : 64;
		struct row *grown = reallocarray(table->row, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		table->row = grown;
		table->capacity = capacity;
	}
	table->row[table->count++].s = *snapshot;
	table->settled = false;
	return 0;
}

static int compare_monotonic(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->s.monotonic_ns > y->s.monotonic_ns) - (x->s.monotonic_ns < y->s.monotonic_ns);
}

static bool is_sorted(const struct clock_table *table)
{
	for (size_t i = 1; i < table->count; i++) {
		if (compare_monotonic(&table->row[i - 1], &table->row[i]) > 0)
			return false;
	}
	return true;
}

/* Or it is not in the snapshots at all. */
static bool grew(uint64_t before, uint64_t after)
{
	return after > before || (!after && !before);
}

static bool follows(const struct clock_snapshot *before, const struct clock_snapshot *after)
{
	return after->monotonic_ns > before->monotonic_ns &&
	       grew(before->monotonic_raw_ns, after->monotonic_raw_ns) &&
	       grew(before->boottime_ns, after->boottime_ns);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Sorts the snapshots, drops impossible ones, and determines which clocks are usable. */
static void settle(struct clock_table *table)
{
	struct row *row = table->row;
	uint64_t realtime = 0, counter = 0;
	size_t kept = 0;

	if (table->settled)
		return;
	if (!is_sorted(table))
		qsort(row, table->count, sizeof(*row), compare_monotonic);
	for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++)
		table->missing[kind] = false;
	for (size_t i = 0; i < table->count; i++) {
		if (kept && !follows(&row[kept - 1].s, &row[i].s)) {
			table->skipped++;
			continue;
		}
		row[kept] = row[i];
		realtime = larger(realtime, row[i].s.realtime_ns);
		counter = larger(counter, row[i].s.counter);
		row[kept].realtime_reached_ns = realtime;
		row[kept].counter_reached = counter;
		for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++)
			table->missing[kind] |= !clock_snapshot_value(&row[kept].s, kind);
		kept++;
	}
	table->count = kept;
	table->settled = true;
	table->recent = (struct recent){ 0 };
}

size_t clock_table_count(struct clock_table *table)
{
	settle(table);
	return table->count;
}

const struct clock_snapshot *clock_table_get(struct clock_table *table, size_t index)
{
	settle(table);
	return index < table->count ? &table->row[index].s : NULL;
}

uint64_t clock_table_skipped(struct clock_table *table)
{
	settle(table);
	return table->skipped;
}

static uint64_t value_at(const struct clock_table *table, enum clock_kind kind, size_t i)
{
	return clock_snapshot_value(&table->row[i].s, kind);
}

/* y at x, rounded down. The difference may have either sign. */
static int line_at(const struct line *line, uint64_t x, uint64_t *result)
{
	uint64_t dx = line->x1 - line->x0, dy = line->y1 - line->y0;
	bool below = x < line->x0;
	unsigned __int128 product = (unsigned __int128)(below ? line->x0 - x : x - line->x0) * dy;
	/* A second times a second fits 64 bits, whose division takes a fraction of the time. */
	unsigned __int128 step = product >> 64 ? product / dx : (uint64_t)product / dx;

	if (below && product % dx)
		step++;
	if (step > (below ? line->y0 : UINT64_MAX - line->y0))
		return -ERANGE;
	*result = below ? line->y0 - (uint64_t)step : line->y0 + (uint64_t)step;
	return 0;
}

static uint64_t reached_at(const struct clock_table *table, enum clock_kind kind, size_t i)
{
	switch (kind) {
	case CLOCK_KIND_REALTIME: return table->row[i].realtime_reached_ns;
	case CLOCK_KIND_COUNTER: return table->row[i].counter_reached;
	default: return value_at(table, kind, i);
	}
}

/* The first snapshot by which the clock had reached @value; the count if none. */
static size_t find(const struct clock_table *table, enum clock_kind kind, uint64_t value)
{
	return BISECT(i, 0, table->count, reached_at(table, kind, i) < value);
}

/* A clock in nanoseconds that runs 10 % off was set, not adjusted. */
static bool was_set(const struct line *line)
{
	uint64_t dx = line->x1 - line->x0, dy = line->y1 - line->y0;

	return (dx > dy ? dx - dy : dy - dx) > dx / 10;
}

/* A snapshot a second away from the first or the last one, @edge; the farthest one if none is. */
static size_t a_second_away(const struct clock_table *table, size_t edge)
{
	uint64_t instant = table->row[edge].s.monotonic_ns, target;
	size_t i;

	if (!edge) {
		if (__builtin_add_overflow(instant, RATE_SPAN_NS, &target))
			return table->count - 1;
		i = find(table, CLOCK_KIND_MONOTONIC, target);
		return i < table->count ? i : table->count - 1;
	}
	target = instant > RATE_SPAN_NS ? instant - RATE_SPAN_NS : 0;
	i = find(table, CLOCK_KIND_MONOTONIC, target);
	return i && table->row[i].s.monotonic_ns > target ? i - 1 : i;
}

/*
 * The line for values outside the table: through snapshot @edge (the first or
 * the last), with the rate between it and a snapshot a second away.
 */
static int outer_line(const struct clock_table *table, enum clock_kind from, enum clock_kind to,
		      size_t edge, uint64_t value, struct line *line)
{
	bool counter = from == CLOCK_KIND_COUNTER || to == CLOCK_KIND_COUNTER;
	uint64_t x = value_at(table, from, edge), y = value_at(table, to, edge);
	size_t other = a_second_away(table, edge);
	size_t a = edge ? other : edge, b = edge ? edge : other;

	*line = (struct line){ value_at(table, from, a), value_at(table, to, a),
			       value_at(table, from, b), value_at(table, to, b) };
	if (line->x1 <= line->x0 || line->y1 < line->y0 || (!counter && was_set(line))) {
		/* The rate is unknown: a counter's cannot be guessed, that of a clock in ns is 1. */
		if (counter && value != x)
			return -ENODATA;
		*line = (struct line){ 0, 0, 1, 1 };
	}
	*line = (struct line){ x, y, x + (line->x1 - line->x0), y + (line->y1 - line->y0) };
	return 0;
}

static int convert(struct clock_table *table, enum clock_kind from, enum clock_kind to,
		   uint64_t value, uint64_t *result)
{
	const struct recent *recent = &table->recent;
	struct line line;
	uint64_t below;
	size_t i;
	int err;

	if ((unsigned int)from >= CLOCK_KINDS || (unsigned int)to >= CLOCK_KINDS)
		return -EINVAL;
	settle(table);
	if (!table->count || table->missing[from] || table->missing[to])
		return -ENODATA;
	if (value > recent->above && value < recent->below && recent->from == from && recent->to == to)
		return line_at(&recent->line, value, result);
	i = find(table, from, value);
	if (i == 0 || i == table->count) {
		err = outer_line(table, from, to, i ? i - 1 : 0, value, &line);
		return err ? err : line_at(&line, value, result);
	}
	line = (struct line){ value_at(table, from, i - 1), value_at(table, to, i - 1),
			      value_at(table, from, i), value_at(table, to, i) };
	below = line.x1;
	if (value == below) {
		*result = line.y1;
		return 0;
	}
	if (line.y1 < line.y0) {
		/* The clock was set back between the two, at an unknown time. */
		line.x1 = line.x0 + 1;
		line.y1 = line.y0 + 1;
	}
	table->recent = (struct recent){ from, to, reached_at(table, from, i - 1), below, line };
	return line_at(&line, value, result);
}

int clock_table_to_monotonic(struct clock_table *table, enum clock_kind kind, uint64_t value,
			     uint64_t *result)
{
	return convert(table, kind, CLOCK_KIND_MONOTONIC, value, result);
}

int clock_table_from_monotonic(struct clock_table *table, enum clock_kind kind,
			       uint64_t monotonic_ns, uint64_t *result)
{
	return convert(table, CLOCK_KIND_MONOTONIC, kind, monotonic_ns, result);
}
