/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.c - many processes that share a library, which each of them calls.
 *
 *     crowd PROCESSES CALLS [FILE [PAUSE_MS]]
 *
 * Writes the processes' ids to FILE, one a line, with a pause between two of them. At the signal each
 * calls truth_noop CALLS times, and as often crowd_through, which ends in an indirect tail call. They
 * live until the end of input.
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

/* A tail call through a register, whose target is not known in advance. */
int __attribute__((noipa)) crowd_through(int (*to)(int), int value)
{
	return to(value);
}

static int __attribute__((noipa)) end_of_through(int value)
{
	return value + 1;
}

struct pipes {
	int go[2]; /* closed to make the processes begin */
	int called[2]; /* a byte from each process that has made its calls */
	int end[2];
};

static void make_pipes(struct pipes *p)
{
	if (!pipe(p->go) && !pipe(p->called) && !pipe(p->end))
		return;
	perror("crowd: pipe");
	exit(1);
}

static void until_closed(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
}

static void member(const struct pipes *p, int calls)
{
	close(p->go[1]);
	close(p->end[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	until_closed(p->go[0]);
	for (int i = 0; i < calls; i++)
		truth_noop(i);
	for (int i = 0; i < calls; i++)
		if (crowd_through(end_of_through, i) != i + 1)
			_exit(1);
	if (write(p->called[1], "", 1) != 1)
		_exit(1);
	until_closed(p->end[0]);
	_exit(0);
}

static void make_members(const struct pipes *p, int processes, int calls, FILE *list,
			 unsigned int pause_ms)
{
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("crowd: fork");
			exit(1);
		}
		if (!pid)
			member(p, calls);
		if (list)
			fprintf(list, "%d\n", pid);
		sleep_ns(pause_ms * 1000000ull);
	}
	if (list)
		fclose(list);
}

static void until_all_called(const struct pipes *p, int processes)
{
	char byte;

	close(p->go[1]);
	for (int i = 0; i < processes; i++) {
		if (read(p->called[0], &byte, 1) == 1)
			continue;
		fprintf(stderr, "crowd: a process has not called\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int processes = argc > 2 ? atoi(argv[1]) : 0, calls = argc > 2 ? atoi(argv[2]) : 0;
	FILE *list = argc > 3 ? fopen(argv[3], "w") : NULL;
	struct pipes p;

	if (processes < 1 || calls < 0 || (argc > 3 && !list)) {
		fprintf(stderr, "usage: crowd PROCESSES CALLS [FILE [PAUSE_MS]]\n");
		return 2;
	}
	make_pipes(&p);
	make_members(&p, processes, calls, list, argc > 4 ? atoi(argv[4]) : 0);
	close(p.called[1]);
	truth_ready();
	until_all_called(&p, processes);
	printf("processes=%d\ncalls=%ld\n", processes, (long)processes * calls);
	truth_done();
	close(p.end[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
