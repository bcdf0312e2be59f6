/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - what part of a trace to analyse, and how much of the result to list.
 *
 * Filled from the command line; every analysis reads it, none changes it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_OPTIONS_H
#define PROFBPF_ANALYZER_ANALYSE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define ANALYSIS_TOP_DEFAULT 10
#define ANALYSIS_IDLE_THRESHOLD_NS 10000 /* shorter gaps are summed, not listed */

struct analysis_options {
	uint64_t from_ns; /* CLOCK_MONOTONIC; 0 = from the beginning of the trace */
	uint64_t to_ns; /* exclusive; 0 = to the end of the trace */
	uint32_t top; /* longest list of rows; 0 = ANALYSIS_TOP_DEFAULT */
	uint64_t idle_threshold_ns; /* 0 = ANALYSIS_IDLE_THRESHOLD_NS */
	const uint32_t *pids; /* only these processes; not owned */
	uint32_t pid_count; /* 0 = all */
};

/* The analysed part of the trace: [from_ns, to_ns). */
struct analysis_window {
	uint64_t from_ns;
	uint64_t to_ns;
};

/*
 * analysis_window - what the model's own window and the options leave
 *
 * Without any trace, when only device files were read, it is unlimited.
 */
struct analysis_window analysis_window(const struct model *model,
				       const struct analysis_options *options);

/* Is a process (index) among the wanted ones? INDEX_NONE only if all are. */
bool analysis_wants_process(const struct model *model, const struct analysis_options *options,
			    uint32_t process);

#endif /* PROFBPF_ANALYZER_ANALYSE_OPTIONS_H */
