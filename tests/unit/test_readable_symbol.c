/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of C++ and of both manglings of Rust, and names that are made to be too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>

#include "lib/elf/readable_symbol.h"

#define LEVELS 9 /* of a type that is twice as long at each level */

static void assert_readable(const char *symbol, const char *expected)
{
	char *text = readable_symbol(symbol);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static void cxx(void **state)
{
	(void)state;
	assert_readable("_ZN3foo3barEv", "foo::bar");
	assert_readable("_ZN3foo17haaaaaaaaaaaaaaaaE", "foo::haaaaaaaaaaaaaaaa"); /* no hash of rustc */
	assert_readable("foo", NULL);
	assert_readable("_Zx", NULL);
	assert_readable("_Rx", NULL);
	assert_readable("_Reader", NULL);
}

static void rust(void **state)
{
	(void)state;
	assert_readable("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	assert_readable("_ZN4core3fmt5write17h0123456789abcdefE.llvm.8472", "core::fmt::write");
	assert_readable("_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
			"<alloc::string::String as core::fmt::Display>::fmt");
	assert_readable("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	assert_readable("_RINvNtCs_3std2rt10lang_startuECs_4main", "std::rt::lang_start::<()>");
	assert_readable("_RNvMCs1234_7mycrateNtB2_5Graph3new", "<mycrate::Graph>::new");
	assert_readable("_RINvC1a1fFG0_RL1_hRL0_tEuE", "a::f::<for<'a, 'b> fn(&'a u8, &'b u16)>");
}

/* Writes a(1) = (i32, i32), a(n) = (a(n - 1), a(n - 1)): the second one each refers to the first one. */
static void write_pairs(int levels, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "_RINvC1a1f%.*sl", levels, "TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT");

	for (int k = 1; k <= levels; k++) {
		int back = 8 + levels - k + 1; /* counted from behind _R, in base 62 and less 1 */

		at += (size_t)snprintf(text + at, size - at, "B%c_E",
				       back - 1 < 10 ? '0' + back - 1 : 'a' + back - 11);
	}
	snprintf(text + at, size - at, "E");
}

static void too_long(void **state)
{
	char symbol[256], *text;

	(void)state;
	write_pairs(2, symbol, sizeof(symbol));
	assert_readable(symbol, "a::f::<((i32, i32), (i32, i32))>");
	write_pairs(LEVELS, symbol, sizeof(symbol));
	text = readable_symbol(symbol);
	assert_non_null(text);
	assert_true(strlen(text) > 3000 && strlen(text) < 4096);
	free(text);
	write_pairs(26, symbol, sizeof(symbol)); /* half a gigabyte */
	assert_readable(symbol, NULL);
}

/* Lifetimes that the library would count, one by one, without writing anything. */
static void too_many_lifetimes(void **state)
{
	(void)state;
	assert_readable("_RNvMIC1aFGzzzzzzzzzz_EuEl1f", NULL);
	assert_readable("_RNvMIC1aDGzzzzzzzzzz_C1tEL_El1f", NULL);
}

/*
 * The library decodes such an identifier into memory of its own, which it frees after it has passed the text on. The
 * name is too long for us at one of these.
 */
static void a_long_name_of_encoded_parts_leaves_nothing(void **state)
{
	static const char part[] = "u30____7hkackfecea1cbdathfdh9hlq6y";
	char symbol[4096] = "_R";
	size_t before = 0;

	(void)state;
	for (int i = 0; i < 110; i++)
		strcat(symbol, "Nv");
	strcat(symbol, "C1a");
	for (int i = 0; i < 110; i++)
		strcat(symbol, part);
	for (int i = 0; i < 1000; i++) {
		assert_null(readable_symbol(symbol));
		if (i == 100)
			before = mallinfo2().uordblks;
	}
	assert_in_range(mallinfo2().uordblks, 0, before + 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(cxx), cmocka_unit_test(rust), cmocka_unit_test(too_long),
					    cmocka_unit_test(too_many_lifetimes),
					    cmocka_unit_test(a_long_name_of_encoded_parts_leaves_nothing) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
