/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters of UTF-8, at the limits of Unicode's table of well-formed sequences, and the replacement of invalid
 * bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/view/render/utf8.h"

static void test_edges(void **state)
{
	static const struct {
		const char *text;
		size_t length;
	} CASES[] = {
		{ "", 0 },
		{ "\x01", 1 },
		{ "\x7f", 1 },
		{ "\x80", 0 },
		{ "\xbf\x80", 0 },
		{ "\xc0\x80", 0 },
		{ "\xc1\xbf", 0 }, /* overlong */
		{ "\xc2\x80", 2 },
		{ "\xdf\xbf", 2 },
		{ "\xc2\x7f", 0 },
		{ "\xc2\xc0", 0 },
		{ "\xc2", 0 },
		{ "\xe0\x9f\xbf", 0 }, /* overlong */
		{ "\xe0\xa0\x80", 3 },
		{ "\xe1\x80", 0 },
		{ "\xe1\x41\x80", 0 },
		{ "\xe1\x80\x41", 0 },
		{ "\xed\x9f\xbf", 3 },
		{ "\xed\xa0\x80", 0 }, /* the first surrogate */
		{ "\xed\xbf\xbf", 0 }, /* the last surrogate */
		{ "\xee\x80\x80", 3 },
		{ "\xef\xbf\xbf", 3 },
		{ "\xf0\x8f\xbf\xbf", 0 }, /* overlong */
		{ "\xf0\x90\x80\x80", 4 },
		{ "\xf1\x41\x80\x80", 0 },
		{ "\xf1\x80\x41\x80", 0 },
		{ "\xf1\x80\x80\x41", 0 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		{ "\xf4\x90\x80\x80", 0 }, /* beyond U+10FFFF */
		{ "\xf8\x80\x80\x80", 0 },
		{ "\xff", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		if (utf8_next(CASES[i].text) != CASES[i].length)
			fail_msg("case %zu", i);
		assert_int_equal(utf8_valid(CASES[i].text),
				 CASES[i].length == strlen(CASES[i].text));
	}
}

static void test_repair(void **state)
{
	char *text = utf8_repair("a\xed\xa0\x80z\xc3\xa4\xff");

	(void)state;
	assert_string_equal(text, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xc3\xa4\xef\xbf\xbd");
	free(text);
}

static void test_printable(void **state)
{
	char into[6];

	(void)state;
	assert_string_equal(printable("a\x1f\x7f\xff ", into, sizeof(into)), "a??? ");
	/* Two-byte control characters, which terminals obey, too; and the first character after them. */
	assert_string_equal(printable("\xc2\x9f\xc2\xa0", into, sizeof(into)), "?\xc2\xa0");
	assert_string_equal(printable("\xc3\x9f", into, sizeof(into)), "\xc3\x9f");
	/* As many bytes as there is room for, without incomplete characters. */
	assert_string_equal(printable("abcdefg", into, sizeof(into)), "abcde");
	assert_string_equal(printable("abc\xc3\xa4g", into, sizeof(into)), "abc\xc3\xa4");
	assert_string_equal(printable("abcd\xc3\xa4", into, sizeof(into)), "abcd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
