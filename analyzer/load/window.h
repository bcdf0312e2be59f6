/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - a part of the time of a trace: which of its rows are kept. Only the loader includes it.
 *
 * Kept are calls and ioctls that were under way in the part, switches and wake-ups in it, and what tells
 * from before and after it what threads and CPUs were doing at its edges: of each thread the last switches and the last
 * wake-up before the part, and the first ones after it. Calls of functions whose calls are about more than
 * their own time (they name threads, handles and operators, allocate memory) are kept wherever they are. All
 * others are counted, as a survey counts them.
 */
#ifndef PROFBPF_ANALYZER_LOAD_WINDOW_H
#define PROFBPF_ANALYZER_LOAD_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "lib/base/map.h"

enum edge { EDGE_OUT, EDGE_IN, EDGE_CPU, EDGE_WAKE, EDGES };

#define EDGE_SEEN 256 /* a power of 2 */

/* The last rows before the part, or the first ones after it: by thread id or CPU. */
struct edge_rows {
	struct map known[EDGES]; /* to switches or wakes */
	uint32_t seen[EDGES][EDGE_SEEN]; /* 1 + what is known of those seen of late, by the last bits of the id */
	MODEL_ARRAY(struct cpu_switch) switches;
	MODEL_ARRAY(struct wake) wakes;
};

struct load_window {
	struct model *model;
	bool wanted;
	bool all_calls; /* but calls are kept whenever they were */
	uint64_t after_start_ns; /* the part, since the session's start */
	uint64_t before_start_ns; /* how much earlier than that rows may be needed */
	uint64_t until_ns; /* since the session's start; UINT64_MAX = to its end */
	uint64_t session_start_ns; /* that it was reckoned from; 0 = nothing yet */
	uint64_t from_ns; /* CLOCK_MONOTONIC */
	uint64_t to_ns;
	struct edge_rows before, after;
	bool no_memory; /* for a row at an edge: the model must not be used */
};

/* Does the part reach from @first_ns to @last_ns in some instant? All does without a part. */
bool window_has(struct load_window *window, uint64_t first_ns, uint64_t last_ns);

/* Is nothing from @first_ns to @last_ns in the part, and all of it on the same side of it? *@before: which. */
bool window_is_far(struct load_window *window, uint64_t first_ns, uint64_t last_ns, bool *before);

/* Take note of a row that is not in the part, for one of its threads or its CPU. False without memory. */
bool window_note_switch(struct load_window *window, bool before, enum edge edge,
			const struct cpu_switch *row);
bool window_note_wake(struct load_window *window, bool before, const struct wake *row);

/* Is a row at this instant in the part? Else it is kept for as long as it is the one at the edge. */
bool window_takes_switch(struct load_window *window, const struct cpu_switch *row);
bool window_takes_wake(struct load_window *window, const struct wake *row);

/* window_finish - after the last file: rows at the edges become the model's. False without memory. */
bool window_finish(struct load_window *window);

void window_free(struct load_window *window);

#endif /* PROFBPF_ANALYZER_LOAD_WINDOW_H */
