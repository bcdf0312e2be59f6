/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_times.h - what threads did while they worked for an operator.
 *
 * An operator's threads also wait for elements and for room, and those of a pool work for others:
 * what they did in all does not tell why the operator is slow. What they did in its works
 * (pipeline_model.h) does, for any number of threads, whomever they belong to.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_WORK_TIMES_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_WORK_TIMES_H

#include "analyzer/analyse/selection.h"
#include "analyzer/frameworks/pipeline_model.h"

/* Of all works of an operator, in a window. */
struct work_times {
	uint64_t run_ns;
	uint64_t runnable_ns;
	uint64_t io_ns; /* asleep for storage */
	uint64_t sleep_ns; /* asleep for anything else */
};

/* work_times_known_ns - time of which it is known what was done in it */
uint64_t work_times_known_ns(const struct work_times *times);

/*
 * work_times_sum - fill @times, one per operator, zeroed by the caller
 *
 * A sleep that another thread of the operator ended (its worker process, a thread it started) is what that one did
 * meanwhile. Needs timelines; without, nothing is known. Linear in the works and in the spans they cover. False
 * without memory.
 */
bool work_times_sum(const struct model *model, const struct pipeline *pipeline,
		    const struct analysis_window *window, struct work_times *times);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_WORK_TIMES_H */
