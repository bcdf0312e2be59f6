/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h - the part of a trace to analyse, and the part of the results to list.
 *
 * Filled from the command line; every analysis reads it, none changes it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_SELECTION_H
#define PROFBPF_ANALYZER_ANALYSE_SELECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/param.h>

#include "analyzer/model/model.h"

#define ANALYSIS_TOP_DEFAULT 10
#define ANALYSIS_IDLE_THRESHOLD_NS 10000 /* shorter gaps are summed, not listed */

/* The key by which device tasks are summed up into operators. */
enum operator_by {
	OPERATOR_BY_NAME,
	OPERATOR_BY_TYPE,
	OPERATOR_BY_CORE,
	OPERATOR_BY_SHAPE, /* name and input shapes */
	OPERATOR_BY_SCOPE, /* first parts of the name's path */
};

#define OPERATOR_SCOPE_DEPTH 2

/* The figure of an operator's tasks that represents it. */
enum operator_value { OPERATOR_SUM, OPERATOR_MAX, OPERATOR_MIN, OPERATOR_MEAN };

enum operator_order {
	OPERATOR_ORDER_VALUE, /* the figure above; the default */
	OPERATOR_ORDER_NAME,
	OPERATOR_ORDER_TYPE,
	OPERATOR_ORDER_COUNT,
	OPERATOR_ORDER_TOTAL,
	OPERATOR_ORDER_MEAN,
	OPERATOR_ORDER_MIN,
	OPERATOR_ORDER_MAX,
	OPERATOR_ORDER_FLOPS, /* floating-point operations */
	OPERATOR_ORDER_RATE, /* ... per second */
	OPERATOR_ORDER_UTILIZATION,
	OPERATOR_ORDER_BYTES, /* read and written */
	OPERATOR_ORDER_BANDWIDTH,
};

/* Which operators to list, and how. All zero: all operators by name, largest total first. */
struct operator_options {
	const char *name; /* words that the name must contain, see text_fuzzy(); NULL = any */
	const char *types; /* list of types, kinds or cores, with * and ?; NULL = any */
	const char *dtype; /* an input's data type, fuzzy; NULL = any */
	uint64_t min_ns; /* limits of the representing figure */
	uint64_t max_ns; /* 0 = none */
	enum operator_by by;
	enum operator_value value;
	enum operator_order order;
	bool ascending;
	uint32_t scope_depth; /* number of parts of a name in its scope; 0 = OPERATOR_SCOPE_DEPTH */
};

struct analysis_options {
	uint64_t from_ns; /* CLOCK_MONOTONIC; 0 = from the beginning of the trace */
	uint64_t to_ns; /* exclusive; 0 = to the end of the trace */
	uint32_t top; /* maximal number of rows in a list; 0 = ANALYSIS_TOP_DEFAULT */
	uint64_t idle_threshold_ns; /* 0 = ANALYSIS_IDLE_THRESHOLD_NS */
	const uint32_t *pids; /* only these processes; not owned */
	uint32_t pid_count; /* 0 = all */
	const uint32_t *tids; /* threads whose waits are analysed, host_waits.h; not owned */
	uint32_t tid_count; /* 0 = the analysis chooses the threads */
	bool subtract_probe_cost; /* subtract the cost of probes from calls' durations, probe_cost.h */
	struct operator_options operators; /* its texts are not owned */
	const char *fp_point; /* fuzzy names of the operators that begin the forward and end the */
	const char *bp_point; /* backward pass; NULL = inferred */
	bool has_steps; /* only steps first_step to last_step */
	uint64_t first_step;
	uint64_t last_step;
};

/* The analysed part of the trace: [from_ns, to_ns). */
struct analysis_window {
	uint64_t from_ns;
	uint64_t to_ns;
};

/*
 * analysis_window - the intersection of the model's own window and the options' window
 *
 * Unlimited without any trace, when only device files were read.
 */
struct analysis_window analysis_window(const struct model *model,
				       const struct analysis_options *options);

/*
 * analysis_has - does the window contain the instant?
 *
 * What happens at once (a call, a sample, a task without duration, ...) belongs to the window if it does so at such an
 * instant: not at the window's end, so that each of two windows side by side counts what the other one does not.
 */
static inline bool analysis_has(uint64_t at_ns, const struct analysis_window *window)
{
	return at_ns >= window->from_ns && at_ns < window->to_ns;
}

/* The instant, or the window's nearest bound if that is outside. */
static inline uint64_t analysis_nearest(uint64_t at_ns, const struct analysis_window *window)
{
	return MAX(window->from_ns, MIN(at_ns, window->to_ns));
}

/* The length of the part of [start_ns, end_ns) inside the window; 0 also if end_ns precedes start_ns. */
static inline uint64_t analysis_clipped(uint64_t start_ns, uint64_t end_ns,
					const struct analysis_window *window)
{
	start_ns = MAX(start_ns, window->from_ns);
	end_ns = MIN(end_ns, window->to_ns);
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* Is a process (index) one of `count` pids (none = all)? INDEX_NONE only if all are selected. */
bool analysis_chosen_process(const struct model *model, const uint32_t *pids, uint32_t count,
			     uint32_t process);

/* Is a process (index) selected? INDEX_NONE only if all are. */
bool analysis_wants_process(const struct model *model, const struct analysis_options *options,
			    uint32_t process);

#endif /* PROFBPF_ANALYZER_ANALYSE_SELECTION_H */
