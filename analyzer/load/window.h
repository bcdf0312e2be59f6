/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - selects the rows that are kept for a part of the time of a trace. Only the loader includes it.
 *
 * Kept are calls and ioctls that were under way in the part, switches and wake-ups in it, and the rows before and
 * after it that determine the states of threads and CPUs at its edges: for each thread the last switches and the last
 * wake-up before the part, and the first ones after it. Calls of functions that matter beyond their own time (they
 * name threads, handles and operators, allocate memory) are always kept. All other rows are counted, as in a survey.
 */
#ifndef PROFBPF_ANALYZER_LOAD_WINDOW_H
#define PROFBPF_ANALYZER_LOAD_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "lib/base/map.h"

enum edge { EDGE_OUT, EDGE_IN, EDGE_CPU, EDGE_WAKE, EDGES };

#define EDGE_SEEN 256 /* a power of 2 */

/* The last rows before the part, or the first rows after it: by thread id or CPU. */
struct edge_rows {
	struct map known[EDGES]; /* to index into switches or wakes */
	uint32_t seen[EDGES][EDGE_SEEN]; /* 1 + index for recent ids, by the last bits of the id */
	MODEL_ARRAY(struct cpu_switch) switches;
	MODEL_ARRAY(struct wake) wakes;
};

struct load_window {
	struct model *model;
	bool wanted;
	bool all_calls; /* calls are kept whatever their time */
	uint64_t after_start_ns; /* start of the part, since the session's start */
	uint64_t before_start_ns; /* margin before it, from which rows may be needed */
	uint64_t until_ns; /* since the session's start; UINT64_MAX = to its end */
	uint64_t session_start_ns; /* the session's start when from_ns and to_ns were computed; 0 = not yet */
	uint64_t from_ns; /* CLOCK_MONOTONIC */
	uint64_t to_ns;
	struct edge_rows before, after;
	bool no_memory; /* no memory for a row at an edge: the model must not be used */
};

/* Does the time from @first_ns to @last_ns overlap the part? Always true without a part. */
bool window_has(struct load_window *window, uint64_t first_ns, uint64_t last_ns);

/* Is the time from @first_ns to @last_ns entirely on one side of the part? *@before: the side. */
bool window_is_far(struct load_window *window, uint64_t first_ns, uint64_t last_ns, bool *before);

/* Note a row outside the part, as a possible edge row of its CPU or of a thread. Return false without memory. */
bool window_note_switch(struct load_window *window, bool before, enum edge edge,
			const struct cpu_switch *row);
bool window_note_wake(struct load_window *window, bool before, const struct wake *row);

/* Is a row in the part? A row outside is kept only while it is the nearest row at the edge. */
bool window_takes_switch(struct load_window *window, const struct cpu_switch *row);
bool window_takes_wake(struct load_window *window, const struct wake *row);

/* window_finish - after the last file: add the rows at the edges to the model. Returns false without memory. */
bool window_finish(struct load_window *window);

void window_free(struct load_window *window);

#endif /* PROFBPF_ANALYZER_LOAD_WINDOW_H */
