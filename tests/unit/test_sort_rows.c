/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting keeps the order of equal rows, for any input order: sorted, in runs, nearly sorted, random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/sort_rows.h"

#define ROWS 5000

struct row {
	uint32_t key;
	uint32_t number; /* position in the input */
};

struct large {
	struct row row;
	char more[300]; /* large rows, so that short parts are not sorted by insertion */
};

static uint64_t looks;

static int by_key(const void *a, const void *b, void *context)
{
	const struct row *x = a, *y = b;

	assert_ptr_equal(context, &looks);
	looks++;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_key_alone(const void *a, const void *b)
{
	return by_key(a, b, &looks);
}

/* Returns the key of the @i-th of @count rows. */
typedef uint32_t key_fn(uint32_t i, uint32_t count);

static uint32_t in_order(uint32_t i, uint32_t count)
{
	(void)count;
	return i / 3;
}

static uint32_t backwards(uint32_t i, uint32_t count)
{
	return (count - i) / 2;
}

/* Each third row is four places late. */
static uint32_t nearly(uint32_t i, uint32_t count)
{
	(void)count;
	return i % 3 ? i : i - (i < 4 ? i : 4);
}

static uint32_t four_runs(uint32_t i, uint32_t count)
{
	return i % (count / 4 + 1);
}

static uint32_t random_key(uint32_t i, uint32_t count)
{
	return i * 2654435761u % (count / 2 + 1);
}

static key_fn *const KINDS[] = { in_order, backwards, nearly, four_runs, random_key };

static void check(const char *rows, size_t size, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct row *a = (const void *)(rows + (i - 1) * size), *b = (const void *)(rows + i * size);

		if (a->key > b->key || (a->key == b->key && a->number >= b->number))
			fail_msg("row %u of %u: %u.%u before %u.%u", i, count, a->key, a->number, b->key,
				 b->number);
	}
}

static void sort_all(size_t size, uint32_t count, key_fn *key, bool runs)
{
	char *rows = calloc(count + 1, size);
	uint64_t sum = 0, after = 0;

	assert_non_null(rows);
	for (uint32_t i = 0; i < count; i++) {
		struct row *row = (void *)(rows + i * size);

		*row = (struct row){ key(i, count), i };
		sum += (uint64_t)row->key * (i + 1) + i;
	}
	if (runs)
		assert_true(sort_runs(rows, count, size, by_key, &looks));
	else
		sort_rows(rows, count, size, by_key_alone);
	check(rows, size, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct row *row = (const void *)(rows + i * size);

		after += (uint64_t)row->key * (row->number + 1) + row->number;
	}
	assert_int_equal(sum, after);
	free(rows);
}

static void sorts_all(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(KINDS) / sizeof(*KINDS); k++) {
		for (uint32_t count = 0; count < 70; count++) {
			sort_all(sizeof(struct row), count, KINDS[k], true);
			sort_all(sizeof(struct large), count, KINDS[k], true);
		}
		sort_all(sizeof(struct row), ROWS, KINDS[k], true);
		sort_all(sizeof(struct row), ROWS, KINDS[k], false);
		sort_all(sizeof(struct large), ROWS, KINDS[k], true);
	}
}

static uint64_t looks_for(key_fn *key)
{
	looks = 0;
	sort_all(sizeof(struct row), ROWS, key, true);
	return looks;
}

static void looks_little_where_little_is_to_do(void **state)
{
	(void)state;
	assert_in_range(looks_for(in_order), ROWS - 1, ROWS * 5 / 4);
	assert_in_range(looks_for(nearly), ROWS, ROWS * 6);
	assert_in_range(looks_for(four_runs), ROWS, ROWS * 4);
	assert_in_range(looks_for(random_key), ROWS, ROWS * 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sorts_all),
					    cmocka_unit_test(looks_little_where_little_is_to_do) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
