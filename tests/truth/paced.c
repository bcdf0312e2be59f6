/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paced.c - one call each PAUSE_US (default 500), numbered from 1, until it reads a line: the first number, the last
 * and the count show the content of a recording. With a second argument there is a launch with each call.
 */
#include <poll.h>

#include "tests/truth/truth.h"

#define NEVER (1 << 30)

int main(int argc, char **argv)
{
	uint64_t pause_ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 500) * 1000, wrong = 0;
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int number = 0;

	/* One line of input begins the calls, the next ends them: neither may be read ahead into a buffer. */
	setvbuf(stdin, NULL, _IONBF, 0);
	truth_ready();
	printf("going\n");
	fflush(stdout);
	while (!poll(&input, 1, 0)) {
		wrong += truth_fail_every(++number, NEVER) != 0;
		if (argc > 2)
			wrong += truth_noop(number) != 0;
		sleep_ns(pause_ns);
	}
	wait_line();
	printf("calls=%d\nwrong=%llu\n", number, (unsigned long long)wrong);
	truth_done();
	return wrong != 0;
}
