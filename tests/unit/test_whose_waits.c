/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that are analysed in place of a device, and which of their waits get roots: on both sides of each
 * limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/host_waits.h"
#include "tests/unit/idle_scene.h"

struct fixture {
	struct model *model;
	uint32_t process, main, worker, third;
	uint32_t launch;
	struct pipeline_usage usage;
	struct pipeline_steps steps;
	struct step_results results;
	struct analysis_options options;
	struct host_waits waits;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .model = small_model(0, 1000 * US), .results.main = INDEX_NONE };
	f->process = small_process(f->model, 100, "job", true);
	f->main = small_thread(f->model, f->process, 100, "main");
	f->worker = small_thread(f->model, f->process, 101, "worker");
	f->third = small_thread(f->model, f->process, 102, "third");
	f->launch = small_function(f->model, "cuda", "cuLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
}

static void compute(struct fixture *f)
{
	small_index(f->model);
	host_waits_free(&f->waits);
	f->steps.usage = &f->usage;
	f->results.pipelines = &f->steps;
	assert_int_equal(host_waits_analyse(f->model, &f->options, &f->results, &f->waits), 0);
	assert_int_equal(f->waits.waits.total_ns + f->waits.own.total_ns, f->waits.window_ns);
}

static void end(struct fixture *f)
{
	host_waits_free(&f->waits);
	model_free(f->model);
}

static void expect(struct fixture *f, uint8_t why, uint32_t count, uint32_t first)
{
	compute(f);
	assert_string_equal(waits_why_name(f->waits.why), waits_why_name(why));
	assert_int_equal(f->waits.thread_count, count);
	if (count)
		assert_int_equal(f->waits.threads[0], first);
}

/* All threads compute: without spans a thread has no result. */
static void all_run(struct fixture *f)
{
	for (uint32_t t = 0; t < f->model->threads.count; t++)
		small_span(f->model, t, 0, 1000 * US, STATE_RUNNING);
}

/* A thread that is named several times is analysed once; rows outside of the count do not exist. */
static void asked(void **state)
{
	const uint32_t tids[] = { 101, 101, 77, 101, 101, 101, 101, 100 };
	struct fixture f;

	(void)state;
	begin(&f);
	all_run(&f);
	for (int i = 0; i < 5; i++)
		small_call(f.model, f.main, f.launch, (uint64_t)i * US, (uint64_t)(i + 1) * US);
	f.options.tids = tids;
	f.options.tid_count = 7;
	expect(&f, WAITS_OF_ASKED, 1, f.worker);
	assert_int_equal(f.waits.window_ns, 1000 * US);
	assert_true(f.waits.bounds.known);
	f.options.tid_count = 8;
	expect(&f, WAITS_OF_ASKED, 2, f.main);
	f.options.tids = tids + 2;
	f.options.tid_count = 1;
	expect(&f, WAITS_OF_ASKED, 0, 0);
	/* Without threads there is no result. */
	assert_false(f.waits.bounds.known);
	/* The id of a thread outside of the count. */
	small_thread(f.model, f.process, 77, "behind");
	f.model->threads.count--;
	expect(&f, WAITS_OF_ASKED, 0, 0);
	end(&f);
}

/* Submitting threads take precedence over fetching ones, these over main threads. */
static void first_known(void **state)
{
	enum { MAIN, FETCHES, UNJUDGED, NOBODY_FETCHES, LAUNCHES };

	(void)state;
	for (int what = MAIN; what <= LAUNCHES; what++) {
		struct fixture f;

		begin(&f);
		all_run(&f);
		f.usage.fetch.thread = what == NOBODY_FETCHES ? INDEX_NONE : f.worker;
		f.steps.judged = what != UNJUDGED;
		f.steps.judged_from_ns = 100 * US;
		f.steps.judged_to_ns = 300 * US;
		f.results.main = what == MAIN ? INDEX_NONE : 0;
		for (int i = 0; i < 10 && what == LAUNCHES; i++)
			small_call(f.model, f.third, f.launch, (uint64_t)i * US, (uint64_t)(i + 1) * US);
		if (what == LAUNCHES)
			expect(&f, WAITS_OF_LAUNCHES, 1, f.third);
		else if (what == FETCHES)
			expect(&f, WAITS_OF_FETCHES, 1, f.worker);
		else
			expect(&f, WAITS_OF_MAIN, 1, f.main);
		assert_int_equal(f.waits.of_steps, what == FETCHES);
		assert_int_equal(f.waits.window_ns, (what == FETCHES ? 200 : 1000) * US);
		end(&f);
	}
}

