/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/host/thread_account.h"
#include "analyzer/analyse/host/thread_walk.h"
#include "tests/unit/small_model.h"

static void expect(struct walk *walk, uint64_t start_ns, uint64_t end_ns, uint32_t span,
		   uint32_t call, uint32_t ioctl)
{
	struct walk_step step;

	assert_true(walk_next(walk, &step));
	assert_int_equal(step.start_ns, start_ns);
	assert_int_equal(step.end_ns, end_ns);
	assert_int_equal(step.span, span);
	assert_int_equal(step.call, call);
	assert_int_equal(step.ioctl, ioctl);
}

static void add_ioctl(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	struct ioctl_call ioctl = { .start_ns = start_ns, .end_ns = end_ns, .thread = thread };

	assert_true(MODEL_PUSH(&model->ioctls, ioctl));
}

static void test_steps(void **state)
{
	struct model *model = small_model(0, 10000);
	uint32_t process = small_process(model, 1, "job", true);
	uint32_t thread = small_thread(model, process, 1, "job");
	uint32_t launch = small_function(model, "cuda", "launch", PROFBPF__FUNCTION__KIND__LAUNCH);
	uint32_t stage = small_function(model, "torch", "s", PROFBPF__FUNCTION__KIND__STAGE);
	struct walker *walker;
	struct walk walk;
	struct walk_step step;

	small_span(model, thread, 1000, 2000, STATE_RUNNING);
	small_span(model, thread, 2000, 3000, STATE_SLEEP);
	small_span(model, thread, 3000, 6000, STATE_RUNNING);
	small_call(model, thread, stage, 900, 5000); /* only encloses the others */
	small_call(model, thread, launch, 1200, 1800);
	small_call(model, thread, launch, 1300, 1700); /* inner */
	small_call(model, thread, launch, 2500, 3500);
	add_ioctl(model, thread, 3100, 3200);
	small_index(model);
	walker = walker_new(model);
	assert_non_null(walker);
	walk_start(&walk, walker, thread, 500, 8000);
	expect(&walk, 500, 1000, INDEX_NONE, INDEX_NONE, INDEX_NONE);
	expect(&walk, 1000, 1200, 0, INDEX_NONE, INDEX_NONE);
	expect(&walk, 1200, 1800, 0, 1, INDEX_NONE);
	expect(&walk, 1800, 2000, 0, INDEX_NONE, INDEX_NONE);
	expect(&walk, 2000, 2500, 1, INDEX_NONE, INDEX_NONE);
	expect(&walk, 2500, 3000, 1, 3, INDEX_NONE);
	expect(&walk, 3000, 3100, 2, 3, INDEX_NONE);
	expect(&walk, 3100, 3200, 2, 3, 0);
	expect(&walk, 3200, 3500, 2, 3, INDEX_NONE);
	expect(&walk, 3500, 6000, 2, INDEX_NONE, INDEX_NONE);
	expect(&walk, 6000, 8000, INDEX_NONE, INDEX_NONE, INDEX_NONE);
	assert_false(walk_next(&walk, &step));
	walk_start(&walk, walker, thread, 1400, 1500);
	expect(&walk, 1400, 1500, 0, 1, INDEX_NONE);
	assert_false(walk_next(&walk, &step));
	walk_start(&walk, walker, INDEX_NONE, 1400, 1500);
	expect(&walk, 1400, 1500, INDEX_NONE, INDEX_NONE, INDEX_NONE);
	walk_start(&walk, walker, thread, 1500, 1500);
	assert_false(walk_next(&walk, &step));
	assert_int_equal(walker_call_at(walker, thread, 1200), 1);
	assert_int_equal(walker_call_at(walker, thread, 1350), 1);
	assert_int_equal(walker_call_at(walker, thread, 1750), 1);
	assert_int_equal(walker_call_at(walker, thread, 1800), INDEX_NONE);
	assert_int_equal(walker_call_at(walker, 99, 1800), INDEX_NONE);
	walker_free(walker);
	model_free(model);
}

