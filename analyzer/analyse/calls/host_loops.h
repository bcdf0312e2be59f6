/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_loops.h - the loop that a host runs: where each of its turns begins, by what it called.
 *
 * By marks of the program (step_names.h) if there are any, else by what loop_find.h says of its calls that
 * submit work; of a process that submits none, as training on a CPU, of all that was traced. What one
 * thread of a process does is a loop of its own where all of them together have none.
 *
 * Where only rows of a part of the time were loaded, loops without marks are looked for in what was loaded, and their turns
 * counted from there.
 *
 * A turn begins with its mark, or the copy to the device that feeds it, if that is before with no other work in
 * between. It ends with its mark's range, if that has one, else where the next one begins.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_HOST_LOOPS_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_HOST_LOOPS_H

#include <stdint.h>

#include "analyzer/analyse/calls/loop_find.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct host_turn {
	uint64_t number; /* as the mark counts, else from 0 */
	uint64_t start_ns;
	uint64_t end_ns;
};

struct host_loop {
	uint32_t process; /* index into model->processes */
	uint32_t thread; /* whose it is; INDEX_NONE: of all threads of the process */
	uint8_t evidence; /* enum loop_evidence */
	double confidence; /* percent */
	uint32_t first; /* turns[first .. first + count), by start */
	uint32_t count;
};

struct host_loops {
	MODEL_ARRAY(struct host_loop) loops;
	MODEL_ARRAY(struct host_turn) turns;
	uint32_t main; /* the loop with most turns; INDEX_NONE = there is none */
};

/*
 * host_loops_find - fill @loops, of processes that are wanted
 *
 * Needs names of what was launched. Returns 0 or -ENOMEM; in both cases host_loops_free() is to be called.
 */
int host_loops_find(const struct model *model, const struct analysis_options *options,
		    struct host_loops *loops);
void host_loops_free(struct host_loops *loops);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_HOST_LOOPS_H */
