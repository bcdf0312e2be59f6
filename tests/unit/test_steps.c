/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a trainer, from the fetches of a hand-made pipeline, and the operators' cost to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/steps.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull

struct fixture {
	struct model *model;
	struct pipelines pipelines;
	struct pipeline *pipeline;
	struct step_results results;
	uint32_t trainer, worker;
};

/* One Python operator, with a thread that does not belong to the trainer. */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint32_t process;

	assert_non_null(f);
	f->model = small_model(0, 1000 * MS);
	process = small_process(f->model, 77, "python", true);
	f->trainer = small_thread(f->model, process, 77, "python");
	f->worker = small_thread(f->model, process, 78, "worker");
	f->pipeline = pipeline_add(&f->pipelines, "MindData", process);
	assert_int_equal(pipeline_operator_add(f->model, f->pipeline, 1, "Map(ID:1)", "Map"), 0);
	f->pipeline->operators.row[0].python = true;
	assert_true(MODEL_PUSH(&f->pipeline->threads,
			       ((struct pipeline_thread){ .thread = f->worker,
							  .op = 0,
							  .role = PIPELINE_WORKER })));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	steps_free(&f->results);
	pipelines_free(&f->pipelines);
	model_free(f->model);
	free(f);
	return 0;
}

static void fetch(struct fixture *f, uint64_t start_ns, uint64_t end_ns, bool end_of_data)
{
	assert_true(MODEL_PUSH(&f->pipeline->fetches,
			       ((struct pipeline_fetch){ .start_ns = start_ns,
							 .end_ns = end_ns,
							 .thread = f->trainer,
							 .end_of_data = end_of_data })));
}

static const struct pipeline_steps *analyse_part(struct fixture *f, uint64_t from_ns, uint64_t to_ns)
{
	const struct analysis_options options = { .from_ns = from_ns, .to_ns = to_ns };
	struct pipeline_usage usage = { .pipeline = f->pipeline };
	const struct pipeline_results pipelines = { .rows = &usage, .count = 1 };

	small_index(f->model);
	assert_int_equal(steps_analyse(f->model, &options, &pipelines, &f->results), 0);
	assert_int_equal(f->results.count, 1);
	return &f->results.pipelines[0];
}

static const struct pipeline_steps *analyse(struct fixture *f)
{
	return analyse_part(f, 0, 0);
}

/* Adds a fetch by another thread of the trainer. */
static void fetch_beside(struct fixture *f, uint64_t start_ns)
{
	fetch(f, start_ns, start_ns + 1, false);
	f->pipeline->fetches.row[f->pipeline->fetches.count - 1].thread = f->worker;
}