/* Before a thread existed its creator is analysed, also over two generations. */
/* For an open call it is unknown whether the thread is still in it, for the others how long they were. */
static void test_calls_without_returns(void **state)
{
	static const uint8_t flags[] = { MODEL_CALL_OPEN, MODEL_CALL_LEFT, MODEL_CALL_ENTRY };

	for (size_t i = 0; i < sizeof(flags); i++) {
		struct model *model = small_model(0, 10000);
		uint32_t process = small_process(model, 1, "job", true);
		uint32_t thread = small_thread(model, process, 1, "job");
		uint32_t sync =
			small_function(model, "cuda", "sync", PROFBPF__FUNCTION__KIND__SYNC);
		struct walker *walker;

		small_call(model, thread, sync, 1000, 9000);
		model->calls.row[0].flags = flags[i];
		small_call(model, thread, sync, 2000, 3000);
		small_index(model);
		walker = walker_new(model);
		assert_non_null(walker);
		assert_int_equal(walker_call_at(walker, thread, 1500), INDEX_NONE);
		assert_int_equal(walker_call_at(walker, thread, 2500), 1);
		assert_int_equal(walker_call_at(walker, thread, 8000), INDEX_NONE);
		walker_free(walker);
		model_free(model);
	}
}

static void test_parents(void **state)
{
	struct model *model = small_model(0, 10000);
	uint32_t process = small_process(model, 1, "job", true);
	uint32_t old = small_thread(model, process, 1, "old");
	uint32_t middle = small_thread(model, process, 2, "middle");
	uint32_t young = small_thread(model, process, 3, "young");
	struct walker *walker;
	struct walk walk;
	struct walk_step step;

	model->threads.row[middle].start_ns = 2000;
	model->threads.row[middle].parent = old;
	model->threads.row[young].first_ns = 3000;
	model->threads.row[young].parent = middle;
	small_span(model, old, 0, 10000, STATE_RUNNING);
	small_span(model, middle, 2000, 10000, STATE_RUNNING);
	small_span(model, young, 3000, 10000, STATE_RUNNING);
	small_index(model);
	walker = walker_new(model);
	walk_start(&walk, walker, young, 1000, 4000);
	expect(&walk, 1000, 2000, 0, INDEX_NONE, INDEX_NONE);
	expect(&walk, 2000, 3000, 1, INDEX_NONE, INDEX_NONE);
	expect(&walk, 3000, 4000, 2, INDEX_NONE, INDEX_NONE);
	/* Files may claim that threads created each other. */
	model->threads.row[old].parent = young;
	model->threads.row[old].start_ns = model->threads.row[middle].start_ns = 9000;
	model->threads.row[young].first_ns = 9000;
	walk_start(&walk, walker, young, 1000, 4000);
	while (walk_next(&walk, &step))
		assert_true(step.end_ns > step.start_ns);
	walker_free(walker);
	model_free(model);
}

