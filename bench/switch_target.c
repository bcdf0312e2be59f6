/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_target.c - two processes on one CPU send a byte back and forth through
 * pipes; each line "SWITCHES" is answered with the CPU and the wall nanoseconds
 * of one switch, including both sides and their system calls.
 */
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <signal.h>
#include <unistd.h>

#include "bench/target.h"

struct pipes {
	int to_child[2];
	int to_parent[2];
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void hand_back(struct pipes *p)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(p->to_child[1]);
	while (read(p->to_child[0], &c, 1) == 1)
		if (write(p->to_parent[1], &c, 1) != 1)
			break;
	_exit(0);
}

static void to_and_fro(struct pipes *p, unsigned long rounds)
{
	char c = 'x';

	for (unsigned long i = 0; i < rounds; i++)
		if (write(p->to_child[1], &c, 1) != 1 || read(p->to_parent[0], &c, 1) != 1)
			die("pipe");
}

int main(void)
{
	clockid_t child_clock;
	struct pipes p;
	char line[64];
	pid_t child;

	pin(0);
	if (pipe(p.to_child) || pipe(p.to_parent))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child)
		hand_back(&p);
	if (clock_getcpuclockid(child, &child_clock))
		die("clock_getcpuclockid");
	printf("ready %d %d\n", getpid(), child);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long switches = strtoul(line, NULL, 10) & ~1ul;
		double ns[ROUNDS], wall_ns[ROUNDS];

		for (int round = 0; round < ROUNDS && switches; round++) {
			uint64_t own = clock_ns(CLOCK_PROCESS_CPUTIME_ID), theirs = clock_ns(child_clock);
			uint64_t start = clock_ns(CLOCK_MONOTONIC);

			to_and_fro(&p, switches / 2);
			wall_ns[round] = (double)(clock_ns(CLOCK_MONOTONIC) - start) / (double)switches;
			own = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
			theirs = clock_ns(child_clock) - theirs;
			ns[round] = (double)(own + theirs) / (double)switches;
		}
		if (switches)
			printf("%.2f %.2f\n", median(ns, ROUNDS), median(wall_ns, ROUNDS));
		else
			printf("?\n");
		fflush(stdout);
	}
	return 0;
}
