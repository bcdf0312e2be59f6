/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_target.c - makes system calls; each line "KIND COUNT" is answered with the
 * CPU and the wall nanoseconds of one call.
 *
 * KIND is getppid (the shortest system call), read (of 0 bytes from /dev/zero) or ioctl (of a
 * terminal). A process that is not traced should not be slowed by tracing of another.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/target.h"

struct files {
	int zero, terminal;
};

static int call(const struct files *files, char kind)
{
	unsigned int number;
	char c;

	switch (kind) {
	case 'g': return (int)syscall(SYS_getppid);
	case 'r': return (int)read(files->zero, &c, 0);
	default: return ioctl(files->terminal, TIOCGPTN, &number);
	}
}

static void answer(const struct files *files, char kind, unsigned long calls)
{
	double ns[ROUNDS], wall_ns[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);

		for (unsigned long i = 0; i < calls; i++) {
			if (call(files, kind) >= 0)
				continue;
			perror("the system call that is measured");
			exit(1);
		}
		ns[round] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / (double)calls;
		wall_ns[round] = (double)(clock_ns(CLOCK_MONOTONIC) - wall) / (double)calls;
	}
	printf("%.2f %.2f\n", median(ns, ROUNDS), median(wall_ns, ROUNDS));
}

int main(void)
{
	struct files files = { open("/dev/zero", O_RDONLY), open("/dev/ptmx", O_RDWR | O_NOCTTY) };
	unsigned long calls;
	char line[64], kind[16];

	if (files.zero < 0 || files.terminal < 0) {
		perror("/dev/zero, /dev/ptmx");
		return 1;
	}
	pin(0);
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%15s %lu", kind, &calls) == 2 && calls && strchr("gri", kind[0]))
			answer(&files, kind[0], calls);
		else
			printf("?\n");
		fflush(stdout);
	}
	return 0;
}
