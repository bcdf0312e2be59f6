/* SPDX-License-Identifier: Apache-2.0 */
/* selection.h: which instants belong to the analysed part of a trace, and how much of an interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/analyse/selection.h"

static const struct analysis_window window = { .from_ns = 100, .to_ns = 200 };

static void an_instant_belongs_to_one_of_two_windows_side_by_side(void **state)
{
	const struct analysis_window next = { .from_ns = 200, .to_ns = 300 };

	(void)state;
	assert_false(analysis_has(99, &window));
	assert_true(analysis_has(100, &window));
	assert_true(analysis_has(199, &window));
	assert_false(analysis_has(200, &window));
	assert_true(analysis_has(200, &next));
}

static void an_empty_window_has_no_instant(void **state)
{
	const struct analysis_window empty = { .from_ns = 100, .to_ns = 100 };

	(void)state;
	assert_false(analysis_has(100, &empty));
}

static void an_instant_outside_is_moved_to_the_nearest_bound(void **state)
{
	(void)state;
	assert_int_equal(analysis_nearest(99, &window), 100);
	assert_int_equal(analysis_nearest(101, &window), 101);
	assert_int_equal(analysis_nearest(199, &window), 199);
	assert_int_equal(analysis_nearest(201, &window), 200);
}

/* The options may ask for a part behind the trace's end. */
static void of_a_window_that_ends_before_it_begins_nothing_is_left(void **state)
{
	const struct analysis_window none = { .from_ns = 200, .to_ns = 100 };

	(void)state;
	assert_int_equal(analysis_nearest(300, &none) - analysis_nearest(50, &none), 0);
	assert_int_equal(analysis_clipped(50, 300, &none), 0);
	assert_false(analysis_has(150, &none));
}

static void an_interval_is_clipped_at_both_bounds(void **state)
{
	(void)state;
	assert_int_equal(analysis_clipped(50, 300, &window), 100);
	assert_int_equal(analysis_clipped(50, 101, &window), 1);
	assert_int_equal(analysis_clipped(199, 300, &window), 1);
	assert_int_equal(analysis_clipped(50, 99, &window), 0);
	assert_int_equal(analysis_clipped(201, 300, &window), 0);
	assert_int_equal(analysis_clipped(150, 140, &window), 0);
}

static struct analysis_window of_model(uint64_t start_ns, uint64_t end_ns, uint64_t from_ns, uint64_t to_ns)
{
	const struct model model = { .info = { .start_ns = start_ns, .end_ns = end_ns } };
	const struct analysis_options options = { .from_ns = from_ns, .to_ns = to_ns };

	return analysis_window(&model, &options);
}

static void the_window_is_what_trace_and_options_share(void **state)
{
	struct analysis_window both = of_model(100, 200, 150, 180);

	(void)state;
	assert_int_equal(both.from_ns, 150);
	assert_int_equal(both.to_ns, 180);
	both = of_model(100, 200, 50, 250);
	assert_int_equal(both.from_ns, 100);
	assert_int_equal(both.to_ns, 200);
	both = of_model(100, 200, 0, 0);
	assert_int_equal(both.from_ns, 100);
	assert_int_equal(both.to_ns, 200);
}

static void without_a_trace_only_the_options_limit(void **state)
{
	struct analysis_window all = of_model(0, 0, 0, 0), part = of_model(0, 0, 10, 20);

	(void)state;
	assert_int_equal(all.from_ns, 0);
	assert_int_equal(all.to_ns, UINT64_MAX);
	assert_int_equal(part.from_ns, 10);
	assert_int_equal(part.to_ns, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instant_belongs_to_one_of_two_windows_side_by_side),
		cmocka_unit_test(an_empty_window_has_no_instant),
		cmocka_unit_test(an_instant_outside_is_moved_to_the_nearest_bound),
		cmocka_unit_test(of_a_window_that_ends_before_it_begins_nothing_is_left),
		cmocka_unit_test(an_interval_is_clipped_at_both_bounds),
		cmocka_unit_test(the_window_is_what_trace_and_options_share),
		cmocka_unit_test(without_a_trace_only_the_options_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
