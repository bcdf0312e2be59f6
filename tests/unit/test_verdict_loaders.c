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

/*
 * Starts cost a part of their own job's time. Of two jobs, each with half of the judged time, one that starts workers for
 * a part of its time costs half of that; if both do, as ranks of one job, the whole.
 */
static void restarts_of_one_job(void **state)
{
	static const struct {
		double percent, other_percent;
		bool judged; /* the other job's threads are */
		bool told;
	} CASES[] = {
		{ 39, 0, true, false }, { 40, 0, true, true },	 { 20, 20, true, true },
		{ 19, 20, true, false }, { 20, 0, true, false }, { 15, 25, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct bottleneck blamed[2];
		struct pipeline_steps steps[2];
		struct pipeline_usage usage;
		struct verdict_scene f;
		struct model *model;
		uint32_t other;

		verdict_begin(&f);
		model = f.scene.model;
		other = small_thread(model, small_process(model, 300, "rank", true), 300, "rank");
		for (int k = 0; k < 2; k++) {
			small_span(model, k ? other : f.scene.main, 0, 600 * US, STATE_RUNNING);
			small_sleep(model, k ? other : f.scene.main, 600 * US, 1000 * US, FUTEX, f.scene.worker, 0);
		}
		small_sleep(model, f.scene.worker, 0, 1000 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
		verdict_judge_waits(&f);
		assert_int_equal(f.waits.thread_count, 2);
		if (!CASES[i].judged)
			f.waits.thread_count = 1;
		verdict_add_pipeline(&f);
		verdict_blame(&f, BOTTLENECK_RESTARTS, CASES[i].percent);
		usage = f.usage;
		usage.fetch.thread = other;
		steps[0] = steps[1] = f.steps;
		steps[1].usage = &usage;
		blamed[0] = blamed[1] = f.bottleneck;
		blamed[1].percent = CASES[i].other_percent;
		if (!CASES[i].other_percent)
			blamed[1] = (struct bottleneck){ .op = INDEX_NONE };
		f.all_steps = (struct step_results){ .pipelines = steps, .count = 2, .main = 0 };
		f.advice = (struct advice_results){ .bottlenecks = blamed, .count = 2 };
		verdict_judge(&f);
		assert_int_equal(f.verdict.restarts, CASES[i].told);
		if (CASES[i].told) {
			verdict_expect(&f, VERDICT_DATA, CASES[i].percent);
			verdict_says_not(&f, "Several jobs");
		}
		f.all_steps.main = INDEX_NONE;
		verdict_end(&f);
	}
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

/* A loader without workers sleeps in the trainer's thread: that is the loader's time, as far as it was in fetches. */
static void fetches_asleep(void **state)
{
	struct verdict_scene f;
	struct scene *scene = &f.scene;

	(void)state;
	verdict_begin(&f);
	verdict_add_pipeline(&f);
	((struct pipeline *)f.usage.pipeline)->threads.count = 0;
	f.usage.pipeline->operators.row[0].in_trainer = true;
	small_span(scene->model, scene->main, 0, 300 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 300 * US, 900 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(scene->model, scene->main, 900 * US, 1000 * US, STATE_RUNNING);
	f.steps.judged_slept_ns = 600 * US;
	f.steps.judged_wait_ns = 700 * US;
	f.steps.judged_to_ns = 1000 * US;
	f.all_steps.main = 0;
	verdict_blame(&f, BOTTLENECK_SLOW, 70);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_DATA, 70);
	assert_int_equal(f.verdict.idle.cause, IDLE_SLEEP);
	verdict_says(&f, "The trainer's own thread makes the batches");
	f.steps.judged_slept_ns = 0;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 60);
	verdict_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restarts),
		cmocka_unit_test(restarts_of_one_job),
		cmocka_unit_test(fetches_asleep),
		cmocka_unit_test(evaluation_in_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
