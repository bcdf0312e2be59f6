/* SPDX-License-Identifier: Apache-2.0 */
/* Wanted keys: each is found in its own object, and in no other one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyzer/import/readers/json_keys.h"

static const struct json_key *find(const struct json_keys *keys, uint32_t group, const char *text)
{
	return json_keys_find(keys, group, text, strlen(text));
}

static void in_their_objects(void **state)
{
	static const char *const WANTED[] = { "a", "a.b", "a.b.c[]", "x.b", "x.y", NULL };
	struct json_keys keys;
	const struct json_key *a, *b, *c, *x;

	json_keys_begin(&keys, WANTED);
	a = find(&keys, 0, "a");
	assert_int_equal(a->wanted, 0);
	assert_false(a->array);
	b = find(&keys, a->inner, "b");
	assert_int_equal(b->wanted, 1);
	c = find(&keys, b->inner, "c");
	assert_int_equal(c->wanted, 2);
	assert_true(c->array);
	assert_int_equal(c->inner, JSON_KEY_NONE);
	x = find(&keys, 0, "x");
	assert_int_equal(x->wanted, JSON_KEY_NONE);
	assert_int_not_equal(x->inner, a->inner);
	assert_int_equal(find(&keys, x->inner, "b")->wanted, 3);
	assert_int_equal(find(&keys, x->inner, "y")->wanted, 4);
	assert_null(find(&keys, 0, "b"));
	assert_null(find(&keys, a->inner, "y"));
	assert_null(find(&keys, 0, "c"));
	assert_null(find(&keys, 0, ""));
}

static void written_twice(void **state)
{
	static const char *const WANTED[] = { "a", "a", "b[]", "b", NULL };
	struct json_keys keys;

	json_keys_begin(&keys, WANTED);
	assert_int_equal(find(&keys, 0, "a")->wanted, 0);
	assert_int_equal(find(&keys, 0, "b")->wanted, 2);
	assert_true(find(&keys, 0, "b")->array);
}

/* Keys of any length that differ in one byte, whatever its place, are other keys. */
static void nearly_same(void **state)
{
	static const char TEXT[] = "abcdefghijklmnopqrstuvwx";

	for (size_t length = 1; length < sizeof(TEXT); length++) {
		char key[sizeof(TEXT)] = "", other[sizeof(TEXT)] = "";
		const char *const wanted[] = { key, NULL };
		struct json_keys keys;

		memcpy(key, TEXT, length);
		json_keys_begin(&keys, wanted);
		for (size_t at = 0; at < length; at++) {
			memcpy(other, TEXT, length);
			assert_non_null(find(&keys, 0, other));
			other[at]++;
			assert_null(find(&keys, 0, other));
		}
	}
}

/* All keys, also those in one hash chain; keys beyond the table's room are not found. */
static void too_many(void **state)
{
	static char text[JSON_KEYS_MAX + 8][8];
	const char *wanted[JSON_KEYS_MAX + 9] = { NULL };
	struct json_keys keys;

	for (uint32_t i = 0; i < JSON_KEYS_MAX + 8; i++) {
		snprintf(text[i], sizeof(text[i]), "a%03uz", i);
		wanted[i] = text[i];
	}
	json_keys_begin(&keys, wanted);
	for (uint32_t i = 0; i < JSON_KEYS_MAX; i++)
		assert_int_equal(find(&keys, 0, text[i])->wanted, i);
	assert_null(find(&keys, 0, text[JSON_KEYS_MAX]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_their_objects),
		cmocka_unit_test(written_twice),
		cmocka_unit_test(too_many),
		cmocka_unit_test(nearly_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
