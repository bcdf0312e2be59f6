/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.c - threads with known CPU time, sleeps, lock waits and preemption.
 *
 * Each thread prints its CPU time and switches as the kernel counts them
 * (CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD) just before it ends.
 */
#include "tests/truth/truth.h"

#define HOLD_NS 300000000ull
#define BURN_NS 400000000ull
#define SLEEPS 50
#define SLEEP_NS 10000000ull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t print = PTHREAD_MUTEX_INITIALIZER;

static void report(const char *name)
{
	struct rusage u;

	pthread_mutex_lock(&print);
	getrusage(RUSAGE_THREAD, &u);
	printf("%s.tid=%d\n%s.cpu_ns=%llu\n%s.voluntary=%ld\n%s.involuntary=%ld\n", name, own_tid(),
	       name, (unsigned long long)clock_ns(CLOCK_THREAD_CPUTIME_ID), name, u.ru_nvcsw, name,
	       u.ru_nivcsw);
	pthread_mutex_unlock(&print);
}

static void *burner(void *unused)
{
	pthread_setname_np(pthread_self(), "burner");
	burn(BURN_NS);
	report("burner");
	return NULL;
}

static void *sleeper(void *unused)
{
	uint64_t start, slept = 0;

	pthread_setname_np(pthread_self(), "sleeper");
	for (int i = 0; i < SLEEPS; i++) {
		start = clock_ns(CLOCK_MONOTONIC);
		sleep_ns(SLEEP_NS);
		slept += clock_ns(CLOCK_MONOTONIC) - start;
	}
	report("sleeper");
	printf("sleeper.slept_ns=%llu\n", (unsigned long long)slept);
	return NULL;
}

static void *holder(void *unused)
{
	pthread_setname_np(pthread_self(), "holder");
	pthread_mutex_lock(&lock);
	sleep_ns(HOLD_NS);
	pthread_mutex_unlock(&lock);
	report("holder");
	return NULL;
}

static void *waiter(void *unused)
{
	uint64_t start, slept, waited;

	pthread_setname_np(pthread_self(), "waiter");
	start = clock_ns(CLOCK_MONOTONIC);
	sleep_ns(50000000);
	slept = clock_ns(CLOCK_MONOTONIC) - start;
	start = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&lock);
	waited = clock_ns(CLOCK_MONOTONIC) - start;
	pthread_mutex_unlock(&lock);
	report("waiter");
	printf("waiter.slept_ns=%llu\nwaiter.waited_ns=%llu\n", (unsigned long long)slept,
	       (unsigned long long)waited);
	return NULL;
}

/* Two threads that want the same CPU: each preempts the other. */
static void *victim(void *unused)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), wall;

	pthread_setname_np(pthread_self(), "victim");
	pin(0);
	burn(BURN_NS);
	wall = clock_ns(CLOCK_MONOTONIC) - start;
	report("victim");
	printf("victim.wall_ns=%llu\n", (unsigned long long)wall);
	return NULL;
}

static void *thief(void *unused)
{
	pthread_setname_np(pthread_self(), "thief");
	pin(0);
	burn(BURN_NS);
	report("thief");
	return NULL;
}

int main(void)
{
	void *(*const works[])(void *) = { sleeper, holder, waiter };
	void *(*const pair[])(void *) = { victim, thief };
	pthread_t threads[3];

	truth_ready();
	pthread_create(&threads[0], NULL, burner, NULL);
	pthread_join(threads[0], NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, works[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, pair[i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	truth_done();
	return 0;
}
