/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - functions that used the CPU, and stacks in which threads slept.
 *
 * A sample counts for the function that ran (self) and once for every function in its call chain
 * (total). Long sleeps are grouped by their whole stack. A sample lies in the window if its instant
 * does, a sleep if it begins there.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_STACKS_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_STACKS_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct stack_function {
	uint32_t name; /* string; 0 = unknown */
	uint32_t file; /* string: path, or source file of Python; 0 = none */
	uint8_t kind; /* Profbpf__Stacks__Kind */
	uint64_t self; /* samples in the function itself */
	uint64_t total; /* samples in it or in a function that it called */
};

struct stack_block {
	uint32_t stack; /* index into model->code_stacks or INDEX_NONE */
	uint32_t process; /* index into model->processes */
	uint64_t count;
	uint64_t total_ns;
	uint64_t max_ns;
};

/* A thread that slept when the stacks of all sleeping threads were last recorded. */
struct stack_sleeper {
	uint32_t thread; /* index into model->threads */
	uint32_t stack; /* index into model->code_stacks or INDEX_NONE */
	uint64_t ts_ns;
	bool whole; /* the stack reaches the start of the thread */
};

struct stack_results {
	uint64_t samples; /* number of samples on a CPU */
	uint64_t unknown; /* number of samples without a stack */
	uint64_t whole; /* number of samples that are known to reach the start of the thread */
	uint64_t with_lock, without_lock; /* samples with and without the Python interpreter's lock, where known */
	struct stack_function *functions; /* largest self first */
	uint32_t function_count;
	bool has_blocks; /* long sleeps were recorded */
	uint64_t blocks; /* their number */
	uint64_t block_ns;
	struct stack_block *blocked; /* longest sum first */
	uint32_t blocked_count;
	struct stack_sleeper *sleepers; /* by process and thread id */
	uint32_t sleeper_count;
};

/* stacks_analyse - fill @results. Returns 0 or -ENOMEM; in both cases stacks_free() is to be called */
int stacks_analyse(const struct model *model, const struct analysis_options *options,
		   struct stack_results *results);
void stacks_free(struct stack_results *results);

/*
 * frame_text - the name of a frame in reports and flame graphs
 *
 * "[unknown]" for a frame without a name. Returns @into.
 */
char *frame_text(const struct model *model, const struct code_frame *frame, char *into,
		 size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_STACKS_H */
