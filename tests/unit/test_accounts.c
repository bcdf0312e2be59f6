/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads' cumulative figures at instants between two readings: the rules of accounts.h for new threads and
 * intervals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/host/accounts.h"
#include "proto/trace.pb-c.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull

/* The session begins at 10 s; a thread has readings at 11 s and 13 s; the interval is one second. */
static struct model *make_model(uint64_t born_ns, uint64_t seen_ns, uint32_t flags)
{
	struct model *model = small_model(10000 * MS, 14000 * MS);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t before = small_thread(model, process, 100, "before"), thread = small_thread(model, process, 101, "main");
	uint32_t after = small_thread(model, process, 102, "after");
	const struct account rows[] = {
		{ .thread = before, .ts_ns = 11000 * MS, .run_ns = 7 },
		{ .thread = thread, .ts_ns = 11000 * MS, .run_ns = 1000, .voluntary = 10, .flags = flags },
		{ .thread = thread, .ts_ns = 13000 * MS, .run_ns = 3000, .voluntary = 50 },
		{ .thread = after, .ts_ns = 11000 * MS, .run_ns = 7 },
	};

	model->info.session_start_ns = 10000 * MS;
	model->threads.row[thread].start_ns = born_ns;
	model->threads.row[thread].first_ns = seen_ns;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(MODEL_PUSH(&model->accounts, rows[i]));
	return model;
}

static uint64_t run_at(const struct model *model, uint64_t ms)
{
	struct account at;

	assert_true(accounts_at(model, 1, ms * MS, &at));
	return at.run_ns;
}

/* The growth of an account belongs to the interval before the reading. */
static void between_two(void **state)
{
	struct model *model = make_model(1000 * MS, 10000 * MS, 0);
	uint32_t first;

	assert_int_equal(accounts_of(model, 1, &first), 2);
	assert_int_equal(first, 1);
	assert_int_equal(accounts_of(model, 3, &first), 0);
	assert_int_equal(run_at(model, 11000), 1000);
	assert_int_equal(run_at(model, 11999), 1000);
	assert_int_equal(run_at(model, 12000), 1000);
	assert_int_equal(run_at(model, 12500), 2000);
	assert_int_equal(run_at(model, 12999), 2998);
	assert_int_equal(run_at(model, 13000), 3000);
	assert_int_equal(run_at(model, 20000), 3000);
	/* An interval that is as long as the time between the two readings, or longer. */
	model->info.interval_ns = 2000 * MS;
	assert_int_equal(run_at(model, 12000), 2000);
	model->info.interval_ns = 4000 * MS;
	assert_int_equal(run_at(model, 12000), 2000);
	model->info.interval_ns = 13000 * MS;
	assert_int_equal(run_at(model, 12000), 2000);
	model_free(model);
}

/* A thread that started in the session counts from 0 at its start; any other one from its first reading. */
static void births(void **state)
{
	static const struct {
		uint64_t born_ms, seen_ms; /* 0 = unknown */
		uint32_t flags;
		uint64_t at_10500, at_10000;
	} CASES[] = {
		{ 9999, 10000, 0, 1000, 1000 },
		{ 10000, 10000, 0, 500, 0 },
		{ 10000, 10000, PROFBPF__ACCOUNTS__FLAG__FIRST, 1000, 1000 },
		{ 10200, 10200, 0, 375, 0 },
		/*
		 * The start is unknown: the thread counts as new if it was first seen later than the session's start.
		 */
		{ 0, 10000, 0, 1000, 1000 },
		{ 0, 10200, 0, 375, 0 },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct model *model = make_model(CASES[i].born_ms * MS, CASES[i].seen_ms * MS, CASES[i].flags);

		assert_int_equal(run_at(model, 10500), CASES[i].at_10500);
		assert_int_equal(run_at(model, 10000), CASES[i].at_10000);
		assert_int_equal(run_at(model, 11000), 1000);
		model_free(model);
	}
}

static void growth(void **state)
{
	struct model *model = make_model(1000 * MS, 10000 * MS, 0);
	struct account grown;

	assert_true(accounts_growth(model, 1, 11000 * MS, 13000 * MS, &grown));
	assert_int_equal(grown.run_ns, 2000);
	assert_int_equal(grown.voluntary, 40);
	assert_true(accounts_growth(model, 1, 12250 * MS, 12750 * MS, &grown));
	assert_int_equal(grown.run_ns, 1000);
	assert_int_equal(grown.voluntary, 20);
	assert_false(accounts_growth(model, 3, 11000 * MS, 13000 * MS, &grown));
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_two),
		cmocka_unit_test(births),
		cmocka_unit_test(growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
