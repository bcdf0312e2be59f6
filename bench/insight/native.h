/* SPDX-License-Identifier: Apache-2.0 */
/* native.h - what planted jobs of Go and Java call: plant.h without pointers, and what a job prints. */
#ifndef PROFBPF_BENCH_INSIGHT_NATIVE_H
#define PROFBPF_BENCH_INSIGHT_NATIVE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plant.h"

static __thread struct plant_spell native_spell;
static __thread int native_told;

static inline void native_wait_line(void)
{
	char byte;

	while (read(0, &byte, 1) == 1 && byte != '\n')
		;
}

/* native_go - the job is ready: wait until it is traced */
static inline void native_go(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	native_wait_line();
	printf("main.tid=%ld\n", syscall(SYS_gettid));
	fflush(stdout);
}

/* native_begin, native_end - a spell of the calling thread's work; the thread has the fault unless @kind is PLANT_NOTHING */
static inline void native_begin(void)
{
	plant_begin(&native_spell);
}

static inline void native_end(int kind)
{
	plant_end(&native_spell, kind);
	if (kind == PLANT_NOTHING || native_told)
		return;
	native_told = 1;
	printf("root.tid=%ld\n", syscall(SYS_gettid));
	fflush(stdout);
}

static inline uint64_t native_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* native_done - print the truth and @expected, NAME=VALUE lines, and end */
static inline void native_done(const char *expected)
{
	printf("%s\n", expected);
	plant_print();
	printf("done\n");
	fflush(stdout);
	native_wait_line();
	_exit(0);
}

#endif /* PROFBPF_BENCH_INSIGHT_NATIVE_H */
