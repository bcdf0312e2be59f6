/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clocks.c - snapshots of the host's clocks and conversion between them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "lib/trace/clocks.h"

#define S 1000000000ull /* ns */
#define EPOCH 1790000000000000000ull /* CLOCK_REALTIME of a date in 2026: needs 61 bits */

static int new_table(void **state)
{
	*state = clock_table_new();
	return *state ? 0 : -1;
}

static int free_table(void **state)
{
	clock_table_free(*state);
	return 0;
}

static void add(struct clock_table *t, uint64_t mono, uint64_t raw, uint64_t boot, uint64_t real,
		uint64_t counter)
{
	struct clock_snapshot s = { mono, raw, boot, real, counter, 0 };

	assert_int_equal(clock_table_add(t, &s), 0);
}

static uint64_t to_mono(struct clock_table *t, enum clock_kind kind, uint64_t value)
{
	uint64_t result = 0xdead;

	assert_int_equal(clock_table_to_monotonic(t, kind, value, &result), 0);
	return result;
}

static uint64_t from_mono(struct clock_table *t, enum clock_kind kind, uint64_t value)
{
	uint64_t result = 0xdead;

	assert_int_equal(clock_table_from_monotonic(t, kind, value, &result), 0);
	return result;
}

static uint64_t now(clockid_t id)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(id, &ts), 0);
	return (uint64_t)ts.tv_sec * S + (uint64_t)ts.tv_nsec;
}

/* Each clock of the snapshot lies between readings of that clock before and after. */
static void test_snapshot(void **state)
{
	struct clock_snapshot s;
	uint64_t mono = now(CLOCK_MONOTONIC), raw = now(CLOCK_MONOTONIC_RAW);
	uint64_t boot = now(CLOCK_BOOTTIME), real = now(CLOCK_REALTIME);

	assert_int_equal(clock_snapshot_take(&s), 0);
	assert_in_range(s.monotonic_ns, mono, now(CLOCK_MONOTONIC));
	assert_in_range(s.monotonic_raw_ns, raw, now(CLOCK_MONOTONIC_RAW));
	assert_in_range(s.boottime_ns, boot, now(CLOCK_BOOTTIME));
	assert_in_range(s.realtime_ns, real, now(CLOCK_REALTIME));
	assert_true(s.width_ns < now(CLOCK_MONOTONIC) - mono);
#if defined(__x86_64__) || defined(__aarch64__)
	struct clock_snapshot later;

	assert_int_equal(clock_snapshot_take(&later), 0);
	assert_true(s.counter > 0);
	assert_true(later.counter > s.counter);
#endif
}

/* The table's answer for a real instant must agree with the clocks themselves. */
static void test_real_clocks(void **state)
{
	struct clock_snapshot a, b, c;
	struct timespec pause = { 0, 2000000 };
	uint64_t slack;

	assert_int_equal(clock_snapshot_take(&a), 0);
	nanosleep(&pause, NULL);
	assert_int_equal(clock_snapshot_take(&b), 0);
	nanosleep(&pause, NULL);
	assert_int_equal(clock_snapshot_take(&c), 0);
	clock_table_add(*state, &a);
	clock_table_add(*state, &c);
	/* The readings' widths; NTP may slew MONOTONIC by 500 ppm meanwhile, however long the pauses took. */
	slack = a.width_ns + b.width_ns + c.width_ns + 4000 + (c.monotonic_ns - a.monotonic_ns) / 1000;
	for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++) {
		uint64_t value = clock_snapshot_value(&b, kind);

		if (!value)
			continue;
		assert_in_range(to_mono(*state, kind, value), b.monotonic_ns - slack,
				b.monotonic_ns + slack);
	}
}

static void test_empty(void **state)
{
	uint64_t result = 7;

	assert_int_equal(clock_table_to_monotonic(*state, CLOCK_KIND_REALTIME, EPOCH, &result),
			 -ENODATA);
	assert_int_equal(clock_table_from_monotonic(*state, CLOCK_KIND_REALTIME, S, &result),
			 -ENODATA);
	assert_int_equal(clock_table_to_monotonic(*state, CLOCK_KINDS, S, &result), -EINVAL);
	assert_int_equal(clock_table_to_monotonic(*state, (enum clock_kind) - 1, S, &result),
			 -EINVAL);
	assert_int_equal(result, 7);
	assert_int_equal(clock_table_count(*state), 0);
	assert_null(clock_table_get(*state, 0));
}

