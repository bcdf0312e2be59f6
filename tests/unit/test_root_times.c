/* SPDX-License-Identifier: Apache-2.0 */
/* Roots of idle time over time: shares of intervals, and the longest stretches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/root_times.h"

#define FROM 1000ull
#define LONG 10ull /* length of an interval */

static void add(struct root_times *times, uint64_t start_ns, uint64_t end_ns, uint32_t row)
{
	const struct root_stretch stretch = { .start_ns = start_ns, .end_ns = end_ns, .row = row };

	assert_true(root_times_add(times, &stretch));
}

static uint64_t share_of(const struct root_times *times, uint32_t interval, uint32_t row)
{
	for (uint32_t i = 0; i < times->shares.count; i++) {
		const struct root_share *share = &times->shares.row[i];

		if (share->interval == interval && share->row == row)
			return share->ns;
	}
	return 0;
}

/* A stretch across intervals is split; a stretch outside of all of them is left out. */
static void shares(void **state)
{
	struct root_times times;
	const uint64_t to_ns = FROM + ROOT_INTERVALS * LONG;

	root_times_init(&times, FROM, to_ns);
	assert_int_equal(times.interval_ns, LONG);
	add(&times, FROM + 5, FROM + 23, 1);
	add(&times, FROM + 10, FROM + 20, 1);
	add(&times, FROM + 12, FROM + 13, 2);
	assert_int_equal(times.shares.count, 4);
	assert_int_equal(share_of(&times, 0, 1), 5);
	assert_int_equal(share_of(&times, 1, 1), 20);
	assert_int_equal(share_of(&times, 2, 1), 3);
	assert_int_equal(share_of(&times, 1, 2), 1);
	/* Before, after, and across the borders. */
	add(&times, FROM - 10, FROM, 3);
	add(&times, to_ns, to_ns + 10, 3);
	assert_int_equal(times.shares.count, 4);
	assert_int_equal(times.stretches.count, 3);
	add(&times, FROM - 10, FROM + 1, 3);
	add(&times, to_ns - 2, to_ns + 10, 3);
	assert_int_equal(share_of(&times, 0, 3), 1);
	assert_int_equal(share_of(&times, ROOT_INTERVALS - 1, 3), 2);
	assert_int_equal(times.stretches.count, 5);
	root_times_free(&times);
}

/* A window without time has no intervals. */
static void nothing(void **state)
{
	struct root_times times;

	root_times_init(&times, FROM, FROM);
	add(&times, FROM - 1, FROM + 1, 1);
	assert_int_equal(times.shares.count + times.stretches.count, 0);
	root_times_free(&times);
	/* The last interval is shorter if the window is not a multiple of the length. */
	root_times_init(&times, FROM, FROM + ROOT_INTERVALS + 1);
	assert_int_equal(times.interval_ns, 2);
	root_times_free(&times);
}

/*
 * With more stretches than can be kept those shorter than 1, 2, 4, ... us are dropped, and no more such ones are
 * added.
 */
static void longest(void **state)
{
	struct root_times times;

	root_times_init(&times, 0, 1000000000);
	for (uint32_t i = 0; i < ROOT_STRETCHES_MAX; i++)
		add(&times, i, i + (i % 2 ? 999 : 1000), i);
	assert_int_equal(times.stretches.count, ROOT_STRETCHES_MAX);
	assert_int_equal(times.shortest_ns, 0);
	add(&times, 7, 7 + 999, 7);
	assert_int_equal(times.shortest_ns, 1000);
	assert_int_equal(times.stretches.count, ROOT_STRETCHES_MAX / 2);
	add(&times, 7, 7 + 999, 7);
	assert_int_equal(times.stretches.count, ROOT_STRETCHES_MAX / 2);
	add(&times, 7, 7 + 1000, 7);
	assert_int_equal(times.stretches.count, ROOT_STRETCHES_MAX / 2 + 1);
	root_times_free(&times);
}

static void numbers(void **state)
{
	static const uint32_t row_of[] = { 2, 0, 1 };
	struct root_times times;

	root_times_init(&times, 0, ROOT_INTERVALS * LONG);
	add(&times, 0, 5, 0);
	add(&times, 5, 9, 2);
	root_times_renumber(&times, row_of);
	assert_int_equal(share_of(&times, 0, 2), 5);
	assert_int_equal(share_of(&times, 0, 1), 4);
	assert_int_equal(times.stretches.row[1].row, 1);
	root_times_free(&times);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		cmocka_unit_test(nothing),
		cmocka_unit_test(longest),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
