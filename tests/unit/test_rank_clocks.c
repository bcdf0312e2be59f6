/* SPDX-License-Identifier: Apache-2.0 */
/* rank_clocks.h: which clock is the reference, and from which difference on another one is corrected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/analyse/cluster/rank_clocks.h"

#define ENDS_MAX 64
#define EACH_NS 1000000000ull

struct scene {
	struct rank_end ends[ENDS_MAX];
	uint32_t count, collectives;
	struct rank_clock clocks[3];
};

/* A collective of two or three devices, whose clocks are ahead by so much. */
static void add(struct scene *s, uint32_t first, uint32_t devices, const int64_t *ahead_ns)
{
	for (uint32_t i = first; i < first + devices; i++)
		s->ends[s->count++] = (struct rank_end){
			.end_ns = (s->collectives + 1) * EACH_NS + (uint64_t)ahead_ns[i],
			.device = i,
			.collective = s->collectives,
		};
	s->collectives++;
}

static void find(struct scene *s)
{
	assert_int_equal(rank_clocks_find(s->ends, s->count, 3, s->clocks), 0);
}

static void names_of_collectives_with_a_root(void **state)
{
	static const char *const ROOTED[] = { "Broadcast", "ncclDevKernel_Broadcast_RING", "gather", "Scatter", "reduce" };
	static const char *const OTHERS[] = { "AllGather", "reduceScatter", "allReduce", "AllToAll", "send", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(ROOTED) / sizeof(*ROOTED); i++)
		assert_true(rank_clocks_is_rooted(ROOTED[i]));
	for (size_t i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++)
		assert_false(rank_clocks_is_rooted(OTHERS[i]));
}

static void few_collectives_tell_nothing(void **state)
{
	static const int64_t AHEAD[] = { 0, 100000 };

	(void)state;
	for (uint32_t count = RANK_CLOCK_SAMPLES - 1; count <= RANK_CLOCK_SAMPLES; count++) {
		bool enough = count == RANK_CLOCK_SAMPLES;
		struct scene s = { 0 };

		for (uint32_t i = 0; i < count; i++)
			add(&s, 0, 2, AHEAD);
		find(&s);
		assert_true(s.clocks[0].known);
		assert_int_equal(s.clocks[1].known, enough);
		assert_int_equal(s.clocks[1].moved, enough);
		assert_int_equal(s.clocks[1].offset_ns, enough ? -100000 : 0);
		/* A device without collectives has no known clock. */
		assert_false(s.clocks[2].known);
	}
}

/* @last_ns: how far the second clock is ahead in the last of three collectives. */
static bool is_moved(int64_t ahead_ns, int64_t last_ns)
{
	struct scene s = { 0 };

	for (uint32_t i = 0; i < 3; i++)
		add(&s, 0, 2, (int64_t[]){ 0, i < 2 ? ahead_ns : last_ns });
	find(&s);
	assert_true(s.clocks[1].known);
	assert_int_equal(s.clocks[1].offset_ns, -ahead_ns);
	return s.clocks[1].moved;
}

/* A difference is corrected if it is larger than noise and than three times its own uncertainty. */
static void as_large_as_noise_is_noise(void **state)
{
	(void)state;
	assert_false(is_moved(RANK_CLOCK_NOISE_NS, RANK_CLOCK_NOISE_NS));
	assert_true(is_moved(RANK_CLOCK_NOISE_NS + 1, RANK_CLOCK_NOISE_NS + 1));
	assert_false(is_moved(90000, 120000));
	assert_true(is_moved(90001, 120001));
	assert_true(is_moved(-90001, -120001));
}

/* Of devices with as many collectives the first one's clock is the reference; else that of the device with most. */
static void the_device_with_most_is_the_reference(void **state)
{
	static const int64_t AHEAD[] = { 100000, 0, -200000 };

	(void)state;
	for (uint32_t more = 0; more < 3; more++) {
		struct scene s = { 0 };

		for (uint32_t i = 0; i < 3; i++)
			add(&s, 0, 3, AHEAD);
		for (uint32_t i = 0; i < more; i++)
			add(&s, i, 2, AHEAD); /* of the first two, then of the last two: the second has most */
		/* What is behind the last end does not count, even with the number of the last collective. */
		s.ends[s.count] = (struct rank_end){ .device = 2, .collective = s.collectives - 1 };
		find(&s);
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t reference = more < 2 ? 0 : 1;

			assert_true(s.clocks[i].known);
			assert_int_equal(s.clocks[i].moved, i != reference);
			assert_int_equal(s.clocks[i].offset_ns, AHEAD[reference] - AHEAD[i]);
			assert_int_equal(s.clocks[i].error_ns, 0);
		}
	}
}

/* The second device has most; the first one is the only other. */
static void the_first_device_may_be_the_one_to_correct(void **state)
{
	static const int64_t AHEAD[] = { 100000, 0 };
	struct scene s = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		add(&s, 0, 2, AHEAD);
	add(&s, 1, 1, AHEAD);
	find(&s);
	assert_true(s.clocks[0].moved);
	assert_int_equal(s.clocks[0].offset_ns, -100000);
	assert_int_equal(s.clocks[0].error_ns, 0);
	assert_false(s.clocks[1].moved);
}

