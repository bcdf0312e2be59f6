/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.h - shared by the programs whose every call, switch and nanosecond is known.
 *
 * A program prints "ready PID", waits for a line on standard input, does its work,
 * prints its results as NAME=VALUE lines, prints "done", and waits for another line
 * (or the end of input) before it exits.
 */
#ifndef PROFBPF_TRUTH_H
#define PROFBPF_TRUTH_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* clang's substitute for gcc's attribute that keeps a function and its calls as written. */
#ifdef __clang__
#define noipa noinline, optnone
#endif

/* libtruth.so, catalog truth.catalog */
int truth_noop(int value);
int truth_fail_every(int n, int every);
int truth_count(int n); /* returns it */
int truth_smash(void); /* never returns, if compiled with a stack protector */
void *truth_make(int wanted);
int truth_sleep(unsigned int us);
int truth_outer(int inner_calls);
int truth_inner(int value);
int truth_recurse(int depth);
int truth_arguments(const char *name, uint64_t bytes, void *stream, int d, int e, int f, uint64_t g,
		    uint64_t *out);
int truth_block(int fd);

/* Keeps its name until it is named again, according to the catalog. */
struct truth_named {
	uint64_t reserved;
	const char *name;
};

void truth_name(struct truth_named *object, const char *name);
int truth_named(struct truth_named *object, uint64_t number);

/* Ends with a tail call of the object's own function, which sleeps 1 ms, and fails with 7 in every @every-th call. */
struct truth_methods {
	int (*reserved)(void);
	int (*run)(void *object, int n, int every);
};

struct truth_object {
	const struct truth_methods *methods;
};

int truth_method(struct truth_object *object, int n, int every);
struct truth_object *truth_keeper(void);
int truth_pass(struct truth_object *object); /* goes on in its method, which returns 1; no value is an error */
int truth_borrow(struct truth_object *object); /* the same, and 1 is an error */
int truth_dropped(struct truth_object *object, int n, int every); /* the same; its methods are not in memory */
struct truth_object *truth_object(void);

int truth_second(int value);	/* in libtruth2.so, loaded by dlopen only */

static inline int own_tid(void)
{
	return syscall(SYS_gettid);
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Keeps the CPU busy until this thread has used @ns of CPU time. */
static inline void burn(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec ts = { ns / 1000000000ull, ns % 1000000000ull };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts))
		;
}

static inline void wait_line(void)
{
	int c;

	while ((c = getchar()) != EOF && c != '\n')
		;
}

static inline void truth_ready(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	wait_line();
}

static inline void truth_done(void)
{
	printf("done\n");
	fflush(stdout);
	wait_line();
}

/* Returns the number of sleeps of the calling thread. */
static inline long own_sleeps(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

/* Returns whether the thread @tid of process @pid is really asleep, not only about to sleep: its number of sleeps
 * exceeds @sleeps. */
static inline bool is_asleep(int pid, int tid, long sleeps)
{
	char path[64], line[128], state = 0;
	long voluntary = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "voluntary_ctxt_switches: %ld", &voluntary);
	}
	if (file)
		fclose(file);
	return state == 'S' && voluntary > sleeps;
}

/* Prints the usage of the ended threads of the process, their exit included, by the kernel's sums: the usage of the
 * process without that of the calling thread, the only one left. */
static inline void report_ended_threads(void)
{
	struct rusage own, all;
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	getrusage(RUSAGE_THREAD, &own);
	getrusage(RUSAGE_SELF, &all);
	printf("ended.cpu_ns=%llu\nended.voluntary=%ld\nended.involuntary=%ld\n",
	       (unsigned long long)cpu, all.ru_nvcsw - own.ru_nvcsw, all.ru_nivcsw - own.ru_nivcsw);
}

/* Returns the first CPU that this process may use. */
static inline int first_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
}

#endif /* PROFBPF_TRUTH_H */
