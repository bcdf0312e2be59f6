/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_times.h - the activity of threads while they work for an operator.
 *
 * An operator's threads also wait for elements and for room, and threads of a pool work for several
 * operators: their whole activity does not explain why the operator is slow. Their activity in its works
 * (pipeline_model.h) does, for any number of threads of any owner.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_WORK_TIMES_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_WORK_TIMES_H

#include "analyzer/analyse/selection.h"
#include "analyzer/frameworks/pipeline_model.h"

/* Sums over all works of an operator, in a window. */
struct work_times {
	uint64_t run_ns;
	uint64_t runnable_ns;
	uint64_t io_ns; /* asleep for storage */
	uint64_t sleep_ns; /* asleep for anything else */
};

/* work_times_known_ns - returns the time with known activity */
uint64_t work_times_known_ns(const struct work_times *times);

/*
 * work_times_sum - fills @times, one per operator, zeroed by the caller
 *
 * A sleep that another thread of the operator ended (its worker process, a thread that it started) counts as the
 * activity of that thread. Needs timelines; without them nothing is known. Linear in the works and in the spans that
 * they cover. Returns false without memory.
 */
bool work_times_sum(const struct model *model, const struct pipeline *pipeline,
		    const struct analysis_window *window, struct work_times *times);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_WORK_TIMES_H */
