/* SPDX-License-Identifier: Apache-2.0 */
/* Durations and sizes: exact values, and error messages that name the problem. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/duration.h"
#include "lib/base/size.h"

#define UNTOUCHED 12345

static void expect_ns(const char *text, uint64_t expected)
{
	char error[128] = "";
	uint64_t ns = UNTOUCHED;
	int err = duration_parse(text, &ns, error, sizeof(error));

	if (err || ns != expected)
		fail_msg("'%s': %d, %llu ns, %s", text, err, (unsigned long long)ns, error);
}

static void expect_no_duration(const char *text, int err, const char *words)
{
	char error[256] = "";
	uint64_t ns = UNTOUCHED;

	if (duration_parse(text, &ns, error, sizeof(error)) != err || !strstr(error, words))
		fail_msg("'%s': expected %d and '%s', got '%s'", text, err, words, error);
	assert_true(ns == UNTOUCHED);
}

static void test_durations(void **state)
{
	expect_ns("10s", 10000000000);
	expect_ns("200ms", 200000000);
	expect_ns("1.5m", 90000000000);
	expect_ns("50us", 50000);
	expect_ns("7ns", 7);
	expect_ns("2h", 7200000000000);
	expect_ns("0", 0);
	expect_ns("0.0", 0);
	expect_ns("0s", 0);
	expect_ns("0.000000001s", 1);
	expect_ns("1.500000000000000000000000s", 1500000000);
	expect_ns("0.1s", 100000000);
	expect_ns("8760h", DURATION_MAX_NS);
	/* With a binary fraction the result would be 2,299,999,999. */
	expect_ns("2.3s", 2300000000);
	expect_ns("10", 10000000000);
	expect_ns("1.5", 1500000000);
	expect_ns("1m30s", 90000000000);
	expect_ns("1h0.5m1ns", 3630000000001);
	expect_ns("8759h60m", DURATION_MAX_NS);
}

static void test_no_durations(void **state)
{
	expect_no_duration("", -EINVAL, "is not a duration");
	expect_no_duration("s", -EINVAL, "is not a duration");
	expect_no_duration("-5s", -EINVAL, "is not a duration");
	expect_no_duration("+5s", -EINVAL, "is not a duration");
	expect_no_duration(" 5s", -EINVAL, "is not a duration");
	expect_no_duration(".5s", -EINVAL, "is not a duration");
	expect_no_duration("5.s", -EINVAL, "is not a duration");
	expect_no_duration("1m30", -EINVAL, "a number without a unit");
	expect_no_duration("1m-30s", -EINVAL, "unknown unit 'm-'");
	expect_no_duration("8760h1ns", -ERANGE, "longer than a year");
	expect_no_duration("8760h8760h8760h8760h8760h", -ERANGE, "longer than a year");
	expect_no_duration("10 s", -EINVAL, "unknown unit ' s'");
	expect_no_duration("10sec", -EINVAL, "unknown unit 'sec'");
	expect_no_duration("1e3s", -EINVAL, "unknown unit 'e'");
	expect_no_duration("1.2.3s", -EINVAL, "unknown unit '.3s'");
	expect_no_duration("0.5ns", -EINVAL, "finer than a nanosecond");
	expect_no_duration("0.0000000001s", -EINVAL, "finer than a nanosecond");
	expect_no_duration("0.0000000000000000001s", -EINVAL, "finer than a nanosecond");
	expect_no_duration("8761h", -ERANGE, "longer than a year");
	expect_no_duration("18446744073709551616ns", -ERANGE, "longer than a year");
	expect_no_duration("99999999999999999999999999h", -ERANGE, "longer than a year");
}

static void expect_text(uint64_t ns, const char *expected)
{
	char text[32];

	assert_string_equal(duration_format(ns, text, sizeof(text)), expected);
}

static void test_format(void **state)
{
	expect_text(0, "0 ns");
	expect_text(999, "999 ns");
	expect_text(1000, "1.0 us");
	expect_text(12300000, "12.3 ms");
	expect_text(10020000000, "10.02 s");
	expect_text(200ull * 1000000000, "3 min 20 s");
	expect_text(7500ull * 1000000000, "2 h 5 min");
}

static void expect_bytes(const char *text, uint64_t expected)
{
	char error[128] = "";
	uint64_t bytes = UNTOUCHED;
	int err = size_parse(text, &bytes, error, sizeof(error));

	if (err || bytes != expected)
		fail_msg("'%s': %d, %llu bytes, %s", text, err, (unsigned long long)bytes, error);
}

static void expect_no_size(const char *text, int err, const char *words)
{
	char error[256] = "";
	uint64_t bytes = UNTOUCHED;

	if (size_parse(text, &bytes, error, sizeof(error)) != err || !strstr(error, words))
		fail_msg("'%s': expected %d and '%s', got '%s'", text, err, words, error);
	assert_true(bytes == UNTOUCHED);
}

static void test_sizes(void **state)
{
	char text[32];

	expect_bytes("64M", 64ull << 20);
	expect_bytes("512K", 512 << 10);
	expect_bytes("1.5G", 3ull << 29);
	expect_bytes("1GiB", 1ull << 30);
	expect_bytes("4096", 4096);
	expect_bytes("1024G", SIZE_MAX_BYTES);
	expect_no_size("", -EINVAL, "is not a size");
	expect_no_size("-1", -EINVAL, "is not a size");
	expect_no_size("64MB", -EINVAL, "unknown unit 'MB'");
	expect_no_size("64m", -EINVAL, "unknown unit 'm'");
	expect_no_size("0.3K", -EINVAL, "not a whole number of bytes");
	expect_no_size("1025G", -ERANGE, "more than 1024G");
	expect_no_size("99999999999999999999G", -ERANGE, "more than 1024G");
	assert_string_equal(size_format(812, text, sizeof(text)), "812 bytes");
	assert_string_equal(size_format(13722, text, sizeof(text)), "13.4 KiB");
	assert_string_equal(size_format(64 << 20, text, sizeof(text)), "64.0 MiB");
	assert_string_equal(size_format(3ull << 30, text, sizeof(text)), "3.00 GiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_no_durations),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
