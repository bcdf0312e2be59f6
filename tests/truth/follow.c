/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c - what begins after attach: a library by dlopen, a child by fork, a
 * program by exec. The child calls from its first instruction on.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

#define CHILD_CALLS 300
#define EXEC_CALLS 200
#define LATE_CALLS 100

static void call(int n)
{
	for (int i = 0; i < n; i++)
		truth_noop(i);
}

static void load_late(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*second)(int) = handle ? (int (*)(int))dlsym(handle, "truth_second") : NULL;

	if (!second) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	/* A library nobody could expect: what is called at once may be missed, and that is said. */
	sleep_ns(300000000);
	for (int i = 0; i < LATE_CALLS; i++)
		second(i);
}

static pid_t child(char *exe)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid && !exe) {
		call(CHILD_CALLS);
		_exit(0);
	}
	if (!pid) {
		execl(exe, exe, "exec", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

int main(int argc, char **argv)
{
	pid_t forked, executed;

	if (argc > 1 && (!strcmp(argv[1], "exec") || !strcmp(argv[1], "slow"))) {
		if (!strcmp(argv[1], "slow"))
			sleep_ns(300000000);
		call(EXEC_CALLS);
		return 0;
	}
	truth_ready();
	if (argc > 1)
		load_late(argv[1]);
	forked = child(NULL);
	executed = child(argv[0]);
	printf("parent.pid=%d\nchild.pid=%d\nchild.calls=%d\nexec.pid=%d\nexec.calls=%d\nlate.calls=%d\n",
	       getpid(), forked, CHILD_CALLS, executed, EXEC_CALLS, LATE_CALLS);
	truth_done();
	return 0;
}
