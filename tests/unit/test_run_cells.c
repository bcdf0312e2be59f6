/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's CPU time follows the scheduler's own clock, in total and in each interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/host/processes.h"
#include "analyzer/analyse/host/run_cells.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define SECOND (1000 * MS)
#define CELLS 4

/* One thread that runs in the first half of each of 40 periods of 100 ms. */
static struct model *half_busy(void)
{
	struct model *m = small_model(0, 4 * SECOND);
	uint32_t process = small_process(m, 1, "job", true);
	uint32_t thread = small_thread(m, process, 1, "job");

	for (uint64_t t = 0; t < 4 * SECOND; t += 100 * MS) {
		small_span(m, thread, t, t + 50 * MS, STATE_RUNNING);
		small_span(m, thread, t + 50 * MS, t + 100 * MS, STATE_SLEEP);
	}
	m->info.interval_ns = SECOND;
	return m;
}

static void reading(struct model *m, uint64_t ts_ns, uint32_t flags, uint64_t run_ns)
{
	struct account row = { .ts_ns = ts_ns, .flags = flags, .run_ns = run_ns, .voluntary = run_ns / (50 * MS) };

	assert_true(MODEL_PUSH(&m->accounts, row));
}

/* Returns the thread's usage between two instants (0: the whole), in intervals of a second or less. */
static struct thread_usage measure(struct model *m, uint64_t from_ns, uint64_t to_ns, uint64_t *cells)
{
	struct analysis_options options = { .from_ns = from_ns, .to_ns = to_ns };
	struct process_results results;
	struct thread_usage usage;
	uint64_t cuts[CELLS + 1], sum_ns = 0;
	double weights[CELLS];
	uint32_t count = 0;

	small_index(m);
	assert_int_equal(processes_analyse(m, &options, &results), 0);
	assert_int_equal(results.thread_count, 1);
	usage = results.threads[0];
	cuts[0] = results.window.from_ns;
	while (cuts[count] < results.window.to_ns) {
		uint64_t next_ns = (cuts[count] / SECOND + 1) * SECOND;

		assert_true(count < CELLS);
		cuts[++count] = next_ns < results.window.to_ns ? next_ns : results.window.to_ns;
	}
	run_cells(m, &usage, cuts, count, weights, cells);
	for (uint32_t k = 0; k < count; k++)
		sum_ns += cells[k];
	assert_true(sum_ns == usage.run_ns);
	if (usage.source == USAGE_TIMELINE)
		assert_true(usage.run_ns + usage.runnable_ns + usage.blocked_ns + usage.unknown_ns +
				    usage.stolen_ns ==
			    usage.alive_ns);
	processes_free(&results);
	model_free(m);
	return usage;
}

static void near(uint64_t expected, uint64_t found)
{
	assert_true(found + 1 >= expected && found <= expected + 1);
}

/* 1 us before each switch is recorded belongs to the thread's run, not to its sleep. */
static void switches_take_time(void **state)
{
	struct model *m = half_busy();
	struct thread_usage usage;
	uint64_t cells[CELLS];

	reading(m, 0, PROFBPF__ACCOUNTS__FLAG__FIRST, 7 * SECOND);
	reading(m, 4 * SECOND, 0, 9 * SECOND + 40000);
	usage = measure(m, 0, 0, cells);
	assert_int_equal(usage.source, USAGE_TIMELINE);
	assert_true(usage.run_ns == 2 * SECOND + 40000);
	assert_true(usage.blocked_ns == 2 * SECOND - 40000);
	assert_true(usage.stolen_ns == 0);
	for (uint32_t k = 0; k < CELLS; k++)
		near(500 * MS + 10000, cells[k]);
}

/* A hypervisor stole 200 ms in the third second: they count neither for the thread nor for another second. */
static void stolen_where_it_was(void **state)
{
	struct model *m = half_busy();
	struct thread_usage usage;
	uint64_t cells[CELLS];

	reading(m, 0, PROFBPF__ACCOUNTS__FLAG__FIRST, 0);
	reading(m, 1 * SECOND, 0, 500 * MS);
	reading(m, 2 * SECOND, 0, 1000 * MS);
	reading(m, 3 * SECOND, 0, 1300 * MS);
	reading(m, 4 * SECOND, 0, 1800 * MS);
	usage = measure(m, 0, 0, cells);
	assert_true(usage.run_ns == 1800 * MS);
	assert_true(usage.stolen_ns == 200 * MS);
	near(500 * MS, cells[0]);
	near(500 * MS, cells[1]);
	near(300 * MS, cells[2]);
	near(500 * MS, cells[3]);
}

