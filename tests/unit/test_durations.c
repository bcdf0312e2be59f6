/* SPDX-License-Identifier: Apache-2.0 */
/* durations.h: its figures equal those of a full sort, for any durations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/durations.h"

#define MOST 20000

static uint64_t state = 1;

static uint64_t any(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 20 ^ state << 30;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Compares with the nearest rank among @shorter shorter durations, which are only counted, and @count sorted ones. */
static void check_percentile(const uint64_t *sorted, uint32_t count, uint64_t shorter, bool has,
			     uint64_t value, uint64_t percent)
{
	uint64_t rank = ((shorter + count) * percent + 99) / 100;

	assert_int_equal(has, count > 0 && rank > shorter);
	if (has)
		assert_int_equal(value, sorted[rank - shorter - 1]);
}

static void check(const uint64_t *ns, uint32_t count, uint64_t shorter)
{
	uint64_t *given = malloc((count + 1) * sizeof(*given));
	uint64_t *sorted = malloc((count + 1) * sizeof(*sorted));
	struct durations of;
	uint64_t sum = 7;

	for (uint32_t i = 0; i < count; i++) {
		given[i] = sorted[i] = ns[i];
		sum += ns[i];
	}
	qsort(sorted, count, sizeof(*sorted), by_size);
	of = durations_of(given, count, shorter, 7);
	assert_int_equal(of.count, count + shorter);
	assert_int_equal(of.total_ns, sum);
	assert_int_equal(of.has_max, count > 0);
	assert_int_equal(of.has_min, count > 0 && !shorter);
	if (of.has_max)
		assert_int_equal(of.max_ns, sorted[count - 1]);
	if (of.has_min)
		assert_int_equal(of.min_ns, sorted[0]);
	check_percentile(sorted, count, shorter, of.has_p50, of.p50_ns, 50);
	check_percentile(sorted, count, shorter, of.has_p99, of.p99_ns, 99);
	free(given);
	free(sorted);
}

/* Counts around the limit from which on values are not sorted, and values with any number of digits. */
static void figures_are_those_of_a_sort(void **unused)
{
	static const uint32_t COUNTS[] = { 0, 1, 2, 3, 99, 100, 101, 255, 256, 257, 4096, MOST };
	uint64_t *ns = malloc(MOST * sizeof(*ns));

	(void)unused;
	for (size_t c = 0; c < sizeof(COUNTS) / sizeof(*COUNTS); c++) {
		for (int bits = 0; bits <= 64; bits += 4) {
			for (uint32_t i = 0; i < COUNTS[c]; i++)
				ns[i] = bits ? any() >> (64 - bits) : 0;
			check(ns, COUNTS[c], 0);
			check(ns, COUNTS[c], COUNTS[c] / 3);
			check(ns, COUNTS[c], 2 * (uint64_t)COUNTS[c]);
		}
	}
	free(ns);
}

/* All equal, all but one equal, and values that differ in the last digit only. */
static void values_may_be_alike(void **unused)
{
	uint64_t ns[1000];

	(void)unused;
	for (int odd = 0; odd < 3; odd++) {
		for (uint32_t i = 0; i < 1000; i++)
			ns[i] = UINT64_C(0xfffffffff000) + (odd == 2 ? i % 2 : 0);
		if (odd == 1)
			ns[17] = UINT64_MAX;
		check(ns, 1000, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_of_a_sort),
		cmocka_unit_test(values_may_be_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
