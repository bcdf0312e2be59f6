/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/common/words.h"

static void expect(const struct words *words, size_t count, const char *const *expected)
{
	assert_int_equal(words->count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(words->word[i], expected[i]);
}

static void adds_texts(void **state)
{
	static const char *const expected[] = { "one", "", "3 of 4" };
	struct words words = { 0 };

	assert_int_equal(words_add(&words, "one"), 0);
	assert_int_equal(words_add(&words, ""), 0);
	assert_int_equal(words_addf(&words, "%d of %d", 3, 4), 0);
	expect(&words, 3, expected);
	words_free(&words);
	assert_int_equal(words.count, 0);
}

static void adds_lines(void **state)
{
	static const char *const expected[] = { "first", "second line", "x", "last" };
	struct words words = { 0 };

	assert_int_equal(words_add_lines(&words, "\nfirst\nsecond line\n\n\nx\nlast"), 0);
	expect(&words, 4, expected);
	assert_int_equal(words_add_lines(&words, ""), 0);
	assert_int_equal(words_add_lines(&words, "\n\n"), 0);
	expect(&words, 4, expected);
	words_free(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_texts),
		cmocka_unit_test(adds_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
