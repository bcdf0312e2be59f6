/* SPDX-License-Identifier: Apache-2.0 */
/* Which of two processes with one id has ended: the one that began before, by two clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/common/process_check.h"

#define TICK_NS 10000000ull

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static pid_t begin_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

static void a_start_is_between_the_times_around_it(void **state)
{
	uint64_t before = now_ns(), after, started;
	pid_t pid = begin_child();

	(void)state;
	after = now_ns();
	assert_int_equal(process_start_time(pid, &started), 0);
	assert_in_range(started, process_clock(before), process_clock(after));
	assert_true(process_began_since(pid, before));
	assert_true(process_began_since(pid, 0));
	assert_false(process_began_since(pid, after + TICK_NS));
	assert_false(process_began_since(pid, UINT64_MAX));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(process_began_since(pid, 0));
}

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

/* Its first thread exits, as that of a process whose end has just been reported. */
static pid_t begin_exiting_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		pthread_t other;

		if (!pthread_create(&other, NULL, sleep_on, NULL))
			syscall(SYS_exit, 0);
		_exit(1);
	}
	assert_true(pid > 0);
	return pid;
}

static char state_of(pid_t pid)
{
	char name[32], state = '?';
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	file = fopen(name, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	fclose(file);
	return state;
}

static void one_that_exits_is_the_one_whose_end_was_reported(void **state)
{
	uint64_t ns = now_ns(), started;
	pid_t pid = begin_exiting_child();

	(void)state;
	while (state_of(pid) != 'Z')
		usleep(1000);
	assert_int_equal(process_start_time(pid, &started), 0);
	while (process_clock(ns) < started)
		ns += TICK_NS / 100;
	assert_false(process_began_since(pid, ns));
	assert_true(process_began_since(pid, ns - TICK_NS));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_is_between_the_times_around_it),
		cmocka_unit_test(one_that_exits_is_the_one_whose_end_was_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
