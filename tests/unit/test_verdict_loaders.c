/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on loaders whose cost lies between the training's fetches: their workers' starts, an evaluation. */
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

/* An evaluation within the training's steps, by a loader without workers: its fetches are not the trainer's own work. */
static void evaluation_in_steps(void **state)
{
	static const struct {
		uint64_t in_steps_us, other_us; /* fetches of the evaluation within judged steps, and after them */
		bool in_trainer, told;
		uint64_t restart_us; /* of the training's workers */
	} CASES[] = {
		{ 500, 0, true, true, 0 },   { 0, 500, true, false, 0 },  { 500, 0, false, false, 0 },
		{ 100, 0, true, false, 0 },  { 500, 0, true, true, 499 }, { 500, 0, true, false, 500 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct step train[] = { { .index = 2, .start_ns = 0, .duration_ns = 900 * US } };
		struct step evaluate[] = { { .start_ns = 100 * US, .data_wait_ns = CASES[i].in_steps_us * US },
					   { .start_ns = 900 * US, .data_wait_ns = CASES[i].other_us * US } };
		struct bottleneck blamed[2] = { { .op = INDEX_NONE }, { .kind = BOTTLENECK_SLOW, .op = 0 } };
		struct verdict_scene f;
		struct pipeline_usage usage;
		struct pipeline_steps steps[2];
		struct pipeline evaluation;

		verdict_begin(&f);
		small_span(f.scene.model, f.scene.main, 0, 1000 * US, STATE_RUNNING);
		verdict_add_pipeline(&f);
		f.steps.judged_to_ns = 1000 * US;
		f.steps.judged_wait_ns = 200 * US;
		f.steps.rows = train;
		f.steps.count = 1;
		f.steps.restart_ns = CASES[i].restart_us * US;
		if (CASES[i].restart_us)
			blamed[0] = (struct bottleneck){ .kind = BOTTLENECK_RESTARTS, .percent = 50 };
		evaluation = f.pipelines.list.row[0];
		evaluation.operators.row[0].in_trainer = CASES[i].in_trainer;
		usage = f.usage;
		usage.pipeline = &evaluation;
		steps[0] = steps[1] = f.steps;
		steps[1].usage = &usage;
		steps[1].rows = evaluate;
		steps[1].count = 2;
		f.all_steps = (struct step_results){ .pipelines = steps, .count = 2, .main = 0 };
		f.advice = (struct advice_results){ .bottlenecks = blamed, .count = 2 };
		verdict_judge_waits(&f);
		if (CASES[i].told) {
			verdict_expect(&f, VERDICT_DATA, 70);
			assert_int_equal(f.verdict.pipeline, 1);
		} else if (CASES[i].restart_us) {
			verdict_expect(&f, VERDICT_DATA, 50);
			assert_true(f.verdict.restarts);
			assert_int_equal(f.verdict.pipeline, 0);
		} else {
			assert_int_equal(f.verdict.pipeline, INDEX_NONE);
		}
		f.all_steps.main = INDEX_NONE;
		verdict_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restarts),
		cmocka_unit_test(evaluation_in_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
