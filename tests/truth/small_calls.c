/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_calls.c - calls that do little, so that probes take most of the recorded time.
 *
 * The same rounds run before and after the answer to "ready": the first rounds, untraced,
 * give the time of a call by itself. Results are medians, to exclude other activity of the
 * machine.
 */
#include "tests/truth/truth.h"

#define ROUNDS 301
#define INNER 20 /* traced calls inside each call of truth_outer() */

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t median(uint64_t *ns)
{
	qsort(ns, ROUNDS, sizeof(*ns), compare);
	return ns[ROUNDS / 2];
}

/* Measures the nanoseconds of a call of truth_outer() and of truth_noop(). */
static void run(uint64_t *outer_ns, uint64_t *noop_ns)
{
	uint64_t outer[ROUNDS], noop[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC), middle;

		truth_outer(INNER);
		middle = clock_ns(CLOCK_MONOTONIC);
		for (int n = 0; n < INNER; n++)
			truth_noop(n);
		outer[i] = middle - start;
		noop[i] = (clock_ns(CLOCK_MONOTONIC) - middle) / INNER;
	}
	*outer_ns = median(outer);
	*noop_ns = median(noop);
}

int main(void)
{
	uint64_t outer_ns, noop_ns, traced_outer_ns, traced_noop_ns;

	run(&outer_ns, &noop_ns);
	truth_ready();
	run(&traced_outer_ns, &traced_noop_ns);
	printf("outer_ns=%llu\nnoop_ns=%llu\n", (unsigned long long)outer_ns,
	       (unsigned long long)noop_ns);
	printf("traced_outer_ns=%llu\ntraced_noop_ns=%llu\n", (unsigned long long)traced_outer_ns,
	       (unsigned long long)traced_noop_ns);
	truth_done();
	return 0;
}