static void test_single(void **state)
{
	uint64_t result;

	add(*state, 100 * S, 90 * S, 200 * S, EPOCH, 5000);
	assert_int_equal(to_mono(*state, CLOCK_KIND_REALTIME, EPOCH), 100 * S);
	assert_int_equal(to_mono(*state, CLOCK_KIND_REALTIME, EPOCH + 17), 100 * S + 17);
	assert_int_equal(to_mono(*state, CLOCK_KIND_REALTIME, EPOCH - 17), 100 * S - 17);
	assert_int_equal(from_mono(*state, CLOCK_KIND_MONOTONIC_RAW, 100 * S + 1), 90 * S + 1);
	assert_int_equal(from_mono(*state, CLOCK_KIND_BOOTTIME, 1), 100 * S + 1);
	assert_int_equal(to_mono(*state, CLOCK_KIND_MONOTONIC, 42), 42);
	/* One reading of a counter does not give its rate. */
	assert_int_equal(to_mono(*state, CLOCK_KIND_COUNTER, 5000), 100 * S);
	assert_int_equal(clock_table_to_monotonic(*state, CLOCK_KIND_COUNTER, 5001, &result),
			 -ENODATA);
	/* Before the zero of the requested clock. */
	assert_int_equal(clock_table_from_monotonic(*state, CLOCK_KIND_MONOTONIC_RAW, 10 * S - 1,
						    &result),
			 -ERANGE);
	assert_int_equal(from_mono(*state, CLOCK_KIND_MONOTONIC_RAW, 10 * S), 0);
	assert_int_equal(clock_table_from_monotonic(*state, CLOCK_KIND_REALTIME, UINT64_MAX,
						    &result),
			 -ERANGE);
}

/* RAW runs 50 ppm slow in the first second, 100 ppm fast in the second one. */
static void add_bent(struct clock_table *t)
{
	add(t, 100 * S, 50 * S, 100 * S, EPOCH, 1000);
	add(t, 101 * S, 51 * S - 50000, 101 * S, EPOCH + S, 1000 + 24000000);
	add(t, 102 * S, 52 * S + 50000, 102 * S, EPOCH + 2 * S, 1000 + 2 * 24000000);
}

static void test_interpolation(void **state)
{
	struct clock_table *t = *state;

	add_bent(t);
	/* Exact at the snapshots. */
	assert_int_equal(to_mono(t, CLOCK_KIND_MONOTONIC_RAW, 51 * S - 50000), 101 * S);
	assert_int_equal(from_mono(t, CLOCK_KIND_MONOTONIC_RAW, 101 * S), 51 * S - 50000);
	assert_int_equal(from_mono(t, CLOCK_KIND_REALTIME, 102 * S), EPOCH + 2 * S);
	/* Half way through each second. */
	assert_int_equal(from_mono(t, CLOCK_KIND_MONOTONIC_RAW, 100 * S + S / 2),
			 50 * S + S / 2 - 25000);
	assert_int_equal(from_mono(t, CLOCK_KIND_MONOTONIC_RAW, 101 * S + S / 2), 51 * S + S / 2);
	/* A nanosecond is not lost in 61 bits, unlike in a double. */
	assert_int_equal(to_mono(t, CLOCK_KIND_REALTIME, EPOCH + 1), 100 * S + 1);
	assert_int_equal(from_mono(t, CLOCK_KIND_REALTIME, 101 * S + 999999999), EPOCH + 2 * S - 1);
	/* A tick of 24 MHz takes 41.67 ns: rounded down. */
	assert_int_equal(to_mono(t, CLOCK_KIND_COUNTER, 1001), 100 * S + 41);
	assert_int_equal(to_mono(t, CLOCK_KIND_COUNTER, 1003), 100 * S + 125);
	assert_int_equal(from_mono(t, CLOCK_KIND_COUNTER, 100 * S + 125), 1003);
}

