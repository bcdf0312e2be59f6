/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_strings.c - the string interner.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/strings.h"

#define MANY 2000000

static int new_table(void **state)
{
	*state = string_table_new();
	return *state ? 0 : -1;
}

static int free_table(void **state)
{
	string_table_free(*state);
	return 0;
}

static void test_ids(void **state)
{
	struct string_table *t = *state;
	const char *first;

	assert_int_equal(string_table_count(t), 1);
	assert_int_equal(string_table_add(t, "", 0), 0);
	assert_int_equal(string_table_add(t, NULL, 0), 0);
	assert_int_equal(string_table_add_text(t, NULL), 0);
	assert_int_equal(string_table_add(t, "clFinish", 8), 1);
	first = string_table_get(t, 1);
	assert_int_equal(string_table_add(t, "clFlush", 7), 2);
	assert_int_equal(string_table_add(t, "clFinishXXX", 8), 1);
	assert_int_equal(string_table_add_text(t, "clFinish"), 1);
	assert_int_equal(string_table_count(t), 3);
	assert_string_equal(string_table_get(t, 0), "");
	assert_string_equal(string_table_get(t, 2), "clFlush");
	assert_int_equal(string_table_length(t, 2), 7);
	assert_ptr_equal(string_table_get(t, 1), first);
}

static void test_find(void **state)
{
	struct string_table *t = *state;

	string_table_add_text(t, "a");
	assert_int_equal(string_table_find(t, "a", 1), 1);
	assert_int_equal(string_table_find(t, "b", 1), STRING_NONE);
	assert_int_equal(string_table_find(t, "", 0), 0);
	assert_int_equal(string_table_count(t), 2);
}

static void test_unknown_ids(void **state)
{
	static const uint32_t ids[] = { 2, 255, 256, 0x7fffffff, 0x80000000, STRING_NONE };

	string_table_add_text(*state, "a");
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_string_equal(string_table_get(*state, ids[i]), "");
		assert_int_equal(string_table_length(*state, ids[i]), 0);
	}
}

static void test_bytes_not_text(void **state)
{
	static const char a[] = "x\0y", b[] = "x\0z";
	struct string_table *t = *state;
	uint32_t id = string_table_add(t, a, 3);

	assert_int_not_equal(string_table_add(t, b, 3), id);
	assert_int_not_equal(string_table_add(t, a, 1), id);
	assert_int_not_equal(string_table_add(t, "\0", 1), 0);
	assert_int_equal(string_table_add(t, a, 3), id);
	assert_memory_equal(string_table_get(t, id), a, 4);
	assert_int_equal(string_table_length(t, id), 3);
}

/* Alternating short and long texts: blocks of the arena of both kinds. */
static void test_lengths(void **state)
{
	const size_t size = 300000;
	struct string_table *t = *state;
	char *text = malloc(size);
	uint32_t id = 0;

	assert_non_null(text);
	memset(text, 'x', size);
	for (size_t n = 1; n < size; n = n * 3 / 2 + 1) {
		assert_int_equal(string_table_add(t, text, n), ++id);
		assert_int_equal(string_table_add(t, "short", 5), id > 1 ? 2 : ++id);
	}
	id = 0;
	for (size_t n = 1; n < size; n = n * 3 / 2 + 1) {
		uint32_t found = string_table_find(t, text, n);

		assert_int_equal(string_table_length(t, found), n);
		assert_int_equal(strlen(string_table_get(t, found)), n);
		assert_memory_equal(string_table_get(t, found), text, n);
		id++;
	}
	assert_int_equal(string_table_count(t), id + 2);
	free(text);
}

static void test_clear(void **state)
{
	struct string_table *t = *state;
	char text[24];

	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 1; i < 5000; i++) {
			snprintf(text, sizeof(text), "%d.%u", round, i);
			assert_int_equal(string_table_add_text(t, text), i);
		}
		string_table_clear(t);
		assert_int_equal(string_table_count(t), 1);
		assert_string_equal(string_table_get(t, 0), "");
		assert_string_equal(string_table_get(t, 1), "");
		assert_int_equal(string_table_find(t, text, strlen(text)), STRING_NONE);
	}
}

static void test_many(void **state)
{
	struct string_table *t = *state;
	char text[16];

	for (uint32_t i = 1; i <= MANY; i++) {
		snprintf(text, sizeof(text), "kernel_%u", i);
		assert_int_equal(string_table_add_text(t, text), i);
	}
	assert_int_equal(string_table_count(t), MANY + 1);
	for (uint32_t i = 1; i <= MANY; i += 997) {
		snprintf(text, sizeof(text), "kernel_%u", i);
		assert_int_equal(string_table_add_text(t, text), i);
		assert_string_equal(string_table_get(t, i), text);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, new_table, free_table)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ids),		TEST(test_find),
		TEST(test_unknown_ids), TEST(test_bytes_not_text),
		TEST(test_lengths),	TEST(test_clear),
		TEST(test_many),
	};

	return cmocka_run_group_tests_name("strings", tests, NULL, NULL);
}
