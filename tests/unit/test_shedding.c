/* SPDX-License-Identifier: Apache-2.0 */
/* Records that a session leaves out when it costs too much, and their return. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/profbpfd/session/run_prices.h"
#include "daemon/profbpfd/session/shedding.h"

#define BUDGET 0.03

/* The cost of a job: @samples, @wakes and @sleeps when all of them are recorded, @others, and @ends among these. */
struct job {
	double samples, wakes, others;
	bool crowded;
	double sleeps, ends;
};

static struct shed_look look_of(const struct shed_watch *watch, struct job job)
{
	struct shed_look look = {
		.all = { [SHED_SAMPLES] = job.samples, [SHED_WAKES] = job.wakes, [SHED_SLEEPS] = job.sleeps },
		.recorded = { true, true, true },
		.ends = job.ends,
		.crowded = job.crowded,
		.total = job.others,
	};

	for (enum shed_what what = 0; what < SHED_WHATS; what++) {
		look.now[what] = look.all[what] * shed_kept_permille(what, watch->level[what]) / 1000;
		look.total += look.now[what];
	}
	return look;
}

static enum shed_what look(struct shed_watch *watch, struct job job)
{
	struct shed_look look = look_of(watch, job);

	return shed_judge(watch, &look, BUDGET);
}

/* Judges until the level changes, at most @most times. */
static int looks_until(struct shed_watch *watch, struct job job, enum shed_what expected, int most)
{
	for (int i = 1; i <= most; i++) {
		enum shed_what what = look(watch, job);

		if (what == SHED_WHATS)
			continue;
		assert_int_equal(what, expected);
		return i;
	}
	return 0;
}

static void bursts_do_not_count(void **state)
{
	struct shed_watch watch = { 0 };

	for (int i = 0; i < 10; i++) {
		assert_int_equal(look(&watch, (struct job){ 0.1, 0.1, 0.1, true }), SHED_WHATS);
		assert_int_equal(look(&watch, (struct job){ 0.1, 0.1, 0.1, false }), SHED_WHATS);
		assert_int_equal(look(&watch, (struct job){ 0.01, 0.01, 0.009, false }), SHED_WHATS);
	}
}

static void the_dearest_first(void **state)
{
	struct shed_watch watch = { 0 };
	const struct job job = { .samples = 0.02, .wakes = 0.04, .others = 0.005 };

	assert_int_equal(looks_until(&watch, job, SHED_WAKES, 10), SHED_LOOKS);
	/* A cost of 0.025 is left. */
	assert_int_equal(looks_until(&watch, job, SHED_WHATS, 10), 0);
	assert_int_equal(watch.level[SHED_SAMPLES], 0);
	assert_int_equal(shed_kept_permille(SHED_WAKES, watch.level[SHED_WAKES]), 0);
}

static void step_by_step(void **state)
{
	struct shed_watch watch = { 0 };
	const struct job job = { .samples = 0.2, .wakes = 0.05, .others = 0.02 };

	assert_int_equal(looks_until(&watch, job, SHED_SAMPLES, 10), SHED_LOOKS);
	assert_int_equal(shed_kept_permille(SHED_SAMPLES, 1), 250);
	/*
	 * Faster now: one judgement to see the effect of the last cut. Then both cost the same, and the first counts.
	 */
	assert_int_equal(looks_until(&watch, job, SHED_SAMPLES, 10), 2);
	assert_int_equal(shed_kept_permille(SHED_SAMPLES, 2), 0);
	assert_int_equal(looks_until(&watch, job, SHED_WAKES, 10), 2);
	assert_int_equal(looks_until(&watch, job, SHED_WHATS, 10), 0);
}

static void what_would_not_help_stays(void **state)
{
	struct shed_watch watch = { 0 };

	assert_int_equal(looks_until(&watch, (struct job){ 0.001, 0.002, 0.5, true }, SHED_WHATS, 20), 0);
	assert_int_equal(looks_until(&watch, (struct job){ 0, 0, 0, true }, SHED_WHATS, 20), 0);
}

static void what_is_not_recorded_is_not_cut(void **state)
{
	struct shed_watch watch = { 0 };
	struct shed_look job = { .total = 0.2, .now = { 0.1, 0.1 }, .all = { 0.1, 0.1 }, .recorded = { false, true } };

	for (int i = 0; i < SHED_LOOKS - 1; i++)
		assert_int_equal(shed_judge(&watch, &job, BUDGET), SHED_WHATS);
	assert_int_equal(shed_judge(&watch, &job, BUDGET), SHED_WAKES);
}

