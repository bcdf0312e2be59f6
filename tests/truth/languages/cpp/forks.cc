// SPDX-License-Identifier: Apache-2.0
/*
 * forks.cc - many children of fork() that live shortly: each works in a known chain of calls without frame pointers,
 * and ends; some are children of children. Each third child begins this program anew, with another chain.
 *
 * To be compiled with -O2 -fomit-frame-pointer. As in truth.h; an argument is the number of children, and the next one
 * for how many milliseconds of CPU time each of them works.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

NOIPA static void copied_chain(int depth, uint64_t until_ns)
{
	volatile char room[200];

	room[depth] = 1;
	if (depth > 1)
		copied_chain(depth - 1, until_ns);
	else
		spin(until_ns);
	sink = room[depth];
}

NOIPA static void begun_chain(int depth, uint64_t until_ns)
{
	volatile char room[72];

	room[depth] = 1;
	if (depth > 1)
		begun_chain(depth - 1, until_ns);
	else
		spin(until_ns);
	sink = room[depth];
}

NOIPA static void child(char *program, int number, const char *ms)
{
	uint64_t until_ns = cpu_ns() + atoi(ms) * 1000000ull;

	if (number % 3 == 2) {
		execl("/proc/self/exe", program, "begun", ms, (char *)NULL);
		_exit(1);
	}
	if (number % 3 == 1 && fork()) {
		wait(NULL);
		_exit(0);
	}
	copied_chain(4, until_ns);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "begun")) {
		begun_chain(7, atoi(argv[2]) * 1000000ull);
		return 0;
	}
	if (argc < 3)
		return 2;
	printf("ready %d\n", getpid());
	fflush(stdout);
	getchar();
	/* If it is traced, the kernel may map a page of its own for that, which children do not have. */
	sink = getppid();
	/* The daemon sees this process work before its children. */
	spin(cpu_ns() + 300000000);
	for (int i = 0; i < atoi(argv[1]); i++) {
		if (!fork())
			child(argv[0], i, argv[2]);
		wait(NULL);
	}
	printf("done\n");
	fflush(stdout);
	getchar();
	return 0;
}
