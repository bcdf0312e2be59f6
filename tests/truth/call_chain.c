/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_chain.c - a known chain of calls that uses the CPU at one place, and one that
 * sleeps a known number of times at another; and code made at run time, which the
 * program's own perf map names.
 *
 * Compiled with frame pointers. System calls are made inline and not through libc,
 * which has no frame pointers. noipa keeps functions and calls as written.
 */
#include <string.h>
#include <sys/mman.h>

#include "tests/truth/system_call.h"
#include "tests/truth/truth.h"

#define DEPTH 7
#define SLEEPS 20
#define SHORT_SLEEPS 50
#define LONG_NS 50000000l
#define SHORT_NS 20000l
#define PIPE_BYTES 65536 /* capacity of the pipe */
#define WRITE_SLEEPS 20
#define DRAIN_NS 8000000l

__attribute__((noipa)) static void spin_here(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 100000; i++)
			;
	NOT_A_LEAF;
}

__attribute__((noipa)) static void descend(int depth, uint64_t ns)
{
	if (depth > 1)
		descend(depth - 1, ns);
	else
		spin_here(ns);
	NOT_A_LEAF;
}

static inline __attribute__((always_inline)) void system_sleep(long ns)
{
	const struct timespec time = { 0, ns };

	system_call(SYS_nanosleep, (long)&time, 0, 0);
}

__attribute__((noipa)) static void block_here(long ns)
{
	system_sleep(ns);
	NOT_A_LEAF;
}

__attribute__((noipa)) static void block_shortly(long ns)
{
	system_sleep(ns);
	NOT_A_LEAF;
}

__attribute__((noipa)) static void block_outer(int times, long ns)
{
	for (int i = 0; i < times; i++)
		block_here(ns);
	NOT_A_LEAF;
}

/* Its frame is larger than the part of a stack that is read at once. */
__attribute__((noipa)) static void block_far(int times, long ns)
{
	volatile char room[8192];

	room[0] = room[sizeof(room) - 1] = 1;
	block_outer(times, ns);
	NOT_A_LEAF;
}

static char written[PIPE_BYTES * (WRITE_SLEEPS + 1)];

/* Empties the pipe at intervals: its writer sleeps each time, and continues in the same call. */
static void *drain(void *argument)
{
	static char bytes[PIPE_BYTES];

	for (size_t taken = 0; taken < sizeof(written);) {
		ssize_t n;

		sleep_ns(DRAIN_NS);
		n = read(*(int *)argument, bytes, sizeof(bytes));
		if (n <= 0)
			break;
		taken += (size_t)n;
	}
	return NULL;
}

/* One system call, many sleeps. */
__attribute__((noipa)) static void block_in_write(int fd)
{
	system_call(SYS_write, fd, (long)written, sizeof(written));
	NOT_A_LEAF;
}

static int block_in_one_call(void)
{
	pthread_t reader;
	int ends[2];

	if (pipe(ends) || pthread_create(&reader, NULL, drain, &ends[0]))
		return 1;
	block_in_write(ends[1]);
	return pthread_join(reader, NULL);
}

/* A loop of a given number of rounds. Position-independent and without calls. */
#if defined(__x86_64__)
static const unsigned char machine_code[] = {
	0x55,			/* push %rbp */
	0x48, 0x89, 0xe5,	/* mov %rsp,%rbp */
	0x48, 0xff, 0xcf,	/* 1: dec %rdi */
	0x75, 0xfb,		/* jne 1b */
	0x5d,			/* pop %rbp */
	0xc3,			/* ret */
};
#else
static const unsigned int machine_code[] = {
	0xa9bf7bfd,	/* stp x29, x30, [sp, #-16]! */
	0x910003fd,	/* mov x29, sp */
	0xf1000400,	/* 1: subs x0, x0, #1 */
	0x54ffffe1,	/* b.ne 1b */
	0xa8c17bfd,	/* ldp x29, x30, [sp], #16 */
	0xd65f03c0,	/* ret */
};
#endif

typedef void loop(uint64_t rounds);

static loop *make_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	if (page == MAP_FAILED)
		return NULL;
	memcpy(page, machine_code, sizeof(machine_code));
	__builtin___clear_cache(page, (char *)page + sizeof(machine_code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		return NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		return NULL;
	fprintf(map, "%lx %zx py::generated_loop:/made/up.py\n", (unsigned long)page,
		sizeof(machine_code));
	fclose(map);
	return page;
}

__attribute__((noipa)) static void run_generated(loop *code, uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (code && clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		code(1000000);
	NOT_A_LEAF;
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	loop *code = make_code();
	uint64_t begin;
	char path[64];
	int failures;
	long slept;

	truth_ready();
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	descend(DEPTH, ms * 1000000);
	printf("depth=%d\nspin_ns=%llu\n", DEPTH,
	       (unsigned long long)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin));
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	run_generated(code, ms * 500000);
	printf("generated_ns=%llu\n",
	       (unsigned long long)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin));
	slept = -own_sleeps();
	block_far(SLEEPS, LONG_NS);
	slept += own_sleeps();
	for (int i = 0; i < SHORT_SLEEPS; i++)
		block_shortly(SHORT_NS);
	printf("sleeps=%ld\nsleep_ns=%ld\n", slept < SLEEPS ? slept : SLEEPS, LONG_NS);
	failures = block_in_one_call();
	printf("write_sleeps=%d\n", WRITE_SLEEPS);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	truth_done();
	return failures;
}
