/* SPDX-License-Identifier: Apache-2.0 */
/* Prose that is no wider than the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyzer/view/render/wrap.h"

static void expect(const char *wanted, const char *label, const char *text, unsigned int width)
{
	char *got = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&got, &size);

	assert_non_null(out);
	wrap_line(out, label, 6, text, width);
	fclose(out);
	assert_string_equal(got, wanted);
	free(got);
}

static void breaks_between_words(void **state)
{
	expect("do    one two\n      three\n", "do", "one two three", 13);
	expect("do    one two\n      three\n", "do", "one two three", 14);
	expect("do    one\n      two\n      three\n", "do", "one two three", 12);
}

static void is_one_line_where_there_is_room(void **state)
{
	expect("do    one two three\n", "do", "one two three", 19);
	expect("do    one two three\n", "do", "one two three", 0);
	expect("do    one two three\n", "do", "one two three", 11); /* no terminal is that narrow */
	expect("do    \n", "do", "", 40);
}

static void does_not_cut_words(void **state)
{
	expect("do    /a/path/that/is/long\n      x\n", "do", "/a/path/that/is/long x", 12);
	expect("do    x\n      /a/path/that/is/long\n", "do", "x /a/path/that/is/long", 12);
}

static void counts_characters_not_bytes(void **state)
{
	expect("do    ääää ööö\n      ü\n", "do", "ääää ööö ü", 15);
}

static void lets_no_control_character_through(void **state)
{
	expect("do    a?[31mb\n", "do", "a\033[31mb", 40);
}

static void expect_text(const char *wanted, const char *text, unsigned int width)
{
	char *got = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&got, &size);

	assert_non_null(out);
	assert_int_equal(wrap_text(out, text, width), 0);
	fclose(out);
	assert_string_equal(got, wanted);
	free(got);
}

static void wide_lines_of_a_text_are_broken(void **state)
{
	expect_text("one  two\n  three four\n  five\nsix\n", "one  two three four five\nsix\n", 12);
	expect_text("  ab cd\n    ef\n", "  ab cd ef\n", 8);
	expect_text("fits  as it is \n\nno end", "fits  as it is \n\nno end", 15);
	expect_text("one two three four\n", "one two three four\n", 0);
	expect_text("/a/path/that/is/long\n  x\n", "/a/path/that/is/long x\n", 12);
	/* Bold takes no room. */
	expect_text("\033[1mone two\033[0m\n", "\033[1mone two\033[0m\n", 7);
	expect_text("ääää ööö\n  ü\n", "ääää ööö ü\n", 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(breaks_between_words),
		cmocka_unit_test(is_one_line_where_there_is_room),
		cmocka_unit_test(does_not_cut_words),
		cmocka_unit_test(counts_characters_not_bytes),
		cmocka_unit_test(lets_no_control_character_through),
		cmocka_unit_test(wide_lines_of_a_text_are_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