/* Main threads: of traced, selected processes, not of the kernel, and not started by another one of these. */
static void main_threads(void **state)
{
	const uint32_t pids[] = { 100, 300 };
	struct fixture f;
	uint32_t child, thread, row;

	(void)state;
	begin(&f);
	child = small_process(f.model, 300, "child", true);
	thread = small_thread(f.model, child, 300, "child");
	f.model->processes.row[child].parent_pid = 100;
	all_run(&f);
	expect(&f, WAITS_OF_MAIN, 1, f.main);
	/* Its parent is not traced, not selected, or the process itself. */
	f.model->processes.row[f.process].target = false;
	f.model->threads.row[f.main].target = false;
	expect(&f, WAITS_OF_MAIN, 1, thread);
	f.model->processes.row[f.process].target = true;
	f.model->threads.row[f.main].target = true;
	f.options.pids = pids + 1;
	f.options.pid_count = 1;
	expect(&f, WAITS_OF_MAIN, 1, thread);
	f.options.pids = pids;
	expect(&f, WAITS_OF_MAIN, 1, f.main);
	f.options.pid_count = 0;
	f.model->processes.row[child].parent_pid = 300;
	expect(&f, WAITS_OF_MAIN, 2, f.main);
	f.model->threads.row[f.main].kernel = true;
	expect(&f, WAITS_OF_MAIN, 1, thread);
	/* A parent, and a main thread, outside of the count. */
	f.model->processes.row[child].parent_pid = 400;
	row = small_process(f.model, 400, "behind", true);
	small_thread(f.model, row, 400, "behind");
	f.model->threads.count--;
	f.model->timelines.count--;
	f.model->processes.count--;
	expect(&f, WAITS_OF_MAIN, 1, thread);
	small_thread(f.model, f.process, 100, "behind");
	f.model->threads.count--;
	expect(&f, WAITS_OF_MAIN, 1, thread);
	end(&f);
}