static void test_extrapolation(void **state)
{
	struct clock_table *t = *state;

	add_bent(t);
	/* Before the snapshots 50 ppm slow; after them 100 ppm fast. */
	assert_int_equal(from_mono(t, CLOCK_KIND_MONOTONIC_RAW, 90 * S), 40 * S + 500000);
	assert_int_equal(from_mono(t, CLOCK_KIND_MONOTONIC_RAW, 112 * S), 62 * S + 50000 + 1000000);
	assert_int_equal(to_mono(t, CLOCK_KIND_MONOTONIC_RAW, 62 * S + 1050000), 112 * S);
	assert_int_equal(to_mono(t, CLOCK_KIND_COUNTER, 1000 + 12 * 24000000), 112 * S);
	/* Rounded down, also in the other direction. */
	assert_int_equal(to_mono(t, CLOCK_KIND_COUNTER, 999), 100 * S - 42);
}

/* A last snapshot shortly after the one before must not falsify the rate. */
static void test_extrapolation_spans_a_second(void **state)
{
	struct clock_table *t = *state;

	add_bent(t);
	add(t, 102 * S + 1000, 52 * S + 50000 + 1100, 102 * S + 1000, EPOCH + 2 * S + 1000,
	    1000 + 2 * 24000000 + 24);
	/* 100 ppm over ten seconds is 1 ms; the last pair alone would make it one second. */
	assert_in_range(from_mono(t, CLOCK_KIND_MONOTONIC_RAW, 112 * S + 1000),
			62 * S + 50000 + 1100 + 1000000 - 5000,
			62 * S + 50000 + 1100 + 1000000 + 5000);
}

static void test_suspend(void **state)
{
	struct clock_table *t = *state;

	/* An hour of suspend between two snapshots: BOOTTIME jumps, the rate does not. */
	add(t, 10 * S, 10 * S, 10 * S, EPOCH, 1);
	add(t, 11 * S, 11 * S, 3611 * S, EPOCH + 3601 * S, 2);
	assert_int_equal(from_mono(t, CLOCK_KIND_BOOTTIME, 12 * S), 3612 * S);
	assert_int_equal(from_mono(t, CLOCK_KIND_BOOTTIME, 9 * S), 9 * S);
	assert_int_equal(to_mono(t, CLOCK_KIND_REALTIME, EPOCH + 3602 * S), 12 * S);
	assert_in_range(to_mono(t, CLOCK_KIND_BOOTTIME, 1000 * S), 10 * S, 11 * S);
}

static void test_clock_set_back(void **state)
{
	struct clock_table *t = *state;

	/* Wall clock: +1 s, then set back by 5 s, then running on. */
	add(t, 10 * S, 10 * S, 10 * S, EPOCH + 10 * S, 10);
	add(t, 11 * S, 11 * S, 11 * S, EPOCH + 11 * S, 20);
	add(t, 12 * S, 12 * S, 12 * S, EPOCH + 7 * S, 30);
	add(t, 20 * S, 20 * S, 20 * S, EPOCH + 15 * S, 40);
	assert_int_equal(to_mono(t, CLOCK_KIND_REALTIME, EPOCH + 10 * S + 5), 10 * S + 5);
	assert_int_equal(to_mono(t, CLOCK_KIND_REALTIME, EPOCH + 11 * S), 11 * S);
	/* Read only once after it was set back. */
	assert_int_equal(to_mono(t, CLOCK_KIND_REALTIME, EPOCH + 13 * S), 18 * S);
	assert_int_equal(from_mono(t, CLOCK_KIND_REALTIME, 12 * S), EPOCH + 7 * S);
	assert_int_equal(from_mono(t, CLOCK_KIND_REALTIME, 16 * S), EPOCH + 11 * S);
	assert_int_equal(from_mono(t, CLOCK_KIND_REALTIME, 11 * S + 3), EPOCH + 11 * S + 3);
	assert_int_equal(clock_table_skipped(t), 0);
}

