/* SPDX-License-Identifier: Apache-2.0 */
/* The id of a process that has ended is used again: a stranger gets no probes, and another target keeps its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/probe/probes_private.h"

#define PID 7

static struct {
	uint64_t started; /* of the process that has the id; 0 = a zombie, or none */
	bool target; /* it is one */
	bool exiting;
} now;

static struct probes probes;
static int scans, forgotten;

/* ---- The rest of the daemon */

int process_start_time(pid_t pid, uint64_t *started)
{
	(void)pid;
	*started = now.started;
	return now.started ? 0 : -ESRCH;
}

bool capture_is_target(struct capture *capture, pid_t pid)
{
	(void)capture;
	(void)pid;
	return now.target;
}

bool process_runs(pid_t pid, uint64_t started)
{
	(void)pid;
	return now.started == started;
}

bool process_began_since(pid_t pid, uint64_t ns)
{
	(void)pid;
	return now.started > process_clock(ns) || (now.started == process_clock(ns) && !now.exiting);
}

/* Starts are told to ten units of the time of records. */
uint64_t process_clock(uint64_t ns)
{
	return ns / 10;
}

int probes_scan(struct probes *p, pid_t pid, uint64_t mapped_ns)
{
	(void)p;
	(void)pid;
	(void)mapped_ns;
	scans++;
	return 0;
}

void probes_forget(struct probes *p, pid_t pid)
{
	struct probed_process *process = probed_processes_find(&p->processes, pid);

	assert_non_null(process);
	probed_processes_remove(&p->processes, process);
	forgotten++;
}

/* ---- Tests */

static int begin(void **state)
{
	(void)state;
	now.started = 1;
	now.target = true;
	now.exiting = false;
	probes.setting.options.system_wide = false;
	scans = forgotten = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	probed_processes_free(&probes.processes);
	return 0;
}

static void a_target_is_scanned(void **state)
{
	(void)state;
	assert_int_equal(probes_follow(&probes, PID, 10, 10), 0);
	assert_int_equal(probes_follow(&probes, PID, 20, 0), 0);
	assert_int_equal(scans, 2);
	assert_int_equal(forgotten, 0);
}

static void a_stranger_with_its_id_gets_no_probes(void **state)
{
	(void)state;
	now.target = false;
	assert_int_equal(probes_follow(&probes, PID, 10, 10), -ESRCH);
	assert_int_equal(scans, 0);
	assert_null(probed_processes_find(&probes.processes, PID));
}

static void nor_if_the_target_was_scanned_before(void **state)
{
	(void)state;
	probes_follow(&probes, PID, 10, 10);
	now.started++;
	now.target = false;
	assert_int_equal(probes_follow(&probes, PID, 20, 0), -ESRCH);
	assert_int_equal(scans, 1);
	assert_null(probed_processes_find(&probes.processes, PID));
}

static void another_target_with_its_id_is_scanned_anew(void **state)
{
	(void)state;
	probes_follow(&probes, PID, 10, 10);
	now.started++;
	assert_int_equal(probes_follow(&probes, PID, 20, 20), 0);
	assert_int_equal(scans, 2);
	assert_int_equal(forgotten, 1);
	assert_int_equal(probed_processes_find(&probes.processes, PID)->started, now.started);
}

static void a_zombie_was_scanned_before(void **state)
{
	(void)state;
	probes_follow(&probes, PID, 10, 10);
	now.started = 0;
	probes_follow(&probes, PID, 20, 0);
	assert_int_equal(forgotten, 0);
}

static void a_late_end_is_not_that_of_the_next_one(void **state)
{
	(void)state;
	probes_follow(&probes, PID, 30, 30);
	probes_ended(&probes, PID, 20);
	assert_int_equal(forgotten, 0);
	/* Mappings that were missed are read again at any time, also by the record of an end that has not come yet. */
	probes_follow(&probes, PID, 50, 0);
	probes_ended(&probes, PID, 40);
	assert_int_equal(forgotten, 1);
	probes_ended(&probes, PID, 40);
	assert_int_equal(forgotten, 1);
}

/* Its begin's record is lost: by /proc it began after that end. */
static void nor_if_its_begin_is_not_known(void **state)
{
	(void)state;
	now.started = 3;
	probes_follow(&probes, PID, 50, 0);
	probes_ended(&probes, PID, 29);
	assert_int_equal(forgotten, 0);
	probes_ended(&probes, PID, 40);
	assert_int_equal(forgotten, 1);
}

static void in_doubt_who_runs_has_not_ended(void **state)
{
	(void)state;
	now.started = 3;
	probes_follow(&probes, PID, 50, 0);
	probes_ended(&probes, PID, 32);
	assert_int_equal(forgotten, 0);
	now.started = 0;
	probes_ended(&probes, PID, 32);
	assert_int_equal(forgotten, 1);
}

static void but_who_is_exiting_has(void **state)
{
	(void)state;
	now.started = 3;
	now.exiting = true;
	probes_follow(&probes, PID, 50, 0);
	probes_ended(&probes, PID, 32);
	assert_int_equal(forgotten, 1);
}

static void whoever_is_dropped_is_forgotten(void **state)
{
	(void)state;
	now.started = 3;
	probes_follow(&probes, PID, 50, 50);
	probes_ended(&probes, PID, UINT64_MAX);
	assert_int_equal(forgotten, 1);
}

/* What was told of the first one, its mapped files for example, is told of the other one, too. */
static void so_it_is_in_a_session_of_the_whole_machine(void **state)
{
	(void)state;
	probes.setting.options.system_wide = true;
	another_target_with_its_id_is_scanned_anew(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_target_is_scanned, begin, end),
		cmocka_unit_test_setup_teardown(a_stranger_with_its_id_gets_no_probes, begin, end),
		cmocka_unit_test_setup_teardown(nor_if_the_target_was_scanned_before, begin, end),
		cmocka_unit_test_setup_teardown(another_target_with_its_id_is_scanned_anew, begin, end),
		cmocka_unit_test_setup_teardown(a_zombie_was_scanned_before, begin, end),
		cmocka_unit_test_setup_teardown(a_late_end_is_not_that_of_the_next_one, begin, end),
		cmocka_unit_test_setup_teardown(nor_if_its_begin_is_not_known, begin, end),
		cmocka_unit_test_setup_teardown(in_doubt_who_runs_has_not_ended, begin, end),
		cmocka_unit_test_setup_teardown(but_who_is_exiting_has, begin, end),
		cmocka_unit_test_setup_teardown(whoever_is_dropped_is_forgotten, begin, end),
		cmocka_unit_test_setup_teardown(so_it_is_in_a_session_of_the_whole_machine, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
