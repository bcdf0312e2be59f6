/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_series.h - the activity of each operator of a pipeline in each interval.
 *
 * The intervals are those of host/host.h; the first and the last one also include the part
 * of the window before and after the host's figures, so that intervals add up to the
 * totals of pipelines.h exactly. Times include descendants: worker processes
 * and threads created per row also work for the operator.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINE_SERIES_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINE_SERIES_H

#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/pipeline/pipelines.h"
#include "analyzer/analyse/host/processes.h"
#include "analyzer/model/model.h"

struct operator_interval {
	uint64_t run_ns;
	uint64_t user_ns; /* run_ns, divided by the kernel's accounts (timer tick) of its threads in the interval */
	uint64_t system_ns;
	uint64_t elements; /* handed on */
	uint64_t queue_known_ns; /* part of the interval for which its queue's size is known */
	double queue_size; /* mean over that part */
};

struct pipeline_series {
	uint32_t interval_count; /* of host_results */
	struct operator_interval *cells; /* [operator * interval_count + interval] */
};

/*
 * pipeline_series_compute - fills @series for one pipeline
 *
 * Needs timelines. Without intervals (@host->interval_count is 0) it is empty. Returns
 * 0 or -ENOMEM; in both cases the caller calls pipeline_series_free().
 */
int pipeline_series_compute(const struct model *model, const struct host_results *host,
			    const struct process_results *processes,
			    const struct pipeline_usage *usage, struct pipeline_series *series);
void pipeline_series_free(struct pipeline_series *series);

/*
 * pipeline_queue_sizes - the number of elements in a queue at @from_ns, @from_ns + @step_ns, ...
 *
 * Fills @sizes, @count in all; before its first event the queue has its initial size (a device's
 * queue: its first known size), after the last event the size that this event left. Returns false
 * if no size of this queue is known.
 */
bool pipeline_queue_sizes(const struct pipeline *pipeline, uint32_t queue, uint64_t from_ns,
			  uint64_t step_ns, uint32_t count, uint32_t *sizes);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINE_SERIES_H */
