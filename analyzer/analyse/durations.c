/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/durations.h"

#include <stdlib.h>

#define SORTED 256 /* shorter lists are sorted */
#define DIGIT_BITS 12
#define DIGITS (1u << DIGIT_BITS)

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * The value at @rank, from 0, in ascending order (radix selection): for each digit it counts the values that share
 * the digits found so far, by their next digit. No value is moved; sorting millions of values takes ten times as
 * long.
 */
static uint64_t value_at(const uint64_t *ns, uint32_t count, uint64_t max_ns, uint64_t rank)
{
	unsigned int shift = 0;
	uint64_t digits = 0;

	while (max_ns >> shift >> DIGIT_BITS)
		shift += DIGIT_BITS;
	for (;; shift -= DIGIT_BITS) {
		uint32_t with[DIGITS] = { 0 }, digit = 0;

		for (uint32_t i = 0; i < count; i++)
			if (ns[i] >> shift >> DIGIT_BITS == digits)
				with[ns[i] >> shift & (DIGITS - 1)]++;
		while (rank >= with[digit])
			rank -= with[digit++];
		digits = digits << DIGIT_BITS | digit;
		if (!shift)
			return digits;
	}
}

/* Nearest rank: the duration that @percent of all do not exceed. */
static bool percentile(const uint64_t *ns, uint32_t count, const struct durations *of,
		       unsigned int percent, uint64_t *value)
{
	uint64_t shorter = of->count - count;
	unsigned __int128 rank = ((unsigned __int128)of->count * percent + 99) / 100;

	if (count == 0 || rank <= shorter)
		return false;
	rank -= (unsigned __int128)shorter + 1;
	*value = count < SORTED ? ns[(uint32_t)rank]
				: value_at(ns, count, of->max_ns, (uint64_t)rank);
	return true;
}

struct durations durations_of(uint64_t *ns, uint32_t count, uint64_t shorter, uint64_t shorter_ns)
{
	struct durations of = { .count = shorter + count, .total_ns = shorter_ns };
	uint64_t min_ns = UINT64_MAX;

	if (count && count < SORTED)
		qsort(ns, count, sizeof(*ns), by_size);
	for (uint32_t i = 0; i < count; i++) {
		of.total_ns += ns[i];
		of.max_ns = ns[i] > of.max_ns ? ns[i] : of.max_ns;
		min_ns = ns[i] < min_ns ? ns[i] : min_ns;
	}
	if (of.count)
		of.mean_ns = of.total_ns / of.count;
	of.has_max = count > 0;
	of.has_min = count > 0 && shorter == 0;
	if (of.has_min)
		of.min_ns = min_ns;
	of.has_p50 = percentile(ns, count, &of, 50, &of.p50_ns);
	of.has_p99 = percentile(ns, count, &of, 99, &of.p99_ns);
	return of;
}
