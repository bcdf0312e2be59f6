/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpose.c - the cheapest possible tracer: loaded into the process with LD_PRELOAD, it interposes
 * the functions of libbench.so, reads the clock twice and writes 64 bytes into a memory buffer that it
 * overwrites from the start when full. It needs the program's cooperation, or a restart, and dynamic linking;
 * its records are not read. A lower bound for tracers inside the process.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RECORDS (1u << 16) /* 4 MiB */

struct record {
	uint64_t start_ns;
	uint64_t dur_ns;
	uint64_t function;
	uint64_t result;
	uint64_t args[4];
};

static __thread struct record *records;
static __thread uint32_t next;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static struct record *next_record(void)
{
	if (!records)
		records = calloc(RECORDS, sizeof(*records));
	return records ? &records[next++ % RECORDS] : NULL;
}

static void *original(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "interpose: nothing is called %s\n", name);
		abort();
	}
	return function;
}

#define INTERPOSE(kind)                                                                       \
	int bench_##kind(void *stream, uint64_t bytes);                                       \
	int bench_##kind(void *stream, uint64_t bytes)                                        \
	{                                                                                     \
		static int (*inner)(void *stream, uint64_t bytes);                            \
		uint64_t start_ns, dur_ns;                                                    \
		struct record *record;                                                        \
		int result;                                                                   \
                                                                                              \
		if (!inner)                                                                   \
			inner = (int (*)(void *, uint64_t))original("bench_" #kind);          \
		start_ns = now_ns();                                                          \
		result = inner(stream, bytes);                                                \
		dur_ns = now_ns() - start_ns;                                                 \
		record = next_record();                                                       \
		if (record)                                                                   \
			*record = (struct record){ start_ns, dur_ns, (uintptr_t)inner,        \
						   (uint64_t)result,                          \
						   { (uintptr_t)stream, bytes } };            \
		return result;                                                                \
	}

INTERPOSE(push)
INTERPOSE(nop5)
INTERPOSE(endbr64)
INTERPOSE(mov)
INTERPOSE(stepped)
INTERPOSE(exits)
