/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_target.c - calls functions of libbench.so and says what a call cost.
 *
 *	KIND CALLS		CPU nanoseconds of one call of bench_KIND
 *	rate KIND SECONDS	two threads call bench_KIND all that time: calls made
 *
 * CPU time contains all that the kernel does for a probe and leaves out the time
 * that other programs took away. The arguments are those of a kernel launch: one
 * of a few streams, a size that varies.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bench/target.h"

#define THREADS 2

typedef int function(void *stream, uint64_t bytes);

struct caller {
	pthread_t thread;
	function *function;
	uint64_t end_ns;
	uint64_t calls;
};

static char streams[4][64];

static function *find(void *library, const char *kind)
{
	char name[64];
	function *f;

	snprintf(name, sizeof(name), "bench_%s", kind);
	f = (function *)dlsym(library, name);
	if (!f) {
		fprintf(stderr, "call_target: libbench.so has no %s\n", name);
		exit(1);
	}
	return f;
}

static void call(function *f, uint64_t calls)
{
	for (uint64_t i = 0; i < calls; i++)
		f(streams[i & 3], 4096 * (i % 7));
}

static void measure(function *f, uint64_t calls)
{
	double ns[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		call(f, calls);
		ns[round] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)calls;
	}
	printf("%.2f\n", median(ns, ROUNDS));
}

static void *call_until(void *context)
{
	struct caller *c = context;

	while (clock_ns(CLOCK_MONOTONIC) < c->end_ns) {
		call(c->function, 1000);
		c->calls += 1000;
	}
	return NULL;
}

static void call_at_full_speed(function *f, unsigned int seconds)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + seconds * 1000000000ull, calls = 0;
	struct caller callers[THREADS];

	for (int i = 0; i < THREADS; i++) {
		callers[i] = (struct caller){ .function = f, .end_ns = end_ns };
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
	void *library = dlopen(argc > 1 ? argv[1] : "libbench.so", RTLD_NOW);
	cpu_set_t anywhere;
	char line[128], kind[64];
	unsigned long long n;

	if (!library || sched_getaffinity(0, sizeof(anywhere), &anywhere)) {
		fprintf(stderr, "call_target: %s\n", library ? "sched_getaffinity" : dlerror());
		return 1;
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "rate %63s %llu", kind, &n) == 2) {
			sched_setaffinity(0, sizeof(anywhere), &anywhere);
			call_at_full_speed(find(library, kind), n);
		} else if (sscanf(line, "%63s %llu", kind, &n) == 2 && n) {
			pin(0);
			measure(find(library, kind), n);
		} else {
			printf("?\n");
		}
		fflush(stdout);
	}
	return 0;
}