/* The end of an epoch ends its last step, and begins none. */
static void epochs(void **state)
{
	struct fixture *f = *state;
	const struct pipeline_steps *steps;

	fetch(f, 100 * MS, 101 * MS, false);
	fetch(f, 110 * MS, 112 * MS, false);
	fetch(f, 130 * MS, 131 * MS, true);
	fetch(f, 200 * MS, 203 * MS, false);
	fetch(f, 260 * MS, 261 * MS, true);
	small_sleep(f->model, f->trainer, 111 * MS, 113 * MS, 202, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_sleep(f->model, f->trainer, 201 * MS, 205 * MS, 202, INDEX_NONE, SPAN_WOKEN_TIMER);
	steps = analyse(f);
	assert_int_equal(steps->count, 3);
	assert_int_equal(steps->rows[0].duration_ns, 10 * MS);
	assert_int_equal(steps->rows[0].data_wait_ns, 1 * MS);
	assert_int_equal(steps->rows[1].duration_ns, 20 * MS);
	assert_int_equal(steps->rows[2].index, 2);
	assert_int_equal(steps->rows[2].start_ns, 200 * MS);
	assert_int_equal(steps->rows[2].duration_ns, 60 * MS);
	assert_int_equal(f->results.main, 0);
	/* The first two steps are warm-up. */
	assert_int_equal(steps->judged, 1);
	assert_int_equal(steps->judged_ns, 60 * MS);
	assert_int_equal(steps->judged_wait_ns, 3 * MS);
	assert_int_equal(steps->judged_slept_ns, 2 * MS);
}

/* The third step: a sleep that a timer ends, a run of @run_ns, a sleep that the operator's thread ends. */
static uint64_t lock_ns(struct fixture *f, uint64_t run_ns)
{
	const uint64_t ran_ns = 150 * MS + run_ns;

	for (uint64_t i = 0; i < 4; i++)
		fetch(f, (i ? 80 + 20 * i : 90) * MS, (i ? 81 + 20 * i : 91) * MS, false);
	small_span(f->model, f->trainer, 0, 130 * MS, STATE_RUNNING);
	small_sleep(f->model, f->trainer, 130 * MS, 135 * MS, 202, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(f->model, f->trainer, 135 * MS, 135 * MS + run_ns, STATE_RUNNING);
	small_sleep(f->model, f->trainer, 135 * MS + run_ns, 137 * MS + run_ns, 202, f->worker, 0);
	small_span(f->model, f->trainer, 137 * MS + run_ns, ran_ns, STATE_RUNNING);
	return analyse(f)->costs[0].lock_ns;
}

/* Restarts of workers count from the first judged step, included, to the end of the last one, excluded. */
static void restarts(void **state)
{
	static const uint64_t AT_MS[] = { 119, 120, 129, 130 };
	struct fixture *f = *state;
	const struct pipeline_steps *steps;

	for (uint64_t ms = 100; ms <= 130; ms += 10)
		fetch(f, ms * MS, (ms + 1) * MS, false);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(MODEL_PUSH(&f->pipeline->restarts,
				       ((struct pipeline_restart){ .start_ns = AT_MS[i] * MS,
								   .make_ns = (1 + i) * MS,
								   .wait_ns = 10 * MS,
								   .fetch_ns = 100 * MS })));
	steps = analyse(f);
	assert_int_equal(steps->judged, 1);
	assert_int_equal(steps->restarts, 2);
	assert_int_equal(steps->restart_ns, (2 + 3 + 20) * MS);
	assert_int_equal(steps->restart_fetch_ns, 200 * MS);
}

/* A thread that waits for the interpreter's lock wakes up from time to time to request it. */
static void asked_for_lock(void **state)
{
	assert_int_equal(lock_ns(*state, MS / 10), 7 * MS);
}

/* A thread that computed in between had the lock. */
static void had_lock(void **state)
{
	assert_int_equal(lock_ns(*state, MS + 1), 2 * MS);
}

/* Steps that begin in the wanted part: at its first instant, but not at its end; step numbers count all. */
static void part_of_steps(void **state)
{
	struct fixture *f = *state;
	const struct pipeline_steps *steps;

	for (uint64_t i = 0; i < 6; i++)
		fetch(f, (100 + 10 * i) * MS, (101 + 10 * i) * MS, false);
	steps = analyse_part(f, 110 * MS, 140 * MS);
	assert_int_equal(steps->count, 3);
	assert_int_equal(steps->rows[0].start_ns, 110 * MS);
	assert_int_equal(steps->rows[0].index, 1);
	assert_int_equal(steps->rows[2].start_ns, 130 * MS);
	/* The first two steps of the job are warm-up. */
	assert_int_equal(steps->judged, 2);
	assert_int_equal(steps->judged_from_ns, 120 * MS);
	assert_int_equal(steps->judged_to_ns, 140 * MS);
}

/* A fetch that begins when the previous one ends; one that begins before that, one that never ended, and the last. */
static void overlapping(void **state)
{
	struct fixture *f = *state;
	const struct pipeline_steps *steps;

	fetch(f, 100 * MS, 110 * MS, false);
	fetch(f, 110 * MS, 121 * MS, false);
	fetch(f, 120 * MS, 125 * MS, false);
	f->pipeline->fetches.row[2].open = true;
	fetch(f, 130 * MS, 140 * MS, false);
	fetch(f, 150 * MS, 160 * MS, false); /* outside of the array's count */
	f->pipeline->fetches.count--;
	steps = analyse(f);
	assert_int_equal(steps->count, 1);
	assert_int_equal(steps->rows[0].duration_ns, 10 * MS);
	assert_int_equal(steps->rows[0].data_wait_ns, 10 * MS);
	assert_int_equal(steps->judged, 0);
	assert_int_equal(steps->bottleneck, INDEX_NONE);
	assert_int_equal(f->results.main, 0);
	steps_free(&f->results);
	f->pipeline->by_wakes = true;
	assert_int_equal(analyse(f)->count, 0);
	assert_int_equal(f->results.main, INDEX_NONE);
}

/* Threads that fetch in turn: a step ends when the same thread fetches again, if not too many others fetch between. */
static void in_turn(void **state)
{
	for (uint32_t others = 254; others <= 255; others++) {
		struct fixture *f = *state;
		const struct pipeline_steps *steps;

		f->pipeline->fetches.count = 0;
		fetch(f, 100 * MS, 101 * MS, false);
		for (uint32_t i = 0; i < others; i++)
			fetch_beside(f, 102 * MS + 10 * i);
		fetch(f, 200 * MS, 201 * MS, false);
		steps = analyse(f);
		assert_int_equal(steps->count, others == 254 ? others : others - 1);
		assert_int_equal(steps->rows[0].duration_ns, others == 254 ? 100 * MS : 10);
		steps_free(&f->results);
	}
}

/* An operator's cost is reported from a tenth of the step on. */
static void enough(void **state)
{
	struct fixture *f = *state;
	const struct pipeline_steps *steps;

	fetch(f, 100 * MS, 110 * MS, false);
	fetch(f, 200 * MS, 210 * MS - 1, false);
	fetch(f, 300 * MS, 310 * MS, false);
	fetch(f, 400 * MS, 410 * MS - 2, false);
	fetch(f, 500 * MS, 500 * MS, false);
	fetch(f, 600 * MS, 600 * MS, true);
	steps = analyse(f);
	assert_int_equal(steps->count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(steps->rows[i].op, i == 0 || i == 2 ? 0 : INDEX_NONE);
	assert_int_equal(steps->judged, 3);
	assert_int_equal(steps->costs[0].wait_ns, 20 * MS - 2);
	assert_int_equal(steps->bottleneck, INDEX_NONE); /* of 300 ms */
}

/* The trainer's main pipeline is the one with most steps, of equal ones the first. */
static void main_one(void **state)
{
	struct fixture *f = *state;
	const struct analysis_options options = { 0 };
	uint32_t process = f->pipeline->process;
	struct pipeline *pipeline[3];
	struct pipeline_usage usages[3] = { 0 };
	const struct pipeline_results results = { .rows = usages, .count = 3 };

	pipeline_add(&f->pipelines, "torch", process);
	pipeline_add(&f->pipelines, "torch", process);
	assert_int_equal(f->pipelines.list.count, 3);
	for (uint32_t i = 0; i < 3; i++)
		usages[i].pipeline = pipeline[i] = &f->pipelines.list.row[i];
	small_index(f->model);
	for (uint32_t most = 1; most < 3; most++) {
		f->pipeline = pipeline[most];
		for (uint64_t i = 0; i < 3; i++)
			fetch(f, (100 + 10 * i) * MS, (101 + 10 * i) * MS, false);
		assert_int_equal(steps_analyse(f->model, &options, &results, &f->results), 0);
		assert_int_equal(f->results.main, 1);
		steps_free(&f->results);
	}
	fetch(f, 130 * MS, 131 * MS, false);
	assert_int_equal(steps_analyse(f->model, &options, &results, &f->results), 0);
	assert_int_equal(f->results.main, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(epochs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(restarts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(asked_for_lock, set_up, tear_down),
		cmocka_unit_test_setup_teardown(had_lock, set_up, tear_down),
		cmocka_unit_test_setup_teardown(part_of_steps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(overlapping, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_turn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(enough, set_up, tear_down),
		cmocka_unit_test_setup_teardown(main_one, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
