/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/durations.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Nearest rank: the duration that @percent of all do not exceed. */
static bool percentile(const uint64_t *ns, uint32_t count, uint64_t shorter, unsigned int percent,
		       uint64_t *value)
{
	unsigned __int128 all = (unsigned __int128)shorter + count;
	unsigned __int128 rank = (all * percent + 99) / 100;

	if (count == 0 || rank <= shorter)
		return false;
	*value = ns[(uint64_t)rank - shorter - 1];
	return true;
}

struct durations durations_of(uint64_t *ns, uint32_t count, uint64_t shorter, uint64_t shorter_ns)
{
	struct durations of = { .count = shorter + count, .total_ns = shorter_ns };

	if (count)
		qsort(ns, count, sizeof(*ns), by_size);
	for (uint32_t i = 0; i < count; i++)
		of.total_ns += ns[i];
	if (of.count)
		of.mean_ns = of.total_ns / of.count;
	of.has_max = count > 0;
	of.has_min = count > 0 && shorter == 0;
	if (of.has_max)
		of.max_ns = ns[count - 1];
	if (of.has_min)
		of.min_ns = ns[0];
	of.has_p50 = percentile(ns, count, shorter, 50, &of.p50_ns);
	of.has_p99 = percentile(ns, count, shorter, 99, &of.p99_ns);
	return of;
}