static void test_order_and_duplicates(void **state)
{
	struct clock_table *t = *state;

	add(t, 12 * S, 2 * S, 12 * S, EPOCH + 2 * S, 300);
	add(t, 10 * S, 0 * S + 1, 10 * S, EPOCH, 100);
	add(t, 11 * S, 1 * S, 11 * S, EPOCH + S, 200);
	add(t, 11 * S, 1 * S, 11 * S, EPOCH + S, 200);
	add(t, 0, 5 * S, 5 * S, EPOCH, 1);
	/* RAW and BOOTTIME never run backwards. */
	add(t, 12 * S + 5, 1 * S, 12 * S + 5, EPOCH + 2 * S + 5, 301);
	add(t, 12 * S + 6, 3 * S, 11 * S, EPOCH + 2 * S + 6, 301);
	assert_int_equal(clock_table_count(t), 3);
	assert_int_equal(clock_table_skipped(t), 4);
	assert_int_equal(clock_table_get(t, 0)->monotonic_ns, 10 * S);
	assert_int_equal(clock_table_get(t, 2)->monotonic_ns, 12 * S);
	assert_null(clock_table_get(t, 3));
	assert_int_equal(to_mono(t, CLOCK_KIND_REALTIME, EPOCH + S + S / 2), 11 * S + S / 2);
	/* Snapshots may be added after a conversion. */
	add(t, 9 * S, 0, 9 * S, EPOCH - 3 * S, 50);
	assert_int_equal(to_mono(t, CLOCK_KIND_REALTIME, EPOCH - 3 * S), 9 * S);
}

static void test_missing_clock(void **state)
{
	struct clock_table *t = *state;
	uint64_t result;

	add(t, 10 * S, 0, 10 * S, EPOCH, 0);
	add(t, 11 * S, 0, 11 * S, EPOCH + S, 0);
	assert_int_equal(clock_table_count(t), 2);
	assert_int_equal(clock_table_to_monotonic(t, CLOCK_KIND_COUNTER, 5, &result), -ENODATA);
	assert_int_equal(clock_table_to_monotonic(t, CLOCK_KIND_MONOTONIC_RAW, 5, &result),
			 -ENODATA);
	assert_int_equal(to_mono(t, CLOCK_KIND_REALTIME, EPOCH + 5), 10 * S + 5);
}

static void test_too_many(void **state)
{
	struct clock_table *t = *state;

	for (uint64_t i = 0; i < CLOCK_TABLE_MAX + 10; i++)
		add(t, i + 1, i + 1, i + 1, i + 1, i + 1);
	assert_int_equal(clock_table_count(t), CLOCK_TABLE_MAX);
	assert_int_equal(clock_table_skipped(t), 10);
	assert_int_equal(to_mono(t, CLOCK_KIND_REALTIME, 77), 77);
}

/* Snapshots at the limits of 64 bits: no overflow for any instant. */
static void test_extremes(void **state)
{
	static const uint64_t value[] = { 0, 1, 2, S, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };
	const size_t n = sizeof(value) / sizeof(value[0]);
	uint64_t state64 = 88172645463325252ull;
	unsigned int answered = 0;

	for (int round = 0; round < 2000; round++) {
		struct clock_table *t = clock_table_new();

		for (int i = 0; i < 4; i++) {
			uint64_t v[5];

			for (int j = 0; j < 5; j++) {
				state64 ^= state64 << 13;
				state64 ^= state64 >> 7;
				state64 ^= state64 << 17;
				v[j] = value[state64 % n];
			}
			add(t, v[0], v[1], v[2], v[3], v[4]);
		}
		for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++) {
			for (size_t i = 0; i < n; i++) {
				uint64_t r;
				int err = clock_table_to_monotonic(t, kind, value[i], &r);

				assert_true(!err || err == -ERANGE || err == -ENODATA);
				answered += !err;
				err = clock_table_from_monotonic(t, kind, value[i], &r);
				assert_true(!err || err == -ERANGE || err == -ENODATA);
				answered += !err;
			}
		}
		clock_table_free(t);
	}
	assert_true(answered > 1000);
}

