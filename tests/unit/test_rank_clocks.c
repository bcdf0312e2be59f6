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
		/* What is behind the last end does not count. */
		s.ends[s.count] = (struct rank_end){ .device = 2, .collective = s.collectives };
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
		cmocka_unit_test(through_another_rank),
		cmocka_unit_test(drift_of_nine),
		cmocka_unit_test(no_drift_in_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
