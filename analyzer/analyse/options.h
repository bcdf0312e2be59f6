/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - what part of a trace to analyse, and how much of the result to list.
 *
 * Filled from the command line; every analysis reads it, none changes it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_OPTIONS_H
#define PROFBPF_ANALYZER_ANALYSE_OPTIONS_H

#include <stdint.h>

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

#endif /* PROFBPF_ANALYZER_ANALYSE_OPTIONS_H */
