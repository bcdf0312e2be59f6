/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/bisect.h"

#define ROWS 40

/* Each value three times, so that the first of several equal rows has to be found. */
static void fill(uint64_t *row)
{
	for (uint32_t i = 0; i < ROWS; i++)
		row[i] = 10 + 2 * (i / 3);
}

static uint32_t by_counting(const uint64_t *row, uint32_t from, uint32_t to, uint64_t value)
{
	while (from < to && row[from] < value)
		from++;
	return from;
}

static void finds_what_counting_finds(void **state)
{
	uint64_t row[ROWS];

	fill(row);
	for (uint32_t from = 0; from <= ROWS; from++)
		for (uint32_t to = from; to <= ROWS; to++)
			for (uint64_t value = 0; value < 10 + ROWS; value++)
				assert_int_equal(BISECT(i, from, to, row[i] < value),
						 by_counting(row, from, to, value));
}

static void finds_the_same_from_anywhere(void **state)
{
	uint64_t row[ROWS];

	fill(row);
	for (uint32_t from = 0; from <= ROWS; from++)
		for (uint32_t to = from; to <= ROWS; to++)
			for (uint32_t near = 0; near <= ROWS + 1; near++)
				for (uint64_t value = 9; value < 10 + ROWS; value += 3)
					assert_int_equal(
						BISECT_NEAR(i, from, to, near, row[i] < value),
						by_counting(row, from, to, value));
}

static void looks_at_few_rows_that_are_near(void **state)
{
	const size_t count = (size_t)1 << 40;
	uint32_t looks = 0;

	assert_true(BISECT_NEAR(i, 0, count, 1000, (looks++, i < 1003)) == 1003);
	assert_in_range(looks, 1, 6);
	looks = 0;
	assert_true(BISECT_NEAR(i, 0, count, 1003, (looks++, i < 1000)) == 1000);
	assert_in_range(looks, 1, 6);
	assert_true(BISECT_NEAR(i, 0, count, 0, i < count - 3) == count - 3);
	assert_true(BISECT_NEAR(i, 0, count, count, i < 3) == 3);
}

static void looks_at_no_row_of_none(void **state)
{
	const uint64_t *none = NULL;

	assert_int_equal(BISECT_NEAR(i, 0, 0u, 5, none[i] < 1), 0);
	assert_int_equal(BISECT_NEAR(i, 1, 0u, 0, none[i] < 1), 1);
	assert_int_equal(BISECT(i, 0, 0u, none[i] < 1), 0);
	assert_int_equal(BISECT(i, 1, 0u, none[i] < 1), 1);
}

static void evaluates_bounds_once_and_few_rows(void **state)
{
	uint32_t from = 0, to = ROWS - 1, looks = 0;
	uint64_t row[ROWS];

	fill(row);
	assert_int_equal(BISECT(i, from++, ++to, (looks++, row[i] < 20)), 15);
	assert_int_equal(from, 1);
	assert_int_equal(to, ROWS);
	assert_in_range(looks, 1, 6);
}

static void counts_beyond_32_bits(void **state)
{
	size_t count = (size_t)1 << 40;

	assert_true(BISECT(i, 0, count, i < count - 3) == count - 3);
	assert_true(BISECT(i, count - 1, count, false) == count - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_counting_finds),
		cmocka_unit_test(finds_the_same_from_anywhere),
		cmocka_unit_test(looks_at_few_rows_that_are_near),
		cmocka_unit_test(looks_at_no_row_of_none),
		cmocka_unit_test(evaluates_bounds_once_and_few_rows),
		cmocka_unit_test(counts_beyond_32_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
