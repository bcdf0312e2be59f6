/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_target.c - a thread on each CPU runs at a known depth of calls, for each line "FRAMES MILLISECONDS". When they
 * have used that much CPU time, the program prints the CPU time of all threads together, in milliseconds.
 *
 * Compiled with frame pointers, so that walks by frame pointers and by tables see the same frames.
 */
#include <pthread.h>
#include <unistd.h>

#include "bench/target.h"

#define CPUS_MAX 256

struct worker {
	pthread_t thread;
	int cpu;
	unsigned long frames;
	uint64_t ns, ran_ns;
};

static volatile uint64_t sink;

static __attribute__((noinline)) void spin(uint64_t until_ns)
{
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		for (uint64_t i = 0; i < 100000; i++)
			sink += i;
}

static __attribute__((noinline)) void chain(unsigned long frames, uint64_t until_ns)
{
	if (frames)
		chain(frames - 1, until_ns);
	else
		spin(until_ns);
	sink++; /* after the call, so that it is no tail call: each call has its frame */
}

static void *work(void *context)
{
	struct worker *w = context;

	pin(w->cpu);
	chain(w->frames, w->ns);
	w->ran_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

int main(void)
{
	static struct worker workers[CPUS_MAX];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long frames, ms;
	char line[64];

	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t ran_ns = 0;

		if (sscanf(line, "%lu %lu", &frames, &ms) != 2)
			return 2;
		for (int i = 0; i < cpus && i < CPUS_MAX; i++) {
			workers[i] = (struct worker){ .cpu = i, .frames = frames, .ns = ms * 1000000ull };
			if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
				return 1;
		}
		for (int i = 0; i < cpus && i < CPUS_MAX; i++) {
			pthread_join(workers[i].thread, NULL);
			ran_ns += workers[i].ran_ns;
		}
		printf("%.1f\n", (double)ran_ns / 1e6);
		fflush(stdout);
	}
	return 0;
}
