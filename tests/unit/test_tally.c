/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h: rows of each kind are counted, and the sums over the ordered kinds give the begin of each kind's rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/tally.h"

#define ROWS 100000
#define KINDS 1000

static uint32_t key_of(uint32_t row)
{
	/* The largest and the smallest key are included, and runs of equal keys. */
	uint32_t kind = row / 3 * 7919u % KINDS;

	return kind == KINDS - 1 ? UINT32_MAX : kind * 4000000u;
}

static void kinds_are_counted(void **unused)
{
	struct tally tally = { 0 };
	uint32_t counts[KINDS] = { 0 }, first = 0, of_key = 0;

	(void)unused;
	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t key = key_of(i);

		assert_true(tally_add(&tally, key));
		counts[key == UINT32_MAX ? KINDS - 1 : key / 4000000u]++;
	}
	assert_true(tally_sort(&tally));
	assert_int_equal(tally.kinds.count, KINDS);
	for (uint32_t i = 0; i < KINDS; i++) {
		const struct tally_kind *kind = &tally.kinds.row[i];

		assert_true(i == 0 || kind->key > of_key);
		of_key = kind->key;
		assert_int_equal(kind->count, counts[i]);
		assert_int_equal(kind->first, first);
		assert_ptr_equal(tally_kind_of(&tally, of_key), kind);
		first += kind->count;
	}
	assert_null(tally_kind_of(&tally, 1));
	tally_free(&tally);
}

static void nothing_has_no_kinds(void **unused)
{
	struct tally tally = { 0 };

	(void)unused;
	assert_null(tally_kind_of(&tally, 0));
	assert_true(tally_sort(&tally));
	assert_int_equal(tally.kinds.count, 0);
	tally_free(&tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_counted),
		cmocka_unit_test(nothing_has_no_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
