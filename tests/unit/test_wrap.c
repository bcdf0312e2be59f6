/* SPDX-License-Identifier: Apache-2.0 */
/* Prose wrapped to the terminal's width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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

static void separates_a_long_label(void **state)
{
	expect("rank 1 two\n", "rank 1", "two", 0);
	expect("rank 17 one\n      two\n", "rank 17", "one two", 14);
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
	/* Escape sequences for bold text have no width. */
	expect_text("\033[1mone two\033[0m\n", "\033[1mone two\033[0m\n", 7);
	expect_text("ääää ööö\n  ü\n", "ääää ööö ü\n", 8);
}

/*
 * East Asian characters are two columns wide, and a line may end between any two of them, but not before a closing
 * mark.
 */
static void wide_characters(void **state)
{
	static const struct {
		const char *text;
		unsigned int columns;
	} CASES[] = {
		{ "\u10ff", 1 }, { "\u1100", 2 }, { "\u115f", 2 }, { "\u1160", 1 }, { "\u2e7f", 1 }, { "\u2e80", 2 },
		{ "\u303e", 2 }, { "\u303f", 1 }, { "\u3041", 2 }, { "\ua4cf", 2 }, { "\ua4d0", 1 }, { "\uabff", 1 },
		{ "\uac00", 2 }, { "\ud7a3", 2 }, { "\ud7a4", 1 }, { "\uff01", 2 }, { "\uff60", 2 }, { "\uff61", 1 },
		{ "\uffe0", 2 }, { "\uffe6", 2 }, { "\uffe7", 1 }, { "\U0001ffff", 1 }, { "\U00020000", 2 },
		{ "\U0003fffd", 2 }, { "\U0003fffe", 1 }, { "a", 1 }, { "ä", 1 }, { "", 0 }, { "中文", 4 },
		{ "\033[1m中\033[0ma", 3 }, { "\033[1", 0 },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		assert_int_equal(wrap_columns(CASES[i].text, strlen(CASES[i].text)), CASES[i].columns);
	/* The character's bytes are incomplete. */
	assert_int_equal(wrap_columns("中", 2), 1);
	expect("do    中文设\n      备\n", "do", "中文设备", 12);
	expect("do    中文设\n      备\n", "do", "中文设备", 13);
	expect("do    中文设备\n", "do", "中文设备", 14);
	expect("do    中文，\n      设\n", "do", "中文，设", 12);
	expect("do    中文\n      设，备\n", "do", "中文设，备", 12);
	expect("do    中 a，\n      b\n", "do", "中 a，b", 12);
	expect("中文  one\n", "中文", "one", 12);
	expect("中文中文 one\n", "中文中文", "one", 20); /* a label that is longer than the indent */
}

static void borders_of_lines(void **state)
{
	/* Text as wide as the terminal fits; with one column less it does not. */
	expect_text("one two\n", "one two\n", 7);
	expect_text("one\n  two\n", "one two\n", 6);
	expect_text("  a  b\n", "  a  b\n", 6);
	expect_text("  a\n    b\n", "  a  b\n", 5);
	/* A text is not wrapped where the rest would have no room. */
	expect_text("  a b c\n", "  a b c\n", 4);
	expect_text("  a b\n    c\n", "  a b c\n", 5);
	expect_text("    \n", "    \n", 2);
	/* A label that is as wide as the indent, and a terminal that is twice as wide. */
	expect("labels one\n", "labels ", "one", 0);
	expect("do    one\n      two\n", "do", "one two", 12);
	expect("do    one two\n", "do", "one two", 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(breaks_between_words),
		cmocka_unit_test(is_one_line_where_there_is_room),
		cmocka_unit_test(does_not_cut_words), cmocka_unit_test(separates_a_long_label),
		cmocka_unit_test(counts_characters_not_bytes),
		cmocka_unit_test(lets_no_control_character_through),
		cmocka_unit_test(wide_lines_of_a_text_are_broken),
		cmocka_unit_test(wide_characters),
		cmocka_unit_test(borders_of_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
