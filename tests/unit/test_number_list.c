/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of all lengths, and differences in both directions, are read back; the end of a list is no number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/load/number_list.h"

#define MANY 400000 /* more than a megabyte: the list grows by quarters */

static void lengths(void **state)
{
	struct number_list list = { 0 };
	struct number_reader reader;
	size_t before = 0;

	(void)state;
	for (unsigned int bits = 0; bits < 64; bits++) {
		assert_true(number_list_put(&list, 1ull << bits));
		assert_int_equal(list.size - before, bits / 7 + 1);
		before = list.size;
	}
	assert_true(number_list_put(&list, UINT64_MAX));
	assert_true(number_list_put(&list, 0));
	reader = number_list_read(&list);
	for (unsigned int bits = 0; bits < 64; bits++)
		assert_true(number_reader_next(&reader) == 1ull << bits);
	assert_true(number_reader_next(&reader) == UINT64_MAX);
	assert_true(number_reader_next(&reader) == 0);
	assert_ptr_equal(reader.at, reader.end);
	assert_true(number_reader_next(&reader) == 0);
	number_list_free(&list);
	reader = number_list_read(&list);
	assert_true(number_reader_next(&reader) == 0);
}

static void differences(void **state)
{
	static const uint64_t values[] = { 5, 5, 4, UINT64_MAX, 0, 1ull << 63, 0, 1000000007, 1000000000 };
	struct number_list list = { 0 };
	struct number_reader reader;
	uint64_t ns = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_true(number_list_put_difference(&list, ns, values[i]));
		ns = values[i];
	}
	reader = number_list_read(&list);
	ns = 0;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		ns = number_reader_next_difference(&reader, ns);
		assert_true(ns == values[i]);
	}
	assert_ptr_equal(reader.at, reader.end);
	number_list_free(&list);
}

static void many(void **state)
{
	struct number_list list = { 0 };
	struct number_reader reader;
	uint64_t ns = 0;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++)
		assert_true(number_list_put_difference(&list, i * 10000, (i + 1) * 10000 - i % 3));
	/* A step back or on by less than a millisecond is three bytes. */
	assert_int_equal(list.size, 3 * MANY);
	reader = number_list_read(&list);
	for (uint64_t i = 0; i < MANY; i++) {
		ns = number_reader_next_difference(&reader, i * 10000);
		assert_true(ns == (i + 1) * 10000 - i % 3);
	}
	number_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(differences),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
