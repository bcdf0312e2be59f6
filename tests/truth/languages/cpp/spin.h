// SPDX-License-Identifier: Apache-2.0
/* spin.h - work that keeps a thread on a CPU, in functions without frame pointers that the compiler may not merge. */
#ifndef PROFBPF_TESTS_TRUTH_LANGUAGES_CPP_SPIN_H
#define PROFBPF_TESTS_TRUTH_LANGUAGES_CPP_SPIN_H

#include <stdint.h>
#include <time.h>

#define NOIPA __attribute__((noipa))

/* To be written behind a call, which is then no tail call: the caller's frame is there meanwhile. */
static volatile uint64_t sink;

/* The CPU time of the calling thread, also of what it ran before execve(). */
static uint64_t cpu_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Leaves the frame pointer's register holding anything. */
NOIPA static void spin(uint64_t until_ns)
{
	while (cpu_ns() < until_ns) {
		uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

		for (int i = 0; i < 100000; i++) {
			a = a * 5 + f;
			b ^= a;
			c += b << 3;
			d = d * 3 + c;
			e ^= d >> 2;
			f += e;
		}
		sink = a + b + c + d + e + f;
	}
}

#endif /* PROFBPF_TESTS_TRUTH_LANGUAGES_CPP_SPIN_H */
