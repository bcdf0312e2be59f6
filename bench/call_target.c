/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_target.c - calls functions of libbench.so and prints the cost of a call.
 *
 *	KIND CALLS		CPU and wall nanoseconds of one call of bench_KIND
 *	rate KIND SECONDS	two threads call bench_KIND for that time: number of calls
 *
 * CPU time contains the kernel's work for a probe, without the time of other programs,
 * such as a tracer for which the call waits: that time is in the wall time. The
 * arguments are like those of a kernel launch: one of a few streams, a varying size.
 * Calls go through the PLT, which tracers inside the process need.
 *
 * With an argument the program makes no calls: it only maps that library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bench/target.h"

#define THREADS 2

#define KINDS(DO) DO(push) DO(nop5) DO(endbr64) DO(mov) DO(stepped) DO(exits)

/* Each function has its own loop, because a call through a pointer would bypass the PLT. */
#define DEFINE_CALLS(kind)                                       \
	int bench_##kind(void *stream, uint64_t bytes);          \
	static void call_##kind(uint64_t calls)                  \
	{                                                        \
		for (uint64_t i = 0; i < calls; i++)             \
			bench_##kind(streams[i & 3], 4096 * (i % 7)); \
	}

static char streams[4][64];

KINDS(DEFINE_CALLS)

struct caller {
	pthread_t thread;
	void (*call)(uint64_t calls);
	uint64_t end_ns;
	uint64_t calls;
};

static void (*find(const char *kind))(uint64_t calls)
{
#define COMPARE(name)               \
	if (!strcmp(kind, #name))   \
		return call_##name;
	KINDS(COMPARE)
	fprintf(stderr, "call_target: there is no kind %s\n", kind);
	exit(1);
}

static void measure(void (*call)(uint64_t calls), uint64_t calls)
{
	double cpu_ns[ROUNDS], wall_ns[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);

		call(calls);
		cpu_ns[round] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / (double)calls;
		wall_ns[round] = (double)(clock_ns(CLOCK_MONOTONIC) - wall) / (double)calls;
	}
	printf("%.2f %.2f\n", median(cpu_ns, ROUNDS), median(wall_ns, ROUNDS));
}

static void *call_until(void *context)
{
	struct caller *c = context;

	while (clock_ns(CLOCK_MONOTONIC) < c->end_ns) {
		c->call(1000);
		c->calls += 1000;
	}
	return NULL;
}

static void call_at_full_speed(void (*call)(uint64_t calls), unsigned int seconds)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + seconds * 1000000000ull, calls = 0;
	struct caller callers[THREADS];

	for (int i = 0; i < THREADS; i++) {
		callers[i] = (struct caller){ .call = call, .end_ns = end_ns };
		if (pthread_create(&callers[i].thread, NULL, call_until, &callers[i])) {
			fprintf(stderr, "call_target: cannot start a thread\n");
			exit(1);
		}
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(callers[i].thread, NULL);
		calls += callers[i].calls;
	}
	printf("%llu\n", (unsigned long long)calls);
}

int main(int argc, char **argv)
{
	bool mapped = argc < 2 || dlopen(argv[1], RTLD_NOW);
	cpu_set_t anywhere;
	char line[128], kind[64];
	unsigned long long n;

	if (!mapped || sched_getaffinity(0, sizeof(anywhere), &anywhere)) {
		fprintf(stderr, "call_target: %s\n", mapped ? "sched_getaffinity" : dlerror());
		return 1;
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "rate %63s %llu", kind, &n) == 2) {
			sched_setaffinity(0, sizeof(anywhere), &anywhere);
			call_at_full_speed(find(kind), n);
		} else if (sscanf(line, "%63s %llu", kind, &n) == 2 && n) {
			pin(0);
			measure(find(kind), n);
		} else {
			printf("?\n");
		}
		fflush(stdout);
	}
	return 0;
}