static void taken_back(void **state)
{
	struct shed_watch watch = { .level = { 2, 1 } };
	/* A quarter of the samples costs 0.004, the wake-ups 0.01. All but the rest of the samples fit into 0.015. */
	const struct job job = { .samples = 0.016, .wakes = 0.01, .others = 0.001 };

	assert_int_equal(looks_until(&watch, job, SHED_SAMPLES, 10), SHED_LOOKS);
	assert_int_equal(watch.level[SHED_SAMPLES], 1);
	assert_int_equal(looks_until(&watch, job, SHED_WAKES, 10), SHED_LOOKS);
	assert_int_equal(looks_until(&watch, job, SHED_WHATS, 10), 0);
	/* They would not be cut again: no oscillation. */
	assert_int_equal(looks_until(&watch, (struct job){ .samples = 0.001 }, SHED_SAMPLES, 10), SHED_LOOKS);
	assert_int_equal(watch.level[SHED_SAMPLES] + watch.level[SHED_WAKES], 0);
	assert_int_equal(looks_until(&watch, (struct job){ 0 }, SHED_WHATS, 10), 0);
}

/* Without room in the budget cheap records are too many as well; they stay out until there are far fewer. */
static void no_room(void **state)
{
	struct shed_watch watch = { 0 };

	assert_int_equal(looks_until(&watch, (struct job){ 0.0001, 0.004, 0.004, true }, SHED_WAKES, 10), SHED_LOOKS);
	assert_int_equal(looks_until(&watch, (struct job){ 0.0001, 0.0039, 0.004, false }, SHED_WHATS, 20), 0);
	assert_int_equal(looks_until(&watch, (struct job){ 0.0001, 0.0019, 0.004, true }, SHED_WHATS, 2), 0);
	assert_int_equal(looks_until(&watch, (struct job){ 0.0001, 0.0019, 0.004, false }, SHED_WAKES, 10), SHED_LOOKS);
}

static void sleeps_go_and_come(void **state)
{
	struct shed_watch watch = { 0 };
	struct job job = { .samples = 0.01, .others = 0.005, .sleeps = 0.05 };

	assert_int_equal(looks_until(&watch, job, SHED_SLEEPS, 10), SHED_LOOKS);
	assert_int_equal(shed_kept_permille(SHED_SLEEPS, watch.level[SHED_SLEEPS]), 0);
	assert_int_equal(looks_until(&watch, job, SHED_WHATS, 10), 0);
	job.sleeps = 0.0001;
	job.samples = 0.001;
	assert_int_equal(looks_until(&watch, job, SHED_SLEEPS, 10), SHED_LOOKS);
}

static void assert_ends(const struct shed_watch *watch, struct job job, double most, double room)
{
	struct shed_look look = look_of(watch, job);
	struct ends_budget ends = shed_ends_budget(watch, &look, BUDGET);

	assert_float_equal(ends.most, most, 1e-9);
	assert_float_equal(ends.room, room, 1e-9);
}

/* Within one budget: the most expensive records go first, including the ends of calls. */
static void ends_of_calls(void **state)
{
	struct shed_watch watch = { 0 };
	struct job job = { .wakes = 0.02, .others = 0.03, .ends = 0.025 };

	/* Ends are the most expensive: the rest leaves 0.005 for them, and nothing else is cut in the meantime. */
	assert_ends(&watch, job, 0.005, 0.005);
	assert_int_equal(looks_until(&watch, job, SHED_WHATS, 20), 0);
	/* Wake-ups are the most expensive: they are cut first. */
	job = (struct job){ .wakes = 0.04, .others = 0.025, .ends = 0.02 };
	assert_ends(&watch, job, BUDGET, 0);
	assert_int_equal(looks_until(&watch, job, SHED_WAKES, 1), 1);
	assert_ends(&watch, job, 0.025, 0.025);
	/* Leaving out very little would not help. */
	job = (struct job){ .others = 0.05, .ends = 0.0001 };
	assert_ends(&watch, job, BUDGET, 0);
}

