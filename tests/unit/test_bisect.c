/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/bisect.h"

#define ROWS 40

/* Each value three times, so that there is a first one of equal rows. */
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

static void looks_at_no_row_of_none(void **state)
{
	const uint64_t *none = NULL;

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
		cmocka_unit_test(looks_at_no_row_of_none),
		cmocka_unit_test(evaluates_bounds_once_and_few_rows),
		cmocka_unit_test(counts_beyond_32_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
