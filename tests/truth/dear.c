/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dear.c - two threads on one CPU pass a byte back and forth as fast as they can, until a line is read, and then a
 * hundred times a second, until the next line. Prints the counts of each part.
 */
#include <poll.h>
#include <sched.h>

#include "tests/truth/truth.h"

#define MOST_NS 60000000000ull /* longest time of each part, without a line of input */
#define CALM_PAUSE_NS 10000000ull
#define ROUNDS_UNTIL_LOOK 64 /* fast rounds between checks of the input */

static int there[2], back[2];

static void *answer(void *unused)
{
	char byte;

	while (read(there[0], &byte, 1) == 1)
		if (write(back[1], &byte, 1) != 1)
			break;
	return unused;
}

/* Checks for input without sleeping. */
static bool told_to_go_on(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	char byte;

	return poll(&input, 1, 0) > 0 && read(0, &byte, 1) >= 0;
}

/* Returns the number of round trips of the byte. */
static long play(uint64_t pause_ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + MOST_NS;
	char byte = 1;
	long rounds;

	for (rounds = 0; clock_ns(CLOCK_MONOTONIC) < end; rounds++) {
		if ((pause_ns || !(rounds % ROUNDS_UNTIL_LOOK)) && told_to_go_on())
			break;
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(1);
		if (pause_ns)
			sleep_ns(pause_ns);
	}
	return rounds;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

int main(void)
{
	pthread_t thread;
	cpu_set_t one;
	long hot, calm, before;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back) ||
	    pthread_create(&thread, NULL, answer, NULL))
		return 1;
	truth_ready();
	before = switches();
	printf("hot_ns=%llu\n", (unsigned long long)clock_ns(CLOCK_MONOTONIC));
	hot = play(0);
	printf("calm_ns=%llu\n", (unsigned long long)clock_ns(CLOCK_MONOTONIC));
	calm = play(CALM_PAUSE_NS);
	printf("end_ns=%llu\nhot=%ld\ncalm=%ld\n", (unsigned long long)clock_ns(CLOCK_MONOTONIC), hot, calm);
	printf("switches=%ld\n", switches() - before);
	close(there[1]);
	pthread_join(thread, NULL);
	truth_done();
	return 0;
}
