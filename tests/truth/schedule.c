/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.c - threads with known CPU time, sleeps, lock waits and preemption.
 *
 * Each thread prints its CPU time, its switches and its time of waiting for a CPU as the kernel
 * counts them (CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD, schedstat) just before it ends, and when it
 * began and ended; the main thread prints the bounds of each thread's lifetime, and the usage of
 * all ended threads.
 */
#include <stdatomic.h>

#include "tests/truth/truth.h"

#define BURN_NS 400000000ull
#define SLEEPS 50
#define SLEEP_NS 10000000ull
#define HANDOVERS 10
#define HOLD_NS 30000000ull
#define POLL_NS 2000000ull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t print = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start_line;

/* Counts: the holder took the lock (held), the waiter asked for it (asked), the waiter had it (had). */
static atomic_int held, asked, had, waiter_tid;
static atomic_long waiter_sleeps; /* of the waiter before it asks */

/* A thread. The main thread sets created, the thread itself begun; both are CLOCK_MONOTONIC. */
struct work {
	const char *name;
	void *(*run)(void *work);
	pthread_t thread;
	uint64_t created, begun;
	atomic_int tid;
};

static uint64_t waited_for_cpu(void)
{
	unsigned long long run, runnable = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", own_tid());
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu %llu", &run, &runnable) != 2)
		perror(path);
	if (file)
		fclose(file);
	return runnable;
}

static void report(const struct work *work)
{
	const char *name = work->name;
	uint64_t runnable;
	struct rusage u;

	pthread_mutex_lock(&print);
	runnable = waited_for_cpu();
	getrusage(RUSAGE_THREAD, &u);
	printf("%s.tid=%d\n%s.cpu_ns=%llu\n%s.voluntary=%ld\n%s.involuntary=%ld\n", name, own_tid(),
	       name, (unsigned long long)clock_ns(CLOCK_THREAD_CPUTIME_ID), name, u.ru_nvcsw, name,
	       u.ru_nivcsw);
	printf("%s.runnable_ns=%llu\n%s.inner_ns=%llu\n", name, (unsigned long long)runnable, name,
	       (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - work->begun));
	pthread_mutex_unlock(&print);
}

static void begin(struct work *work)
{
	work->begun = clock_ns(CLOCK_MONOTONIC);
	work->tid = own_tid();
	pthread_setname_np(pthread_self(), work->name);
}

static void *burner(void *work)
{
	begin(work);
	burn(BURN_NS);
	report(work);
	return NULL;
}

static void *sleeper(void *work)
{
	begin(work);
	for (int i = 0; i < SLEEPS; i++)
		sleep_ns(SLEEP_NS);
	report(work);
	return NULL;
}

static void *holder(void *work)
{
	begin(work);
	for (int i = 1; i <= HANDOVERS; i++) {
		pthread_mutex_lock(&lock);
		held = i;
		while (asked < i || !is_asleep(getpid(), waiter_tid, waiter_sleeps))
			sleep_ns(POLL_NS);
		sleep_ns(HOLD_NS);
		pthread_mutex_unlock(&lock);
		while (had < i)
			sleep_ns(POLL_NS);
	}
	report(work);
	return NULL;
}

static void *waiter(void *work)
{
	begin(work);
	waiter_tid = own_tid();
	for (int i = 1; i <= HANDOVERS; i++) {
		while (held < i)
			sleep_ns(POLL_NS);
		waiter_sleeps = own_sleeps();
		asked = i;
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		had = i;
	}
	report(work);
	return NULL;
}

/* Two threads compete for the same CPU: each preempts the other. */
static void *compete(void *work)
{
	begin(work);
	pin(first_cpu());
	pthread_barrier_wait(&start_line);
	burn(BURN_NS);
	report(work);
	return NULL;
}

/* Waits until the kernel no longer knows a thread: it can be joined before its last switch. */
static void until_gone(int tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
	while (!access(path, F_OK))
		sleep_ns(POLL_NS / 10);
}

/* Runs @count threads at the same time, and joins them in order: list the last to end last. */
static void run(struct work *works, int count)
{
	for (int i = 0; i < count; i++) {
		works[i].created = clock_ns(CLOCK_MONOTONIC);
		pthread_create(&works[i].thread, NULL, works[i].run, &works[i]);
	}
	for (int i = 0; i < count; i++) {
		pthread_join(works[i].thread, NULL);
		until_gone(works[i].tid);
		printf("%s.outer_ns=%llu\n", works[i].name,
		       (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - works[i].created));
	}
}

int main(void)
{
	struct work alone[] = { { .name = "burner", .run = burner } };
	struct work together[] = { { .name = "holder", .run = holder },
				   { .name = "waiter", .run = waiter },
				   { .name = "sleeper", .run = sleeper } };
	struct work rivals[] = { { .name = "victim", .run = compete },
				 { .name = "thief", .run = compete } };

	truth_ready();
	pthread_barrier_init(&start_line, NULL, 2);
	run(alone, 1);
	run(together, 3);
	run(rivals, 2);
	report_ended_threads();
	printf("handovers=%d\ncpu=%d\n", HANDOVERS, first_cpu());
	truth_done();
	return 0;
}
