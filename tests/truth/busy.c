/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.c - calls traced functions without pause from two threads and checks all
 * results, until it reads a line. Exits with 1 if any result was wrong.
 */
#include <stdbool.h>

#include "tests/truth/truth.h"

static bool stop;
static uint64_t calls, wrong;

static void *work(void *unused)
{
	uint64_t mine = 0, bad = 0, out;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		bad += truth_noop(mine) != 0;
		bad += truth_fail_every(mine % 10 + 1, 10) != (mine % 10 == 9 ? 7 : 0);
		bad += truth_outer(2) != 0;
		bad += (truth_make(mine & 1) != NULL) != (mine & 1);
		bad += truth_arguments("x", mine, &mine, 1, 2, 3, 77, &out) != 0;
		bad += out != mine + 77;
		mine++;
	}
	__atomic_fetch_add(&calls, mine * 7, __ATOMIC_RELAXED);
	__atomic_fetch_add(&wrong, bad, __ATOMIC_RELAXED);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	truth_ready();
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("calls=%llu\nwrong=%llu\ndone\n", (unsigned long long)calls, (unsigned long long)wrong);
	return wrong != 0;
}
