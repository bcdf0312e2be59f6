/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - 200 short-lived threads, and one thread that is named late. */
#include "tests/truth/truth.h"

#define SHORT_THREADS 200
#define BURN_NS 1000000ull

static uint64_t cpu_ns, late_ns;

static void *short_lived(void *unused)
{
	burn(BURN_NS);
	__atomic_fetch_add(&cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
	return NULL;
}

static void *named_late(void *unused)
{
	sleep_ns(200000000);
	pthread_setname_np(pthread_self(), "named-late");
	burn(20000000);
	late_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

int main(void)
{
	pthread_t thread, late;

	truth_ready();
	pthread_create(&late, NULL, named_late, NULL);
	for (int i = 0; i < SHORT_THREADS; i++) {
		pthread_create(&thread, NULL, short_lived, NULL);
		pthread_join(thread, NULL);
	}
	pthread_join(late, NULL);
	printf("threads=%d\ncpu_ns=%llu\nlate_ns=%llu\n", SHORT_THREADS, (unsigned long long)cpu_ns,
	       (unsigned long long)late_ns);
	report_ended_threads();
	truth_done();
	return 0;
}
