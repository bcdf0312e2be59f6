/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a thread that runs, of one that sleeps, and of none. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/host/thread_awake.h"

static void test_running(void **state)
{
	uint32_t own = (uint32_t)getpid();

	(void)state;
	assert_true(thread_awake(own, own));
}

/* Its name looks like the state of one that runs. */
static void test_asleep(void **state)
{
	const struct timespec while_it_starts = { .tv_nsec = 10000000 };
	pid_t pid = fork();
	int tries = 1000;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a) R 1 (b");
		for (;;)
			pause();
	}
	while (thread_awake((uint32_t)pid, (uint32_t)pid) && --tries)
		nanosleep(&while_it_starts, NULL);
	assert_true(tries > 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* It has ended: nothing is known. */
	assert_true(thread_awake((uint32_t)pid, (uint32_t)pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_asleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
