/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - the parts of make_random. */
#ifndef PROFBPF_TESTS_TOOLS_RANDOM_H
#define PROFBPF_TESTS_TOOLS_RANDOM_H

#include <stdbool.h>

#include "tests/tools/every.h"

#define UNIT 50000ull /* ns: all instants are multiples of it, since START */
#define TICKS 12000 /* of the session, in units */
#define CPUS 3
#define THREADS 9
#define DEPTH 3
#define DEVICES 3
#define ROWS 150 /* rows of a packet */
#define GROUPS 3 /* groups of processes */

enum state { ASLEEP, READY, RUNNING };

struct who {
	uint32_t tgid, tid;
	const char *name;
	uint32_t flags; /* Tasks.Flag: 1 a target, 2 of the kernel */
};

extern const struct who WHO[THREADS];

struct open_call {
	uint32_t function; /* row of FUNCTIONS */
	uint64_t start_ns, args[3];
	const char *text;
};

struct thread {
	enum state state;
	uint32_t cpu; /* current CPU, or the last one */
	uint64_t since_ns, run_ns, ready_ns;
	struct open_call calls[DEPTH];
	uint32_t depth;
	uint64_t switches, preempted;
};

/* Columns of interrupts, faults or block requests, written when they are full. */
struct rows {
	uint32_t count;
	int64_t ts_ns[ROWS]; /* each minus the one before */
	uint64_t last_ns, dur_ns[ROWS], number[ROWS];
	uint32_t tid[ROWS], tgid[ROWS], flags[ROWS], bytes[ROWS], rdev[ROWS];
};

/* Columns of stack samples, written in the same way. */
struct samples {
	uint32_t count;
	int64_t ts_ns[ROWS];
	uint64_t last_ns, dur_ns[ROWS];
	uint32_t tid[ROWS], tgid[ROWS], stack[ROWS], flags[ROWS], waker[ROWS];
};

struct group {
	uint64_t periods, throttled_periods, throttled_ns, usage_ns;
};

struct world {
	struct trace_builder *b;
	uint64_t chance;
	uint64_t now_ns;
	struct thread threads[THREADS];
	uint32_t on_cpu[CPUS]; /* thread + 1; 0 = idle */
	uint64_t free_ns[DEVICES][2]; /* end of the last task of each stream */
	uint64_t correlation;
	uint64_t busy_ns[CPUS];
	uint32_t produced[6]; /* number of records of each source */
	struct rows interrupts, faults, requests;
	struct samples samples;
	struct group groups[GROUPS];
	uint64_t rows_of_groups[4][GROUPS];
	bool devices; /* the trace has their tasks */
	uint64_t handles;
	uint64_t taken[3], put[3]; /* elements of the data pipeline, by thread */
};

/* Uses its own generator, because rand() differs between systems. */
static inline uint32_t up_to(struct world *w, uint32_t limit)
{
	w->chance = w->chance * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((w->chance >> 33) % limit);
}

/* Adds an action of the kernel for a thread: an interrupt, a page fault, or a request to a disk. */
void random_kernel(struct world *w, uint32_t who);

/* Writes the remaining rows. */
void random_kernel_end(struct world *w);

/* Adds code and groups; records for a thread that runs or has slept; records at intervals, and at the end. */
void random_code_begin(struct world *w);
void random_code_runs(struct world *w, uint32_t who);
void random_code_slept(struct world *w, uint32_t who, uint64_t ns);
void random_code_figures(struct world *w, bool first, bool final);
void random_code_end(struct world *w);

#endif /* PROFBPF_TESTS_TOOLS_RANDOM_H */
