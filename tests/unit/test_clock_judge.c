/* SPDX-License-Identifier: Apache-2.0 */
/* clock_judge: determines which of the host's clocks a runtime uses for its time stamps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/clock_judge.h"

#define US 1000ull
#define MS 1000000ull

/* The host's four clocks at instant t, as offsets from it. */
struct host {
	uint64_t offset[CLOCK_JUDGE_CLOCKS];
};

static const struct host ordinary = { { 0, -96 * MS, 0, 1700000000000 * MS } };

static struct clock_reading at(const struct host *host, uint64_t t)
{
	struct clock_reading reading;
	int i;

	for (i = 0; i < CLOCK_JUDGE_CLOCKS; i++)
		reading.ns[i] = t + host->offset[i];
	return reading;
}

/* Feeds commands with time stamps of one clock until the judge decides; returns their number. */
static int feed(struct clock_judge *judge, const struct host *host, uint64_t offset, int most)
{
	uint64_t t = 3600ull * 1000 * MS;
	struct clock_reading before, after;
	int n;

	for (n = 1; n <= most; n++, t += MS) {
		before = at(host, t);
		after = at(host, t + 8 * US);
		if (clock_judge_add(judge, &before, &after, t + 3 * US + offset))
			return n;
	}
	return -1;
}

static void finds_each_clock(void **state)
{
	/* The host was suspended for ten seconds, so that BOOTTIME differs. */
	static const struct host host = { { 0, -96 * MS, 10000 * MS, 1700000000000 * MS } };
	int i;

	for (i = 0; i < CLOCK_JUDGE_CLOCKS; i++) {
		struct clock_judge judge = { 0 };

		assert_int_equal(feed(&judge, &host, host.offset[i], 100), CLOCK_JUDGE_MIN);
		assert_true(judge.done);
		assert_int_equal(judge.clock, i + 1);
	}
}

static void unsuspended_boottime_is_monotonic(void **state)
{
	struct clock_judge judge = { 0 };

	assert_int_equal(feed(&judge, &ordinary, 0, 100), CLOCK_JUDGE_MIN);
	assert_int_equal(judge.clock, STREAM_CLOCK_MONOTONIC);
}

static void a_late_stamp_fits_within_the_tolerance(void **state)
{
	struct clock_judge judge = { 0 };

	assert_int_equal(feed(&judge, &ordinary, ordinary.offset[1] + 40 * US, 100),
			 CLOCK_JUDGE_MIN);
	assert_int_equal(judge.clock, STREAM_CLOCK_MONOTONIC_RAW);
}

static void a_clock_of_its_own_is_undeclared(void **state)
{
	struct clock_judge judge = { 0 };

	assert_int_equal(feed(&judge, &ordinary, 12345 * MS, 1000), CLOCK_JUDGE_MAX);
	assert_int_equal(judge.clock, STREAM_CLOCK_UNDECLARED);
	assert_false(clock_judge_wants(&judge, UINT64_MAX));
}

/* 30 us apart: only exact readings distinguish the clocks. */
static void close_clocks_are_told_apart_exactly(void **state)
{
	static const struct host host = { { 0, 30 * US, 0, 1700000000000 * MS } };
	struct clock_judge raw = { 0 }, monotonic = { 0 };

	assert_int_equal(feed(&raw, &host, 30 * US, 100), CLOCK_JUDGE_MIN);
	assert_int_equal(raw.clock, STREAM_CLOCK_MONOTONIC_RAW);
	assert_int_equal(feed(&monotonic, &host, 0, 100), CLOCK_JUDGE_MIN);
	assert_int_equal(monotonic.clock, STREAM_CLOCK_MONOTONIC);
}

/* Equal to the microsecond: the judge does not decide, and asks again later, rarely. */
static void equal_clocks_stay_open(void **state)
{
	static const struct host host = { { 0, 1 * US, 0, 1700000000000 * MS } };
	struct clock_judge judge = { 0 };

	assert_int_equal(feed(&judge, &host, 1 * US, 200), -1);
	assert_false(judge.done);
	assert_false(clock_judge_wants(&judge, judge.last_ns + MS));
	assert_true(clock_judge_wants(&judge, judge.last_ns + CLOCK_JUDGE_RETRY_NS));
}

static void the_clocks_of_this_host_are_read(void **state)
{
	struct clock_reading first, second;
	int i;

	clock_reading_take(&first);
	clock_reading_take(&second);
	for (i = 0; i < CLOCK_JUDGE_CLOCKS; i++) {
		assert_true(first.ns[i] > 0);
		if (i + 1 != STREAM_CLOCK_REALTIME)
			assert_true(second.ns[i] >= first.ns[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_each_clock),
		cmocka_unit_test(unsuspended_boottime_is_monotonic),
		cmocka_unit_test(a_late_stamp_fits_within_the_tolerance),
		cmocka_unit_test(a_clock_of_its_own_is_undeclared),
		cmocka_unit_test(close_clocks_are_told_apart_exactly),
		cmocka_unit_test(equal_clocks_stay_open),
		cmocka_unit_test(the_clocks_of_this_host_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
