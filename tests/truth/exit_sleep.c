/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit_sleep.c - a process that sleeps long while it exits, after its last chance to run anything on its return to user
 * space: the first process of a namespace waits for the end of all others, one of which is a zombie until its parent,
 * which is outside, reaps it.
 */
#include <sched.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

#define WAITS 3
#define WAIT_MS 60

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

/* The process is the parent of one namespace's processes, but not in it. */
static void exit_in_namespace(void)
{
	int go[2];
	pid_t first, zombie;
	char c;

	if (unshare(CLONE_NEWPID) || pipe(go))
		give_up("unshare");
	first = fork();
	if (!first) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0);
	}
	zombie = fork();
	if (!zombie) {
		close(go[1]);
		for (;;)
			pause();
	}
	if (first < 0 || zombie < 0)
		give_up("fork");
	close(go[1]);
	sleep_ns(WAIT_MS * 1000000ull);
	if (waitpid(zombie, NULL, 0) != zombie || waitpid(first, NULL, 0) != first)
		give_up("waitpid");
}

int main(void)
{
	pid_t pid;

	truth_ready();
	/* A process can make one namespace only. */
	for (int i = 0; i < WAITS; i++) {
		pid = fork();
		if (!pid) {
			exit_in_namespace();
			_exit(0);
		}
		if (waitpid(pid, NULL, 0) != pid)
			give_up("waitpid");
	}
	printf("waits=%d\nwait_ns=%d\n", WAITS, WAIT_MS * 1000000);
	truth_done();
	return 0;
}
