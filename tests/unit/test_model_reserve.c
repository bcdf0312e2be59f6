/* SPDX-License-Identifier: Apache-2.0 */
/* Room for rows that are known to come: they are appended without moving the array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/model/model.h"
#include "analyzer/model/model_reserve.h"

static void reserved(void **state)
{
	MODEL_ARRAY(uint64_t) rows = { 0 };
	const uint64_t *row;

	(void)state;
	assert_true(MODEL_PUSH(&rows, 7));
	assert_true(MODEL_RESERVE(&rows, 100000));
	assert_int_equal(rows.capacity, 100001);
	assert_int_equal(rows.count, 1);
	row = rows.row;
	for (uint64_t i = 0; i < 100000; i++)
		assert_true(MODEL_PUSH(&rows, i));
	assert_ptr_equal(rows.row, row);
	assert_int_equal(rows.row[0], 7);
	assert_int_equal(rows.row[100000], 99999);
	/* There is room already. */
	assert_true(MODEL_RESERVE(&rows, 0));
	assert_int_equal(rows.capacity, 100001);
	free(rows.row);
}

/* More rows than an index can have, or than the machine has memory for: the rows stay. */
static void too_many(void **state)
{
	MODEL_ARRAY(uint64_t) rows = { 0 };

	(void)state;
	assert_true(MODEL_PUSH(&rows, 7));
	assert_false(MODEL_RESERVE(&rows, UINT32_MAX));
	assert_false(model_reserve((void **)&rows.row, &rows.capacity, rows.count, UINT32_MAX - 2, 1u << 20));
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.row[0], 7);
	free(rows.row);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reserved), cmocka_unit_test(too_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
