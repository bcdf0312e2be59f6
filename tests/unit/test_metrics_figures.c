/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of processes, from records: launches, accounts, the limit of their number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "daemon/profbpfd/metrics/process_figures.h"

#define LAUNCH 4
#define OTHER 5
#define PID 0x7ffffff0u /* beyond the kernel's maximum, so that nothing is read from /proc for it */

static struct process_figures rows[FIGURES_ROWS_MAX];

static void call(struct figures *f, uint32_t probe, unsigned int depth, uint64_t start_ns)
{
	struct rec_call record = { .header = { REC_CALL, (uint16_t)(depth << CALL_DEPTH_SHIFT), 0, start_ns },
				   .tgid = PID,
				   .tid = PID,
				   .probe = probe };

	figures_take(f, &record.header);
}

static void account(struct figures *f, uint32_t pid, uint64_t ts_ns, uint64_t run_ns, uint16_t flags)
{
	struct rec_account record = { .header = { REC_ACCOUNT, (uint16_t)(ACCOUNT_TARGET | flags), 0, ts_ns },
				      .tid = pid,
				      .tgid = pid,
				      .run_ns = run_ns,
				      .runnable_ns = run_ns / 2,
				      .major_faults = run_ns / 100 };

	figures_take(f, &record.header);
}

static void task(struct figures *f, enum task_event event, uint32_t pid, uint64_t ts_ns)
{
	struct rec_task record = { .header = { REC_TASK, TASK_TARGET | TASK_LAST, 0, ts_ns },
				   .tid = pid,
				   .tgid = pid,
				   .event = event };

	figures_take(f, &record.header);
}

static uint64_t launches(struct figures *f)
{
	return figures_copy(f, rows, FIGURES_ROWS_MAX) == 1 ? rows[0].launches : 0;
}

static void outermost_launches_count_once(void **state)
{
	struct figures *f = figures_new(NULL);

	figures_launch_probe(f, LAUNCH);
	call(f, LAUNCH, 0, 100);
	assert_int_equal(launches(f), 1);
	/* Two nested launches, each recorded before the outer one. */
	call(f, LAUNCH, 1, 210);
	call(f, LAUNCH, 1, 220);
	call(f, LAUNCH, 0, 200);
	assert_int_equal(launches(f), 2);
	/*
	 * Two launches nested in another call, one of which contains one itself: they count at the outer call's end,
	 * and the count never falls.
	 */
	call(f, LAUNCH, 1, 310);
	call(f, LAUNCH, 2, 330);
	call(f, LAUNCH, 1, 320);
	assert_int_equal(launches(f), 2);
	call(f, OTHER, 0, 300);
	assert_int_equal(launches(f), 4);
	/* More nested launches than are remembered. */
	for (unsigned int i = 0; i < 100; i++)
		call(f, LAUNCH, 1, 500 + i);
	call(f, OTHER, 0, 400);
	assert_int_equal(launches(f), 104);
	figures_free(f);
}

static void accounts_grow_from_the_first(void **state)
{
	struct figures *f = figures_new(NULL);

	account(f, PID, 1000, 5000, ACCOUNT_FIRST);
	assert_int_equal(figures_copy(f, rows, FIGURES_ROWS_MAX), 1);
	assert_false(rows[0].has_accounts);
	account(f, PID, 2000, 5400, 0);
	assert_int_equal(figures_copy(f, rows, FIGURES_ROWS_MAX), 1);
	assert_true(rows[0].has_accounts);
	assert_int_equal(rows[0].run_ns, 400);
	assert_int_equal(rows[0].runnable_ns, 200);
	assert_int_equal(rows[0].blocked_ns, 400);
	assert_int_equal(rows[0].major_faults, 4);
	assert_int_equal(rows[0].launches, 0);
	/* A new thread's accounts start at zero with the thread. */
	task(f, TASK_FORK, PID + 1, 3000);
	account(f, PID + 1, 3500, 500, ACCOUNT_FINAL);
	assert_int_equal(figures_copy(f, rows, FIGURES_ROWS_MAX), 2);
	assert_int_equal(rows[1].run_ns, 500);
	figures_free(f);
}

static void further_processes_are_summed_up(void **state)
{
	struct figures *f = figures_new(NULL);
	uint32_t first = 0x70000000;

	for (uint32_t i = 0; i < FIGURES_PROCESSES_MAX + 3; i++) {
		account(f, first + i, 1000, 0, ACCOUNT_FIRST);
		account(f, first + i, 2000, 100, 0);
	}
	assert_int_equal(figures_copy(f, rows, FIGURES_ROWS_MAX), FIGURES_ROWS_MAX);
	assert_int_equal(rows[0].pid, 0);
	assert_int_equal(rows[0].others, 3);
	assert_int_equal(rows[0].run_ns, 300);
	/* The place of an ended process is reused after a while; the sum stays. */
	task(f, TASK_EXIT, first, 3000);
	assert_int_equal(figures_copy(f, rows, FIGURES_ROWS_MAX), FIGURES_ROWS_MAX);
	account(f, PID, 3001 + FIGURES_KEPT_NS, 0, ACCOUNT_FIRST);
	assert_int_equal(figures_copy(f, rows, FIGURES_ROWS_MAX), FIGURES_ROWS_MAX);
	assert_int_equal(rows[0].run_ns, 300);
	assert_int_equal(rows[1].pid, PID);
	assert_int_equal(rows[1].run_ns, 0);
	figures_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outermost_launches_count_once),
		cmocka_unit_test(accounts_grow_from_the_first),
		cmocka_unit_test(further_processes_are_summed_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
