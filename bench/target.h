/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - shared by the measured programs (targets).
 *
 * A target prints "ready PID [PID]" and then answers each line on its standard
 * input with one line, until the input ends. So tracing can be switched on and
 * off between two measurements of the same running process.
 */
#ifndef PROFBPF_BENCH_TARGET_H
#define PROFBPF_BENCH_TARGET_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 5 /* of each measurement; the answer is their median */

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts)) {
		perror("clock_gettime");
		exit(1);
	}
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static inline double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[count / 2];
}

#endif /* PROFBPF_BENCH_TARGET_H */
