/* SPDX-License-Identifier: Apache-2.0 */
#include "device/clock_pair.h"

#include <pthread.h>
#include <time.h>

#define READINGS 5

/* Readings of both clocks at the same instant. */
struct comparison {
	uint64_t other_ns, monotonic_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct comparison older, newer; /* under lock */

uint64_t clock_pair_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Returns the reading with the closest bounds of several, since the thread may lose its CPU between two clocks. */
static bool read_both(uint64_t (*read_clock)(void), struct comparison *now)
{
	uint64_t before, other, after, best = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		before = clock_pair_monotonic();
		other = read_clock();
		after = clock_pair_monotonic();
		if (!other || after - before >= best)
			continue;
		best = after - before;
		*now = (struct comparison){ other, before + best / 2 };
	}
	return best != UINT64_MAX;
}

void clock_pair_compare(uint64_t (*read_clock)(void))
{
	struct comparison now;

	if (!read_both(read_clock, &now))
		return;
	pthread_mutex_lock(&lock);
	older = newer;
	newer = now;
	pthread_mutex_unlock(&lock);
}

uint64_t clock_pair_to_monotonic(uint64_t other_ns)
{
	struct comparison a, b;
	double rate = 1;

	pthread_mutex_lock(&lock);
	a = older;
	b = newer;
	pthread_mutex_unlock(&lock);
	if (!b.other_ns)
		return 0;
	if (a.other_ns && b.other_ns > a.other_ns)
		rate = (double)(b.monotonic_ns - a.monotonic_ns) /
		       (double)(b.other_ns - a.other_ns);
	return b.monotonic_ns +
	       (uint64_t)(int64_t)((double)(int64_t)(other_ns - b.other_ns) * rate);
}
