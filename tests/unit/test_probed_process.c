/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that come and go are found by their ids, with their data. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "daemon/profbpfd/probe/probed_process.h"

#define PROCESSES 5000

static void each_is_found_with_its_links(void **state)
{
	struct probed_processes processes = { 0 };
	struct probe_link *link = (struct probe_link *)state;

	for (pid_t pid = 1; pid <= PROCESSES; pid++) {
		assert_int_equal(probed_processes_add(&processes, pid), 0);
		assert_int_equal(probed_process_add_link(probed_processes_find(&processes, pid),
							 pid, link),
				 0);
	}
	assert_int_equal(processes.count, PROCESSES);
	for (pid_t pid = 1; pid <= PROCESSES; pid++) {
		const struct probed_process *process = probed_processes_find(&processes, pid);

		assert_int_equal(process->pid, pid);
		assert_ptr_equal(probed_process_link(process, pid)->link, link);
		assert_null(probed_process_link(process, pid + 1));
	}
	probed_processes_free(&processes);
}

static void one_that_is_there_is_not_added_again(void **state)
{
	struct probed_processes processes = { 0 };

	(void)state;
	assert_int_equal(probed_processes_add(&processes, 7), 0);
	assert_int_equal(probed_process_add_link(probed_processes_find(&processes, 7), 3, NULL), 0);
	assert_int_equal(probed_processes_add(&processes, 7), 0);
	assert_int_equal(processes.count, 1);
	assert_non_null(probed_process_link(probed_processes_find(&processes, 7), 3));
	probed_processes_free(&processes);
}

/* So many that places of ended processes are reused. */
static void who_is_gone_is_not_found_and_the_others_are(void **state)
{
	struct probed_processes processes = { 0 };

	(void)state;
	for (pid_t pid = 1; pid <= PROCESSES; pid++) {
		assert_int_equal(probed_processes_add(&processes, pid), 0);
		if (pid <= 3)
			continue;
		assert_non_null(probed_processes_find(&processes, pid - 3));
		probed_processes_remove(&processes, probed_processes_find(&processes, pid - 3));
		assert_null(probed_processes_find(&processes, pid - 3));
		for (pid_t there = pid - 2; there <= pid; there++)
			assert_int_equal(probed_processes_find(&processes, there)->pid, there);
	}
	assert_int_equal(processes.count, 3);
	assert_true(processes.rows.count < PROCESSES / 2);
	assert_int_equal(probed_processes_add(&processes, 1), 0);
	assert_int_equal(probed_processes_find(&processes, 1)->link_count, 0);
	probed_processes_free(&processes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found_with_its_links),
		cmocka_unit_test(one_that_is_there_is_not_added_again),
		cmocka_unit_test(who_is_gone_is_not_found_and_the_others_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
