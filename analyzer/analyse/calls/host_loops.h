/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_loops.h - the loop that a host process runs, and the start of each of its turns, from its calls.
 *
 * Found by marks of the program (step_names.h) if there are any, else by loop_find.h from the calls that submit work;
 * in a process that submits none, as in training on a CPU, from all traced calls. If the loop of all threads of a
 * process is missing or of low confidence, each thread is searched for a loop of its own; several such loops of high
 * confidence replace the process's loop.
 *
 * If only a part of the time was loaded, loops without marks are searched in the loaded part, and their turns are
 * counted from there.
 *
 * A turn begins with its mark, or with the copy to the device that feeds it, if that precedes the mark without other
 * work in between. It ends at the end of its mark's range, if the mark is a range, else where the next turn begins.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_HOST_LOOPS_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_HOST_LOOPS_H

#include <stdint.h>

#include "analyzer/analyse/calls/loop_find.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct host_turn {
	uint64_t number; /* the mark's number, else counted from 0 */
	uint64_t start_ns;
	uint64_t end_ns;
};

struct host_loop {
	uint32_t process; /* index into model->processes */
	uint32_t thread; /* the loop's thread; INDEX_NONE: all threads of the process */
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
 * host_loops_find - fill @loops with the loops of selected processes
 *
 * Needs names of launched operations. Returns 0 or -ENOMEM; in both cases host_loops_free() is to be called.
 */
int host_loops_find(const struct model *model, const struct analysis_options *options,
		    struct host_loops *loops);
void host_loops_free(struct host_loops *loops);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_HOST_LOOPS_H */