static void costs_of_cpus(void **state)
{
	struct run_prices *prices = run_prices_new(2, (struct call_prices){ 4000, 1000 });
	struct run_counts counts[2] = { 0 };
	struct shed_watch watch = { 0 };
	struct shed_look look = { 0 };

	counts[0].calls = 12345678;
	run_prices_look(prices, counts, 1, &watch, 1, &look);
	assert_true(look.total == 0);
	/*
	 * In two seconds: 20,000 switches of 500 ns and 5,000 calls of 1 us; on the other CPU 10,000 wake-ups of
	 * 2 us.
	 */
	counts[0].runs[RUN_SWITCH] = (struct run_cost){ .runs = 20000, .timed = 10, .timed_ns = 5000 };
	counts[0].calls += 5000;
	counts[1].runs[RUN_WAKE] = (struct run_cost){ .runs = 10000, .timed = 5, .timed_ns = 10000 };
	run_prices_look(prices, counts, 2, &watch, 1, &look);
	assert_float_equal(look.total, 0.01, 1e-9);
	assert_float_equal(look.now[SHED_WAKES], 0.01, 1e-9);
	assert_float_equal(look.all[SHED_WAKES], 0.01, 1e-9);
	/* Wake-ups are left out from now on: counted, at their last known price. The other CPU has the highest cost. */
	watch.level[SHED_WAKES] = 1;
	counts[1].runs[RUN_WAKE].runs += 30000;
	counts[0].calls += 4000;
	look = (struct shed_look){ 0 };
	run_prices_look(prices, counts, 1, &watch, 1, &look);
	assert_float_equal(look.total, 0.004, 1e-9);
	assert_float_equal(look.now[SHED_WAKES], 0, 1e-9);
	assert_float_equal(look.all[SHED_WAKES], 0.06, 1e-9);
	/* Of 8,000 calls on two CPUs the ends of 4,000 were seen in the expensive way: half of each CPU's calls. */
	run_prices_ends_seen(prices, 4000);
	counts[0].calls += 6000;
	counts[1].calls += 2000;
	look = (struct shed_look){ 0 };
	run_prices_look(prices, counts, 1, &watch, 1, &look);
	assert_float_equal(look.ends, 0.012, 1e-9);
	assert_float_equal(look.total, 0.015, 1e-9);
	run_prices_free(prices);
}

static void costs_of_sleeps(void **state)
{
	struct run_prices *prices = run_prices_new(1, (struct call_prices){ 0 });
	struct shed_watch watch = { 0 };
	struct run_counts counts = { 0 };
	struct shed_look look = { 0 };

	run_prices_look(prices, &counts, 1, &watch, 1, &look);
	counts.runs[RUN_SLEEP] = (struct run_cost){ .runs = 10000, .timed = 100, .timed_ns = 200000 };
	run_prices_look(prices, &counts, 1, &watch, 1, &look);
	assert_float_equal(look.now[SHED_SLEEPS], 0.02, 1e-9);
	assert_float_equal(look.total, 0.02, 1e-9);
	run_prices_free(prices);
}

/* Samples at a quarter of the rate stand for four times as many. */
static void costs_of_samples(void **state)
{
	struct run_prices *prices = run_prices_new(1, (struct call_prices){ 0 });
	struct shed_watch watch = { .level = { [SHED_SAMPLES] = 1 } };
	struct run_counts counts = { 0 };
	struct shed_look look = { 0 };

	run_prices_look(prices, &counts, 1, &watch, 0.25, &look);
	counts.runs[RUN_SAMPLE] = (struct run_cost){ .runs = 1000, .timed = 100, .timed_ns = 1000000 };
	run_prices_look(prices, &counts, 1, &watch, 0.25, &look);
	assert_float_equal(look.all[SHED_SAMPLES], 0.04, 1e-9);
	assert_float_equal(look.now[SHED_SAMPLES], 0.01, 1e-9);
	run_prices_free(prices);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_do_not_count),
		cmocka_unit_test(the_dearest_first),
		cmocka_unit_test(step_by_step),
		cmocka_unit_test(what_would_not_help_stays),
		cmocka_unit_test(what_is_not_recorded_is_not_cut),
		cmocka_unit_test(taken_back),
		cmocka_unit_test(no_room),
		cmocka_unit_test(sleeps_go_and_come),
		cmocka_unit_test(ends_of_calls),
		cmocka_unit_test(costs_of_cpus),
		cmocka_unit_test(costs_of_sleeps),
		cmocka_unit_test(costs_of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
