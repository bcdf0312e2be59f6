/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that sleep again and again until another thread has made something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/polls.h"
#include "analyzer/analyse/idle/host_waits.h"
#include "tests/unit/idle_scene.h"

#define SLICE_US 1000
#define SLICES 4 /* in a poll */

struct poll_scene {
	struct model *model;
	uint32_t main, maker, busy, other, stranger;
	struct syscall_table *syscalls;
	struct interpreter_locks *locks;
	struct polls *polls;
};

static struct poll_scene begin(void)
{
	struct poll_scene f = { .model = small_model(0, 62000 * US) };
	uint32_t process = small_process(f.model, 100, "job", true);

	f.main = small_thread(f.model, process, 100, "main");
	f.maker = small_thread(f.model, process, 101, "maker");
	f.busy = small_thread(f.model, process, 102, "busy");
	f.other = small_thread(f.model, process, 103, "other");
	f.stranger = small_thread(f.model, small_process(f.model, 200, "stranger", true), 200, "stranger");
	return f;
}

/*
 * main sleeps SLICES times, 1 ms each, and looks for 10 us in between; after the last one it wakes @other, if that is
 * true, and is on a CPU for @work_us.
 */
static void main_polls(struct poll_scene *f, uint64_t polls, uint64_t work_us, bool wakes)
{
	uint64_t us = 0;

	for (uint64_t i = 0; i < polls; i++) {
		for (uint64_t slice = 0; slice < SLICES; slice++) {
			uint64_t runs_us = slice + 1 < SLICES ? 10 : work_us;

			small_sleep(f->model, f->main, us * US, (us + SLICE_US) * US, NANOSLEEP, INDEX_NONE,
				    SPAN_WOKEN_TIMER);
			us += SLICE_US;
			small_span(f->model, f->main, us * US, (us + runs_us) * US, STATE_RUNNING);
			us += runs_us;
		}
	}
	/* The poll ends with something that is no slice of it. */
	small_sleep(f->model, f->main, us * US, (us + SLICE_US) * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	us = 0;
	for (uint64_t i = 0; wakes && i < polls; i++) {
		uint64_t next = us + SLICES * SLICE_US + (SLICES - 1) * 10 + 5;

		small_sleep(f->model, f->other, us * US, next * US, FUTEX, f->main, 0);
		us += SLICES * SLICE_US + (SLICES - 1) * 10 + work_us;
	}
}

/* @thread runs for @run_us in the last sleep of polls [0 .. last), and in the first sleep of polls [0 .. first). */
static void runs(struct poll_scene *f, uint32_t thread, uint64_t run_us, uint64_t last, uint64_t first, uint64_t work_us)
{
	uint64_t poll_us = SLICES * SLICE_US + (SLICES - 1) * 10 + work_us;
	uint64_t most = last > first ? last : first;

	for (uint64_t i = 0; i < most; i++) {
		uint64_t us = i * poll_us;

		if (i < first)
			small_span(f->model, thread, us * US, (us + run_us) * US, STATE_RUNNING);
		us += (SLICES - 1) * (SLICE_US + 10) + 500;
		if (i < last)
			small_span(f->model, thread, us * US, (us + run_us) * US, STATE_RUNNING);
	}
}

static void end(struct poll_scene *f, uint32_t maker)
{
	small_index(f->model);
	f->syscalls = syscall_table_new("x86_64");
	f->locks = interpreter_locks_new(f->model);
	f->polls = polls_new(f->model, f->syscalls, f->locks);
	assert_non_null(f->polls);
	assert_int_equal(poll_maker(f->polls, f->main, f->model->timelines.row[f->main].first), maker);
	/* Work between two sleeps, and the sleeps of others, are no polls. */
	assert_int_equal(poll_maker(f->polls, f->main, f->model->timelines.row[f->main].first + 1), INDEX_NONE);
	polls_free(f->polls);
	interpreter_locks_free(f->locks);
	syscall_table_free(f->syscalls);
	model_free(f->model);
}

/* The maker is at work in each last sleep; the busy thread in all sleeps; a thread of another process. */
static void maker(void **state)
{
	struct poll_scene f = begin();

	main_polls(&f, 10, 2000, false);
	runs(&f, f.maker, 50, 10, 3, 2000);
	small_span(f.model, f.busy, 0, 62000 * US, STATE_RUNNING);
	runs(&f, f.stranger, 300, 10, 0, 2000);
	end(&f, f.maker);
}

/* Short work, but a thread is woken. */
static void maker_by_wake(void **state)
{
	for (int wakes = 0; wakes < 2; wakes++) {
		struct poll_scene f = begin();

		main_polls(&f, 10, 999, wakes);
		runs(&f, f.maker, 50, 10, 0, 999);
		end(&f, wakes ? f.maker : INDEX_NONE);
	}
}

/* Long sleeps after which a thread is woken, each followed by a short one: a rhythm, unless their lengths are alike. */
static void sleeps_of_two_lengths(void **state)
{
	static const struct {
		uint64_t short_us;
		bool found;
	} cases[] = { { 20, false }, { 99, false }, { 100, true }, { 400, true }, { 1600, true }, { 1601, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct poll_scene f = begin();
		uint64_t us = 0;

		for (int turn = 0; turn < 10; turn++) {
			small_sleep(f.model, f.main, us * US, (us + 400) * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
			us += 400;
			small_span(f.model, f.main, us * US, (us + 1000) * US, STATE_RUNNING);
			us += 1000;
			small_sleep(f.model, f.main, us * US, (us + cases[i].short_us) * US, NANOSLEEP, INDEX_NONE,
				    SPAN_WOKEN_TIMER);
			us += cases[i].short_us;
			small_span(f.model, f.main, us * US, (us + 10) * US, STATE_RUNNING);
			us += 10;
		}
		for (uint64_t turn = 0; turn < 10; turn++) {
			uint64_t at_us = turn * (1410 + cases[i].short_us) + 200;

			small_span(f.model, f.maker, at_us * US, (at_us + 50) * US, STATE_RUNNING);
		}
		end(&f, cases[i].found ? f.maker : INDEX_NONE);
	}
}

static void no_maker(void **state)
{
	static const struct {
		uint64_t polls, last;
		bool found;
	} cases[] = {
		{ 12, 9, true }, { 12, 8, false }, { 8, 8, true }, { 7, 7, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct poll_scene f = begin();

		main_polls(&f, cases[i].polls, 2000, false);
		runs(&f, f.maker, 1, cases[i].last, 0, 2000);
		end(&f, cases[i].found ? f.maker : INDEX_NONE);
	}
}

/* Of several the one that ran for longest. */
static void longest(void **state)
{
	for (uint64_t busy_us = 50; busy_us <= 70; busy_us += 20) {
		struct poll_scene f = begin();

		main_polls(&f, 10, 2000, false);
		runs(&f, f.maker, 60, 10, 0, 2000);
		runs(&f, f.busy, busy_us, 10, 0, 2000);
		end(&f, busy_us > 60 ? f.busy : f.maker);
	}
}

static uint64_t roots_ns(const struct host_waits *waits, uint8_t cause, uint32_t thread, uint32_t hops)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < waits->waits.count; i++)
		if (waits->waits.row[i].root.cause == cause && waits->waits.row[i].root.thread == thread &&
		    waits->waits.row[i].hop_count == hops)
			ns += waits->waits.row[i].ns;
	return ns;
}

/* In each poll the maker sleeps for 1 ms, then until the busy thread wakes it, and runs in main's last sleep. */
static void maker_waits(struct poll_scene *f)
{
	uint64_t us = 0;

	main_polls(f, 10, 2000, false);
	for (uint64_t i = 0; i < 10; i++) {
		small_sleep(f->model, f->maker, us * US, (us + 1000) * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
		small_sleep(f->model, f->maker, (us + 1000) * US, (us + 3500) * US, FUTEX, f->busy, 0);
		small_span(f->model, f->maker, (us + 3500) * US, (us + 3600) * US, STATE_RUNNING);
		small_sleep(f->model, f->maker, (us + 3600) * US, (us + 6030) * US, FUTEX, f->busy, 0);
		us += 6030;
	}
}

static void wait_for(struct poll_scene *f, struct host_waits *waits)
{
	static const struct analysis_options options = { 0 };
	static const struct step_results steps = { .main = INDEX_NONE };

	small_index(f->model);
	assert_int_equal(host_waits_analyse(f->model, &options, &steps, waits), 0);
	assert_int_equal(waits->threads[0], f->main);
	/* The maker's own sleep, as far as main sleeps meanwhile. */
	assert_int_equal(roots_ns(waits, IDLE_SLEEP, f->maker, 2), 10 * 1000 * US);
}

/* Nothing is known of the thread that wakes the maker: there the poll is the end. */
static void walk_to_maker(void **state)
{
	struct poll_scene f = begin();
	struct host_waits waits;

	maker_waits(&f);
	wait_for(&f, &waits);
	/* The rest of the sleeps, but for the time in which the maker runs; after the last poll it is not recorded. */
	assert_int_equal(roots_ns(&waits, IDLE_SLEEP, f.main, 1), (10 * (4000 - 1000 - 100) + 1000) * US);
	assert_int_equal(roots_ns(&waits, IDLE_UNKNOWN, f.busy, 3), 0);
	host_waits_free(&waits);
	model_free(f.model);
}

/* The thread that wakes the maker computes. */
static void walk_past_maker(void **state)
{
	struct poll_scene f = begin();
	struct host_waits waits;

	maker_waits(&f);
	small_span(f.model, f.busy, 0, 60300 * US, STATE_RUNNING);
	wait_for(&f, &waits);
	assert_int_equal(roots_ns(&waits, IDLE_USER_CODE, f.busy, 3), 10 * (4000 - 1000 - 100) * US);
	assert_int_equal(roots_ns(&waits, IDLE_SLEEP, f.main, 1), 1000 * US);
	host_waits_free(&waits);
	model_free(f.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maker),
		cmocka_unit_test(maker_by_wake),
		cmocka_unit_test(sleeps_of_two_lengths),
		cmocka_unit_test(no_maker),
		cmocka_unit_test(longest),
		cmocka_unit_test(walk_to_maker),
		cmocka_unit_test(walk_past_maker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