/* A reading of a running thread is as old as the last tick: it corrects nothing. */
static void late_readings_do_not_count(void **state)
{
	struct model *m = half_busy();
	struct thread_usage usage;
	uint64_t cells[CELLS];

	reading(m, 0, PROFBPF__ACCOUNTS__FLAG__FIRST, 0);
	reading(m, 2010 * MS, PROFBPF__ACCOUNTS__FLAG__RUNNING, 1004 * MS);
	reading(m, 4 * SECOND, PROFBPF__ACCOUNTS__FLAG__RUNNING, 1996 * MS);
	usage = measure(m, 0, 0, cells);
	assert_int_equal(usage.source, USAGE_TIMELINE);
	assert_true(usage.run_ns == 2 * SECOND);
	assert_true(usage.stolen_ns == 0);
	for (uint32_t k = 0; k < CELLS; k++)
		near(500 * MS, cells[k]);
}

/* More than switches can cost: switches are missing, and only the kernel's sums are known. */
static void missing_switches(void **state)
{
	struct model *m = half_busy();
	struct thread_usage usage;
	uint64_t cells[CELLS];

	reading(m, 0, PROFBPF__ACCOUNTS__FLAG__FIRST, 0);
	reading(m, 1 * SECOND, 0, 500 * MS);
	reading(m, 2 * SECOND, 0, 1000 * MS);
	reading(m, 3 * SECOND, 0, 1900 * MS);
	reading(m, 4 * SECOND, 0, 2400 * MS);
	usage = measure(m, 0, 0, cells);
	assert_int_equal(usage.source, USAGE_ACCOUNTS);
	assert_true(usage.run_ns == 2400 * MS);
	near(500 * MS, cells[1]);
	near(900 * MS, cells[2]);
}

/*
 * A part of the session: corrected by the readings within it, and at its borders in proportion. From 0.5 to 3.5 s the
 * thread runs 1500 ms by its switches; from 1 to 3 s 1000 ms, where the kernel counts 900.
 */
static void part_of_the_session(void **state)
{
	struct model *m = half_busy();
	struct thread_usage usage;
	uint64_t cells[CELLS];

	reading(m, 0, PROFBPF__ACCOUNTS__FLAG__FIRST, 0);
	reading(m, 1 * SECOND, 0, 450 * MS);
	reading(m, 2 * SECOND, 0, 950 * MS);
	reading(m, 3 * SECOND, 0, 1350 * MS);
	reading(m, 4 * SECOND, 0, 1800 * MS);
	usage = measure(m, 500 * MS, 3500 * MS, cells);
	assert_int_equal(usage.source, USAGE_TIMELINE);
	assert_true(usage.stolen_ns == 100 * MS);
	assert_true(usage.run_ns == 1400 * MS);
	assert_true(cells[1] > cells[2] && cells[1] - cells[2] > 90 * MS);

	/* There the kernel counts 20 us more; the other switches cost as much in proportion. */
	m = half_busy();
	reading(m, 0, PROFBPF__ACCOUNTS__FLAG__FIRST, 0);
	reading(m, 1 * SECOND, 0, 500 * MS);
	reading(m, 3 * SECOND, 0, 1500 * MS + 20000);
	reading(m, 4 * SECOND, 0, 2000 * MS + 20000);
	usage = measure(m, 500 * MS, 3500 * MS, cells);
	near(1500 * MS + 30000, usage.run_ns);
	assert_true(usage.stolen_ns == 0);
}

/* A correction larger than the rest of the time cannot belong to the thread. */
static void no_room_for_more(void **state)
{
	struct model *m = small_model(0, 1 * SECOND);
	uint32_t process = small_process(m, 1, "job", true);
	struct thread_usage usage;
	uint64_t cells[CELLS];

	small_span(m, small_thread(m, process, 1, "job"), 0, 1 * SECOND, STATE_RUNNING);
	reading(m, 0, PROFBPF__ACCOUNTS__FLAG__FIRST, 0);
	reading(m, 1 * SECOND, 0, 1 * SECOND + 5000);
	usage = measure(m, 0, 0, cells);
	assert_true(usage.run_ns == 1 * SECOND);
	assert_true(cells[0] == 1 * SECOND);
}

/* Decreasing readings, and a thread without any records. */
static void hostile(void **state)
{
	struct model *m = half_busy();
	uint64_t cells[CELLS];

	reading(m, 0, PROFBPF__ACCOUNTS__FLAG__FIRST, UINT64_MAX);
	reading(m, 1 * SECOND, 0, 5);
	reading(m, 2 * SECOND, 0, UINT64_MAX / 2);
	reading(m, 3 * SECOND, 0, 0);
	measure(m, 0, 0, cells);
	m = small_model(0, 1 * SECOND);
	small_thread(m, small_process(m, 1, "job", true), 1, "job");
	assert_int_equal(measure(m, 0, 0, cells).source, USAGE_UNKNOWN);
	assert_true(cells[0] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches_take_time),
		cmocka_unit_test(stolen_where_it_was),
		cmocka_unit_test(late_readings_do_not_count),
		cmocka_unit_test(missing_switches),
		cmocka_unit_test(part_of_the_session),
		cmocka_unit_test(no_room_for_more),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
