/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/root_times.h"

#include <stdlib.h>
#include <string.h>

void root_times_init(struct root_times *times, uint64_t from_ns, uint64_t to_ns)
{
	*times = (struct root_times){ .from_ns = from_ns };
	if (to_ns > from_ns)
		times->interval_ns = (to_ns - from_ns + ROOT_INTERVALS - 1) / ROOT_INTERVALS;
}

void root_times_free(struct root_times *times)
{
	free(times->shares.row);
	free(times->stretches.row);
	map_free(&times->cells);
	*times = (struct root_times){ 0 };
}

static bool add_share(struct root_times *times, uint32_t interval, uint32_t row, uint64_t ns)
{
	uint64_t key = (uint64_t)interval << 32 | row;
	uint32_t *seen = &times->seen[row % ROOT_CELLS_SEEN], at = *seen - 1;

	if (*seen && times->shares.row[at].row == row && times->shares.row[at].interval == interval) {
		times->shares.row[at].ns += ns;
		return true;
	}
	at = map_get(&times->cells, key);
	if (at == MAP_NONE) {
		at = times->shares.count;
		if (!map_put(&times->cells, key, at) ||
		    !MODEL_PUSH(&times->shares, ((struct root_share){ 0, interval, row })))
			return false;
	}
	times->shares.row[at].ns += ns;
	*seen = at + 1;
	return true;
}

static void drop_short(struct root_times *times)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < times->stretches.count; i++) {
		const struct root_stretch *stretch = &times->stretches.row[i];

		if (stretch->end_ns - stretch->start_ns >= times->shortest_ns)
			times->stretches.row[kept++] = *stretch;
	}
	times->stretches.count = kept;
}

static bool keep(struct root_times *times, const struct root_stretch *stretch)
{
	if (stretch->end_ns - stretch->start_ns < times->shortest_ns)
		return true;
	while (times->stretches.count == ROOT_STRETCHES_MAX) {
		times->shortest_ns = times->shortest_ns ? 2 * times->shortest_ns : 1000;
		drop_short(times);
	}
	return stretch->end_ns - stretch->start_ns < times->shortest_ns ||
	       MODEL_PUSH(&times->stretches, *stretch);
}

bool root_times_add(struct root_times *times, const struct root_stretch *stretch)
{
	uint64_t to_ns = times->from_ns + ROOT_INTERVALS * times->interval_ns;
	uint64_t at_ns = stretch->start_ns > times->from_ns ? stretch->start_ns : times->from_ns;
	uint64_t end_ns = stretch->end_ns < to_ns ? stretch->end_ns : to_ns;

	if (at_ns >= end_ns)
		return true;
	while (at_ns < end_ns) {
		uint64_t interval = (at_ns - times->from_ns) / times->interval_ns;
		uint64_t next_ns = times->from_ns + (interval + 1) * times->interval_ns;

		next_ns = next_ns < end_ns ? next_ns : end_ns;
		if (!add_share(times, (uint32_t)interval, stretch->row, next_ns - at_ns))
			return false;
		at_ns = next_ns;
	}
	return keep(times, stretch);
}

void root_times_renumber(struct root_times *times, const uint32_t *row_of)
{
	for (uint32_t i = 0; i < times->shares.count; i++)
		times->shares.row[i].row = row_of[times->shares.row[i].row];
	for (uint32_t i = 0; i < times->stretches.count; i++)
		times->stretches.row[i].row = row_of[times->stretches.row[i].row];
	map_free(&times->cells);
	times->cells = (struct map){ 0 };
	memset(times->seen, 0, sizeof(times->seen));
}
