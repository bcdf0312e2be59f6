/* SPDX-License-Identifier: Apache-2.0 */
/* The line between bounds of a clock's offset: on both sides of each limit, and at the limits of 64-bit numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/join/clock/clock_fit.h"

#define S 1000000ull /* one millisecond is long enough here */
#define QUARTER (1ll << 62)

/* The array's last bound is not passed to clock_fit(), which must not read it: it would change the result. */
static struct clock_line fit(const struct clock_bound *bounds, uint32_t count)
{
	struct clock_line line;

	assert_true(clock_fit(bounds, count - 1, &line));
	return line;
}

#define FIT(...)                                                                                   \
	fit((const struct clock_bound[]){ __VA_ARGS__ },                                           \
	    sizeof((const struct clock_bound[]){ __VA_ARGS__ }) / sizeof(struct clock_bound))
#define LOWER(time, offset) { (time), (offset), false }
#define UPPER(time, offset) { (time), (offset), true }
#define BEHIND LOWER(7, 1000000), UPPER(7, -1000000)

static void expect(struct clock_line line, uint64_t time_ns, int64_t offset_ns, double drift, uint64_t error_ns)
{
	assert_int_equal(line.time_ns, time_ns);
	assert_true(line.offset_ns == offset_ns);
	assert_true(fabs(line.drift - drift) < 1e-9);
	/* The error is rounded up. */
	assert_true(line.error_ns == error_ns || line.error_ns == error_ns + 1);
}

static void one_sided(void **state)
{
	struct clock_line line;

	(void)state;
	assert_false(clock_fit(NULL, 0, &line));
	assert_true(line.error_ns == UINT64_MAX);
	line = FIT(LOWER(300, 9), LOWER(100, 5), LOWER(200, 1), LOWER(7, 1000000));
	assert_true(line.consistent && line.bounded_below && !line.bounded_above && line.error_ns == UINT64_MAX);
	assert_true(line.time_ns == 200 && line.offset_ns == 9 && line.drift == 0);
	line = FIT(UPPER(300, 9), UPPER(100, 5), UPPER(200, 7), UPPER(7, -1000000));
	assert_true(line.consistent && !line.bounded_below && line.bounded_above && line.error_ns == UINT64_MAX);
	assert_true(line.time_ns == 200 && line.offset_ns == 5 && line.drift == 0);
}

/* A line without drift, in the middle; also where only one such line touches both bounds. */
static void no_drift(void **state)
{
	struct clock_line line = FIT(LOWER(0, 10), UPPER(1000, 20), UPPER(7, -1000));

	(void)state;
	assert_true(line.consistent && line.bounded_below && line.bounded_above);
	expect(line, 500, 15, 0, 5);
	line = FIT(LOWER(0, 10), UPPER(1000, 10), UPPER(7, -1000));
	assert_true(line.consistent && line.drift == 0);
	expect(line, 500, 10, 0, 0);
}

/* From 0..10 ns at first to 500..510 ns a millisecond later: drifts of 490 to 510 ppm fit. */
static void drift(void **state)
{
	struct clock_line line =
		FIT(LOWER(0, 0), UPPER(0, 10), LOWER(S, 500), UPPER(S, 510), UPPER(7, -1000));

	(void)state;
	assert_true(line.consistent);
	expect(line, S / 2, 255, 5e-4, 10);
	/* Only one drift fits. */
	line = FIT(LOWER(0, 0), UPPER(0, 0), LOWER(S, 500), UPPER(S, 500), UPPER(7, -1000));
	assert_true(fabs(line.drift - 5e-4) < 1e-9);
	/* All drifts from 900 ppm to the maximum of a clock fit. */
	line = FIT(LOWER(0, 0), UPPER(0, 100), LOWER(S, 1000), UPPER(S, 9000), UPPER(7, -1000));
	assert_true(line.consistent);
	expect(line, S / 2, 75 + 475, 9.5e-4, 25 + 25);
}

