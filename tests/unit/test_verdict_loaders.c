/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on loaders whose cost lies between fetches: their workers' starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/verdict_scene.h"

/* Workers that are started anew for each epoch cost at least half of what the heaviest state costs, or are not told. */
static void restarts(void **state)
{
	struct verdict_scene f;

	(void)state;
	verdict_begin(&f);
	small_span(f.scene.model, f.scene.main, 0, 600 * US, STATE_RUNNING);
	small_sleep(f.scene.model, f.scene.main, 600 * US, 1000 * US, FUTEX, f.scene.worker, 0);
	small_sleep(f.scene.model, f.scene.worker, 0, 1000 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	verdict_judge_waits(&f);
	verdict_add_pipeline(&f);
	verdict_blame(&f, BOTTLENECK_RESTARTS, 20);
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DATA, 20);
	assert_int_equal(f.verdict.of, VERDICT_OF_WALL_TIME);
	verdict_says(&f, "Starved for data: 20.0 % of the time goes into ending and starting the worker processes of "
			 "MindData's Map(ID:2) between epochs.");
	verdict_says(&f, "root     a reason");
	verdict_says(&f, "do       Keep the worker processes from epoch to epoch");
	verdict_says(&f, "gain     at most 20.0 % of the time");
	f.bottleneck.percent = 19.9;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DATA, 40);
	verdict_says_not(&f, "between epochs");
	verdict_end(&f);
	/* A device that is idle for other reasons, and one that is not. */
	verdict_begin(&f);
	verdict_main_waits(&f);
	verdict_compute(&f);
	verdict_add_pipeline(&f);
	verdict_blame(&f, BOTTLENECK_RESTARTS, 20);
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DATA, 20);
	verdict_says(&f, "20.0 % of the time goes into ending and starting");
	f.scene.results.devices[0].window_ns = 10000 * US;
	verdict_judge(&f);
	assert_false(f.verdict.restarts);
	verdict_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
