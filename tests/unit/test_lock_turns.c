/* SPDX-License-Identifier: Apache-2.0 */
/* lock_turns.h: which threads take turns under a lock, on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/lock_turns.h"
#include "proto/trace.pb-c.h"
#include "tests/unit/small_model.h"

enum { FUTEX, ANOTHER_FUTEX, PIPE };

/*
 * Two threads, in a number of periods. The first one runs for @runs and sleeps until the period ends; the second one
 * sleeps for @sleeps and runs until it ends. Each is woken by the other, at its object.
 */
struct turns {
	uint64_t periods, period_ns, runs, sleeps;
	const char *first, *second; /* their names */
	uint32_t first_object, second_object;
	uint8_t state, flags; /* of the first one's sleeps */
	bool last_by_main; /* the second one's last sleep is ended by the main thread */
	bool of_main; /* the first one is the main thread itself */
	bool apart; /* the second one is in another process */
};

static const struct turns USUAL = { .periods = 3, .period_ns = 1000, .runs = 500, .sleeps = 500, .first = "worker-1",
				    .second = "worker-2", .state = STATE_SLEEP };

static uint32_t add_object(struct model *model, uint8_t kind)
{
	const struct sleep_object object = { .kind = kind };

	assert_true(MODEL_PUSH(&model->sleep_objects, object));
	return model->sleep_objects.count - 1;
}

static void add_sleep(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint32_t waker,
		      uint32_t object)
{
	small_sleep(model, thread, start_ns, end_ns, 202 /* futex */, waker, 0);
	model->spans.row[model->spans.count - 1].object = object;
}

/* Do they take turns? Each may be asked for as the holder. */
static bool takes_turns(struct turns is)
{
	struct model *model = small_model(0, 100000);
	uint32_t process = small_process(model, 7, "python", true), main, first, second, next;
	bool found;

	main = small_thread(model, process, 7, "python");
	first = is.of_main ? main : small_thread(model, process, 8, is.first);
	if (is.apart)
		process = small_process(model, 20, "python", true);
	second = small_thread(model, process, 9, is.second);
	next = small_thread(model, process, 10, "next");
	assert_int_equal(add_object(model, PROFBPF__SLEEP_OBJECTS__KIND__FUTEX), FUTEX);
	assert_int_equal(add_object(model, PROFBPF__SLEEP_OBJECTS__KIND__FUTEX), ANOTHER_FUTEX);
	assert_int_equal(add_object(model, PROFBPF__SLEEP_OBJECTS__KIND__PIPE), PIPE);
	for (uint64_t i = 0; i < is.periods; i++) {
		uint64_t begin_ns = i * is.period_ns, end_ns = begin_ns + is.period_ns;

		small_span(model, first, begin_ns, begin_ns + is.runs, STATE_RUNNING);
		add_sleep(model, first, begin_ns + is.runs, end_ns, second, is.first_object);
		model->spans.row[model->spans.count - 1].state = is.state;
		model->spans.row[model->spans.count - 1].flags = is.flags;
	}
	for (uint64_t i = 0; i < is.periods; i++) {
		uint64_t begin_ns = i * is.period_ns, end_ns = begin_ns + is.period_ns;

		add_sleep(model, second, begin_ns, begin_ns + is.sleeps,
			  is.last_by_main && i + 1 == is.periods ? main : first, is.second_object);
		small_span(model, second, begin_ns + is.sleeps, end_ns, STATE_RUNNING);
	}
	/* What the next thread does is no sleep of theirs. */
	add_sleep(model, next, 0, 1000, first, FUTEX);
	small_index(model);
	found = lock_turns_between(model, first, second);
	assert_int_equal(lock_turns_between(model, second, first), found);
	assert_false(lock_turns_between(model, first, INDEX_NONE));
	assert_false(lock_turns_between(model, INDEX_NONE, second));
	model_free(model);
	return found;
}

static void three_sleeps_of_each(void **state)
{
	struct turns is = USUAL;

	(void)state;
	assert_true(takes_turns(is));
	is.last_by_main = true;
	assert_false(takes_turns(is));
	is.last_by_main = false;
	is.periods = 2;
	assert_false(takes_turns(is));
}

/* Sleeps for a hundredth of the time of each are the least. */
static void sleeps_that_matter(void **state)
{
	static const struct {
		uint64_t runs;
		bool turns;
	} CASES[] = { { 990, true }, { 991, false }, { 10, true }, { 9, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		struct turns is = USUAL;

		is.runs = is.sleeps = CASES[i].runs;
		assert_int_equal(takes_turns(is), CASES[i].turns);
	}
}

/* They run at once for less than half of their time. */
static void run_apart(void **state)
{
	struct turns is = USUAL;

	(void)state;
	is.period_ns = 900;
	is.runs = 600;
	is.sleeps = 300;
	assert_false(takes_turns(is));
	is.runs = 599;
	assert_true(takes_turns(is));
}

/* Sleeps in calls for locks, which the other one ended. */
static void sleeps_for_locks(void **state)
{
	struct turns is = USUAL;

	(void)state;
	is.first_object = PIPE;
	assert_false(takes_turns(is));
	is.first_object = INDEX_NONE;
	assert_false(takes_turns(is));
	is = USUAL;
	is.second_object = PIPE;
	assert_false(takes_turns(is));
	is = USUAL;
	is.state = STATE_DISK;
	assert_false(takes_turns(is));
	is = USUAL;
	is.flags = SPAN_WOKEN_TIMER;
	assert_false(takes_turns(is));
}

/* Threads of one pool may have a futex each; others of one name are two stages of a pipeline then. */
static void futexes_of_their_own(void **state)
{
	struct turns is = USUAL;

	(void)state;
	is.second_object = ANOTHER_FUTEX;
	assert_true(takes_turns(is));
	is.first = is.second = "worker";
	assert_false(takes_turns(is));
	is.second_object = FUTEX;
	assert_true(takes_turns(is));
}

static void threads_of_a_pool(void **state)
{
	struct turns is = USUAL;

	(void)state;
	is.second = "reader-2";
	assert_false(takes_turns(is));
	is.second = "worker-12";
	assert_true(takes_turns(is));
	is.second = "worker-";
	assert_true(takes_turns(is));
	is.second = "worker-1-";
	assert_false(takes_turns(is));
	is = USUAL;
	is.apart = true;
	assert_false(takes_turns(is));
	is = USUAL;
	is.of_main = true;
	is.second = "python";
	assert_false(takes_turns(is));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_sleeps_of_each), cmocka_unit_test(sleeps_that_matter),
		cmocka_unit_test(run_apart),		cmocka_unit_test(sleeps_for_locks),
		cmocka_unit_test(futexes_of_their_own), cmocka_unit_test(threads_of_a_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