/* The third device has collectives with the second one only, whose clock is known by those with the first. */
static void through_another_rank(void **state)
{
	static const int64_t AHEAD[] = { 0, 100000, -200000 };
	struct scene s = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		add(&s, 0, 1, AHEAD); /* it has more than the second one, which is in those of both others */
	for (uint32_t i = 0; i < 3; i++) {
		add(&s, 0, 2, AHEAD);
		add(&s, 1, 2, AHEAD);
	}
	find(&s);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(s.clocks[i].known);
		assert_int_equal(s.clocks[i].offset_ns, -AHEAD[i]);
	}
}

/* A clock that gains a microsecond in a second: nine collectives tell it, eight only that it is ahead. */
static void drift_of_nine(void **state)
{
	(void)state;
	for (uint32_t count = 8; count <= 9; count++) {
		struct scene s = { 0 };

		for (uint32_t i = 0; i < count; i++)
			add(&s, 0, 2, (int64_t[]){ 0, 100000 + i * 1000 });
		find(&s);
		assert_true(s.clocks[1].moved);
		if (count < 9)
			assert_true(s.clocks[1].drift == 0);
		else
			assert_true(s.clocks[1].drift < -0.99e-6 && s.clocks[1].drift > -1.01e-6);
	}
}

/* Nine collectives, at equal distances by the second clock, behind which the first one is by so much each time. */
static struct rank_clock clock_behind(uint64_t each_ns, const int64_t *behind_ns)
{
	struct scene s = { 0 };

	for (uint32_t i = 0; i < 9; i++) {
		add(&s, 0, 2, (int64_t[]){ 0, 0 });
		s.ends[s.count - 1].end_ns = (i + 1) * each_ns;
		s.ends[s.count - 2].end_ns = (i + 1) * each_ns + (uint64_t)behind_ns[i];
	}
	find(&s);
	assert_true(s.clocks[1].known);
	return s.clocks[1];
}

/* A clock that loses as much as a thousandth is not believed: its ends differ for another reason. */
static void no_clock_drifts_by_a_thousandth(void **state)
{
	int64_t thousandth[9], less[9];
	struct rank_clock clock;

	(void)state;
	for (int64_t i = 0; i < 9; i++) {
		thousandth[i] = i * 1000000;
		less[i] = i * 999000;
	}
	clock = clock_behind(EACH_NS, thousandth);
	assert_true(clock.drift == 0);
	assert_int_equal(clock.offset_ns, 4000000);
	clock = clock_behind(EACH_NS, less);
	assert_true(clock.drift > 0.998e-3 && clock.drift < 1e-3);
	assert_int_equal(clock.offset_ns, 4 * 999000);
	assert_int_equal(clock.error_ns, 0);
}

/*
 * A line through the differences grows by 2^15 from one to the next, 2^30 ns later. Nine of ten are within 4 * 2^15 of
 * the one in the middle; two are this far from the line, which is drawn if it more than halves that.
 */
static void a_line_is_drawn_if_it_halves_the_error(void **state)
{
	(void)state;
	for (int64_t from_line = 65535; from_line <= 65536; from_line++) {
		int64_t behind[9];
		struct rank_clock clock;

		for (int64_t i = 0; i < 9; i++)
			behind[i] = (1 << 20) + (i - 4) * (1 << 15);
		behind[3] += from_line;
		behind[5] -= from_line;
		clock = clock_behind(1 << 30, behind);
		assert_true(clock.moved);
		assert_int_equal(clock.offset_ns, 1 << 20);
		assert_true(clock.drift == (from_line < 65536 ? 1.0 / (1 << 15) : 0));
		assert_int_equal(clock.error_ns, from_line < 65536 ? from_line : 4 << 15);
	}
}

/* Nine collectives that end at once: without time between them there is no drift. */
static void no_drift_in_no_time(void **state)
{
	struct scene s = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 9; i++) {
		add(&s, 0, 2, (int64_t[]){ i * 1000, 100000 });
		s.ends[s.count - 1].end_ns = EACH_NS + 100000;
		s.ends[s.count - 2].end_ns = EACH_NS + i * 1000;
	}
	find(&s);
	assert_true(s.clocks[1].known);
	assert_true(s.clocks[1].drift == 0);
	assert_int_equal(s.clocks[1].offset_ns, 4000 - 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_collectives_with_a_root),
		cmocka_unit_test(few_collectives_tell_nothing),
		cmocka_unit_test(as_large_as_noise_is_noise),
		cmocka_unit_test(the_device_with_most_is_the_reference),
		cmocka_unit_test(the_first_device_may_be_the_one_to_correct),
		cmocka_unit_test(through_another_rank),
		cmocka_unit_test(drift_of_nine),
		cmocka_unit_test(no_clock_drifts_by_a_thousandth),
		cmocka_unit_test(a_line_is_drawn_if_it_halves_the_error),
		cmocka_unit_test(no_drift_in_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