/* Main sleeps voluntarily, for 95 % or less; another thread is on a CPU for 1 %, or more. */
static void only_there(void **state)
{
	enum { ASLEEP, WAITS_FOR_SLEEPER, AT_DISK, NOBODY_KNOWS, BEHIND };
	static const struct {
		int what;
		uint64_t slept_ns, ran_ns;
		bool busiest;
	} CASES[] = {
		{ ASLEEP, 950 * US, 11 * US, true },		{ ASLEEP, 950 * US - 1, 11 * US, false },
		{ ASLEEP, 950 * US, 10 * US + 1, true },	{ ASLEEP, 950 * US, 10 * US, false },
		{ WAITS_FOR_SLEEPER, 990 * US, 11 * US, false }, { AT_DISK, 990 * US, 11 * US, false },
		{ NOBODY_KNOWS, 990 * US, 11 * US, true },	{ BEHIND, 990 * US, 11 * US, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		uint64_t slept_ns = CASES[i].slept_ns;
		int what = CASES[i].what;
		struct fixture f;
		uint32_t behind;

		begin(&f);
		behind = small_thread(f.model, f.process, 103, "behind");
		if (what == WAITS_FOR_SLEEPER)
			small_sleep(f.model, f.main, 0, slept_ns, FUTEX, f.third, 0);
		else if (what == AT_DISK)
			small_span(f.model, f.main, 0, slept_ns, STATE_DISK)->flags = SPAN_IOWAIT;
		else if (what == NOBODY_KNOWS)
			small_sleep(f.model, f.main, 0, slept_ns, POLL, INDEX_NONE, SPAN_NO_WAKE);
		else
			small_sleep(f.model, f.main, 0, slept_ns, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
		small_span(f.model, f.main, slept_ns, 995 * US, STATE_DISK)->flags = SPAN_IOWAIT;
		small_span(f.model, f.main, 995 * US, 1000 * US, STATE_RUNNING);
		small_span(f.model, f.worker, 0, CASES[i].ran_ns, STATE_RUNNING);
		small_sleep(f.model, f.worker, CASES[i].ran_ns, 1000 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
		small_sleep(f.model, f.third, 0, slept_ns - US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
		small_span(f.model, f.third, slept_ns - US, slept_ns, STATE_RUNNING);
		small_span(f.model, behind, 0, 500 * US, STATE_RUNNING);
		f.model->threads.count--;
		f.model->timelines.count--;
		compute(&f);
		if (f.waits.why != (CASES[i].busiest ? WAITS_OF_BUSIEST : WAITS_OF_MAIN))
			fail_msg("case %zu: %s", i, waits_why_name(f.waits.why));
		assert_int_equal(f.waits.threads[0], CASES[i].busiest ? f.worker : f.main);
		end(&f);
	}
}

/* The analysed time is the thread's lifetime; stretches without a CPU belong to the wait before. */
static void stretches(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	small_span(f.model, f.main, 0, 200 * US, STATE_RUNNING);
	small_sleep(f.model, f.main, 200 * US, 700 * US, READ, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	small_span(f.model, f.main, 700 * US, 800 * US, STATE_RUNNABLE);
	small_span(f.model, f.main, 800 * US, 850 * US, STATE_RUNNING);
	small_sleep(f.model, f.main, 850 * US, 1000 * US, READ, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	/* The next thread's first span begins in that sleep. */
	small_span(f.model, f.worker, 900 * US, 1000 * US, STATE_RUNNING);
	compute(&f);
	assert_int_equal(f.waits.window_ns, 1000 * US);
	assert_int_equal(f.waits.waits.gaps, 2);
	assert_int_equal(f.waits.waits.total_ns, 750 * US);
	assert_int_equal(f.waits.own.gaps, 2);
	assert_int_equal(f.waits.own.total_ns, 250 * US);
	/* From 100 to 900 us; it began at 300 us and ended at 820 us. */
	f.options.from_ns = 100 * US;
	f.options.to_ns = 900 * US;
	f.model->threads.row[f.main].start_ns = 300 * US;
	f.model->threads.row[f.main].exit_ns = 820 * US;
	compute(&f);
	assert_int_equal(f.waits.window_ns, 520 * US);
	assert_int_equal(f.waits.waits.gaps, 1);
	assert_int_equal(f.waits.waits.total_ns, 500 * US);
	assert_int_equal(f.waits.own.total_ns, 20 * US);
	/* The thread ended before that. */
	f.model->threads.row[f.main].start_ns = 10 * US;
	f.model->threads.row[f.main].exit_ns = 90 * US;
	compute(&f);
	assert_int_equal(f.waits.thread_count, 1);
	assert_int_equal(f.waits.window_ns, 0);
	assert_int_equal(f.waits.waits.count, 0);
	end(&f);
}

/* Without records of switches, or without any time, no thread is analysed. */
static void nothing(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	compute(&f);
	assert_int_equal(f.waits.thread_count, 0);
	all_run(&f);
	f.options.from_ns = f.options.to_ns = 500 * US;
	compute(&f);
	assert_int_equal(f.waits.thread_count, 0);
	f.options.to_ns = 500 * US + 1;
	compute(&f);
	assert_int_equal(f.waits.thread_count, 1);
	assert_int_equal(f.waits.window_ns, 1);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asked),      cmocka_unit_test(first_known), cmocka_unit_test(main_threads),
		cmocka_unit_test(only_there), cmocka_unit_test(stretches),   cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