static void test_account(void **state)
{
	struct model *model = small_model(0, 10000);
	uint32_t process = small_process(model, 1, "job", true);
	uint32_t thread = small_thread(model, process, 1, "job");
	uint32_t launch = small_function(model, "cuda", "launch", PROFBPF__FUNCTION__KIND__LAUNCH);
	struct thread_account account;
	struct walker *walker;

	small_span(model, thread, 1000, 2000, STATE_RUNNING);
	small_span(model, thread, 2000, 2500, STATE_RUNNABLE);
	small_span(model, thread, 2500, 2600, STATE_SLEEP);
	small_span(model, thread, 2600, 3000, STATE_RUNNING);
	small_span(model, thread, 3000, 6000, STATE_DISK);
	small_call(model, thread, launch, 1200, 1500);
	add_ioctl(model, thread, 2700, 2800);
	small_index(model);
	walker = walker_new(model);
	/* Of two sleeps of 100 ns the first is told. */
	account = thread_account(model, walker, thread, 2500, 3100);
	assert_int_equal(account.ns[ACTIVITY_ASLEEP], 200);
	assert_int_equal(account.span, 2);
	account = thread_account(model, walker, thread, 500, 3050);
	assert_int_equal(account.total_ns, 2550);
	assert_int_equal(account.ns[ACTIVITY_UNKNOWN], 500);
	assert_int_equal(account.ns[ACTIVITY_RUNTIME], 300);
	assert_int_equal(account.ns[ACTIVITY_OWN_CODE], 700 + 300);
	assert_int_equal(account.ns[ACTIVITY_DRIVER], 100);
	assert_int_equal(account.ns[ACTIVITY_RUNNABLE], 500);
	assert_int_equal(account.ns[ACTIVITY_ASLEEP], 150);
	assert_int_equal(account.top, ACTIVITY_OWN_CODE);
	assert_int_equal(account.call, 0);
	assert_int_equal(account.span, 2);
	walker_free(walker);
	model_free(model);
}

/* For any rows, steps are not empty, follow each other and cover the whole. */
static void test_random(void **state)
{
	srand(4711);
	for (int round = 0; round < 300; round++) {
		struct model *model = small_model(0, 100000);
		uint32_t process = small_process(model, 1, "job", true);
		uint32_t function =
			small_function(model, "cuda", "f", PROFBPF__FUNCTION__KIND__SYNC);
		struct walker *walker;

		for (uint32_t thread = 0; thread < 4; thread++) {
			uint64_t now_ns = (uint64_t)rand() % 500;

			small_thread(model, process, thread + 1, "t");
			model->threads.row[thread].first_ns = now_ns;
			model->threads.row[thread].parent = (uint32_t)rand() % 6;
			for (int i = 0; i < 30; i++) {
				uint64_t end_ns = now_ns + (uint64_t)rand() % 100;

				small_span(model, thread, now_ns, end_ns,
					   (enum thread_state)(rand() % 6));
				now_ns = end_ns + (rand() % 4 ? 0 : (uint64_t)rand() % 50);
			}
		}
		for (int i = 0; i < 80; i++) {
			uint64_t start_ns = (uint64_t)rand() % 2500;

			/* Not even properly nested. */
			small_call(model, (uint32_t)rand() % 4, function, start_ns,
				   start_ns + (uint64_t)rand() % 150);
			add_ioctl(model, (uint32_t)rand() % 4, start_ns,
				  start_ns + (uint64_t)rand() % 60);
		}
		small_index(model);
		walker = walker_new(model);
		for (int i = 0; i < 20; i++) {
			uint64_t from_ns = (uint64_t)rand() % 2500;
			uint64_t to_ns = from_ns + (uint64_t)rand() % 1000, now_ns = from_ns;
			struct walk walk;
			struct walk_step step;

			walk_start(&walk, walker, (uint32_t)rand() % 5, from_ns, to_ns);
			while (walk_next(&walk, &step)) {
				assert_int_equal(step.start_ns, now_ns);
				assert_true(step.end_ns > step.start_ns);
				if (step.span != INDEX_NONE) {
					assert_true(model->spans.row[step.span].start_ns <= now_ns);
					assert_true(model->spans.row[step.span].end_ns >=
						    step.end_ns);
				}
				if (step.call != INDEX_NONE) {
					assert_true(model->calls.row[step.call].start_ns <= now_ns);
					assert_true(model->calls.row[step.call].end_ns >=
						    step.end_ns);
				}
				now_ns = step.end_ns;
			}
			assert_int_equal(now_ns, to_ns);
		}
		walker_free(walker);
		model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),	cmocka_unit_test(test_calls_without_returns),
		cmocka_unit_test(test_parents), cmocka_unit_test(test_account),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