/* Contradictory bounds: the line violates them as little as possible, and drifts no more than they require. */
static void contradiction(void **state)
{
	struct clock_line line = FIT(LOWER(0, 0), UPPER(0, 10), LOWER(S, 2000), UPPER(S, 2010), BEHIND);

	(void)state;
	assert_false(line.consistent);
	/* 1,000 ppm are the maximum: of 1,990 ns 990 are left, half of them on either side. */
	line = FIT(LOWER(0, 0), UPPER(0, 10), LOWER(S, 2000), UPPER(S, 2010), UPPER(7, -100000));
	assert_false(line.consistent);
	assert_true(line.drift > 0.999e-3 && line.drift <= 1e-3);
	assert_true(line.error_ns >= 495 && line.error_ns <= 497);
	/* Bounds at one instant, where no drift helps. */
	line = FIT(LOWER(S, 10), UPPER(S, 0), LOWER(0, -1000000), UPPER(2 * S, 1000000), UPPER(7, -100000));
	assert_false(line.consistent);
	expect(line, S, 5, 0, 5);
	/* Drifts of 490 to 600 ppm violate no other bound there. */
	line = FIT(LOWER(0, 10), UPPER(0, 0), LOWER(S, 500), UPPER(S, 600), UPPER(7, -100000));
	assert_false(line.consistent);
	assert_true(fabs(line.drift - 5.45e-4) < 1e-8);
	assert_true(line.error_ns >= 5 && line.error_ns <= 6);
}

/* Offsets whose distance exceeds 64 bits. */
static void far_apart(void **state)
{
	struct clock_line line = FIT(LOWER(0, -QUARTER), LOWER(10, QUARTER), LOWER(0, INT64_MAX));

	(void)state;
	assert_true(line.offset_ns == QUARTER - 1);
	line = FIT(UPPER(0, QUARTER), UPPER(10, -QUARTER), UPPER(0, INT64_MIN));
	assert_true(line.offset_ns == -QUARTER);
	line = FIT(UPPER(0, INT64_MAX), UPPER(10, INT64_MIN), UPPER(0, INT64_MIN));
	assert_true(line.offset_ns == -1); /* the second offset is 2^64 - 1 less, of which 2^63 can be represented */
	line = FIT(LOWER(0, 4000000000000000000), LOWER(0, -4000000000000000000), LOWER(0, INT64_MAX));
	assert_true(line.offset_ns == 4000000000000000000);
}

static void applied(void **state)
{
	const struct clock_line line = { .time_ns = 1000, .offset_ns = 500, .drift = 1e-3 };
	const struct clock_line back = { .time_ns = 1000, .offset_ns = -5000 };
	const struct clock_line far = { .time_ns = 0, .offset_ns = INT64_MAX, .drift = 1e-3 };
	const struct clock_line before = { .time_ns = 0, .offset_ns = INT64_MIN, .drift = -1e-3 };

	(void)state;
	assert_int_equal(clock_line_apply(&line, 1000), 1500);
	assert_int_equal(clock_line_apply(&line, 11000), 11510);
	assert_int_equal(clock_line_apply(&line, 0), 499);
	assert_int_equal(clock_line_apply(&back, 5000), 0);
	assert_int_equal(clock_line_apply(&back, 4999), 0);
	assert_int_equal(clock_line_apply(&back, 5001), 1);
	assert_true(clock_line_apply(&far, 1000000) == (uint64_t)INT64_MAX + 1001000);
	assert_true(clock_line_apply(&far, UINT64_MAX) == UINT64_MAX);
	assert_true(clock_line_apply(&before, 1ull << 63) == 0);
	assert_true(clock_line_apply(&before, UINT64_MAX) < (1ull << 63) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_sided),	 cmocka_unit_test(no_drift),  cmocka_unit_test(drift),
		cmocka_unit_test(contradiction), cmocka_unit_test(far_apart), cmocka_unit_test(applied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