/* A conversion and back: never later, and early by less than one tick of the coarser clock. */
static void test_round_trip(void **state)
{
	struct clock_table *t = *state;

	add_bent(t);
	for (uint64_t m = 100 * S; m < 110 * S; m += 1234567) {
		assert_in_range(to_mono(t, CLOCK_KIND_MONOTONIC_RAW,
					from_mono(t, CLOCK_KIND_MONOTONIC_RAW, m)),
				m - 2, m);
		assert_in_range(to_mono(t, CLOCK_KIND_COUNTER, from_mono(t, CLOCK_KIND_COUNTER, m)),
				m - 42, m);
		assert_int_equal(
			to_mono(t, CLOCK_KIND_REALTIME, from_mono(t, CLOCK_KIND_REALTIME, m)), m);
	}
}

static void add_set_back(struct clock_table *t, bool also_late)
{
	add(t, 10 * S, 10 * S, 20 * S, EPOCH + 10 * S, 10);
	add(t, 11 * S, 11 * S + 50, 21 * S, EPOCH + 11 * S, 20);
	add(t, 12 * S, 12 * S + 70, 22 * S, EPOCH + 7 * S, 30);
	add(t, 20 * S, 20 * S + 90, 31 * S, EPOCH + 15 * S, 40);
	if (also_late)
		add(t, 16 * S, 16 * S + 75, 29 * S, EPOCH + 12 * S, 35);
}

static int convert(struct clock_table *t, bool to, enum clock_kind kind, uint64_t value, uint64_t *result)
{
	return to ? clock_table_to_monotonic(t, kind, value, result)
		  : clock_table_from_monotonic(t, kind, value, result);
}

/* Is a conversion the same as that of a table which has converted nothing before? */
static void compare_with_new(struct clock_table *t, bool also_late, bool to, enum clock_kind kind, uint64_t value)
{
	struct clock_table *new = clock_table_new();
	uint64_t result = 1, expected = 1;
	int err;

	assert_non_null(new);
	add_set_back(new, also_late);
	err = convert(new, to, kind, value, &expected);
	assert_int_equal(convert(t, to, kind, value, &result), err);
	assert_int_equal(result, expected);
	clock_table_free(new);
}

/* A value is converted alike whatever was converted before it. */
static void test_any_order(void **state)
{
	static const uint64_t OFFSETS[] = { 0, 1, 10, 20, 50, 70, 90, 91, S / 2, S - 1, S + 1, 7 * S - 1 };
	struct clock_table *t = *state;
	uint64_t chance = 1;

	add_set_back(t, false);
	for (int i = 0; i < 40000; i++) {
		bool also_late = i >= 20000;
		enum clock_kind kind;
		uint64_t value;
		bool to;

		if (i == 20000) {
			uint64_t same;

			/* Between those of the latest conversion. */
			assert_int_equal(convert(t, true, CLOCK_KIND_MONOTONIC_RAW, 18 * S, &same), 0);
			add(t, 16 * S, 16 * S + 75, 29 * S, EPOCH + 12 * S, 35);
			compare_with_new(t, true, true, CLOCK_KIND_MONOTONIC_RAW, 18 * S);
		}
		chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407ull;
		kind = (enum clock_kind)((chance >> 33) % CLOCK_KINDS);
		to = chance >> 40 & 1;
		value = (5 + (chance >> 41) % 20) * S + OFFSETS[(chance >> 50) % (sizeof(OFFSETS) / sizeof(*OFFSETS))];
		if (to && kind == CLOCK_KIND_REALTIME)
			value += EPOCH;
		if (to && kind == CLOCK_KIND_COUNTER)
			value %= 80;
		compare_with_new(t, also_late, to, kind, value);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, new_table, free_table)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_snapshot),
		TEST(test_real_clocks),
		TEST(test_empty),
		TEST(test_single),
		TEST(test_interpolation),
		TEST(test_extrapolation),
		TEST(test_extrapolation_spans_a_second),
		TEST(test_suspend),
		TEST(test_clock_set_back),
		TEST(test_order_and_duplicates),
		TEST(test_missing_clock),
		TEST(test_too_many),
		TEST(test_extremes),
		TEST(test_round_trip),
		TEST(test_any_order),
	};

	return cmocka_run_group_tests_name("clocks", tests, NULL, NULL);
}
