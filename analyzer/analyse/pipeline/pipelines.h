/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipelines.h - the activity of each operator of the data pipelines, and the fill
 * of the queues between them.
 *
 * "Own" threads are those that the framework itself counts as the operator's; threads
 * and processes that these create (a thread per row, worker processes) are
 * included only in figures "with descendants".
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINES_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/host/processes.h"
#include "analyzer/analyse/pipeline/work_times.h"
#include "analyzer/frameworks/framework.h"
#include "analyzer/model/model.h"

struct queue_usage {
	bool known; /* the sizes below are known */
	double mean_size; /* elements, weighted by time */
	uint64_t observed_ns; /* from its first to its last push or pop within the window */
	uint64_t empty_ns;
	uint64_t full_ns; /* 0 if the capacity is unknown */
	uint64_t pop_wait_ns; /* time inside pops, and inside pushes */
	uint64_t push_wait_ns;
	uint32_t pops;
	uint32_t pushes;
};

struct operator_pipeline_usage {
	uint32_t depth; /* operators between it and the trainer */
	uint32_t queue; /* its output queue, index into pipeline->queues, or INDEX_NONE */
	bool has_times; /* the times of all its threads are known */
	uint32_t own_threads;
	uint32_t descendants;
	uint64_t run_ns; /* of its own threads */
	uint64_t runnable_ns;
	uint64_t blocked_ns;
	uint64_t io_ns; /* of blocked_ns */
	uint64_t all_run_ns; /* with descendants */
	uint64_t all_runnable_ns;
	uint64_t all_blocked_ns;
	uint64_t all_io_ns;
	double utilization; /* percent of one CPU, of the window */
	double all_utilization;
	bool has_elements;
	uint64_t elements; /* handed on in the window */
	bool has_element_ns;
	bool estimated; /* element_ns is the time between its waits */
	uint64_t work_ns; /* time spent on elements, summed over threads */
	struct work_times work; /* the activity of the threads in that time */
	double element_ns; /* mean time of one element */
	uint64_t input_wait_ns; /* waited for elements from below */
	uint64_t output_wait_ns; /* waited for room in its output queue */
};

struct fetch_usage {
	uint64_t fetches; /* batches fetched in the window; ends of data are not counted */
	uint64_t ends; /* ends of data */
	uint64_t wait_ns; /* time inside fetches, ends of data included */
	uint64_t max_ns;
	uint64_t first_ns; /* start of the first and end of the last fetch; 0 = none */
	uint64_t last_ns;
	uint32_t thread; /* the fetching thread; INDEX_NONE = none */
};

struct pipeline_usage {
	const struct pipeline *pipeline;
	struct operator_pipeline_usage *operators; /* pipeline->operators.count */
	uint32_t *order; /* indices of the operators by id */
	const struct thread_usage **threads; /* by row of pipeline->threads; NULL = did not exist in the window */
	struct queue_usage *queues; /* pipeline->queues.count */
	struct fetch_usage fetch;
};

struct pipeline_results {
	uint64_t window_ns;
	struct pipelines pipelines;
	struct pipeline_usage *rows; /* of the selected processes; pipelines.list.count at most */
	uint32_t count;
};

/* pipeline_cpu_between - returns the part of @ns, user or system time of a sample, that lies between two instants */
uint64_t pipeline_cpu_between(uint64_t ns, const struct pipeline_cpu *cpu, uint64_t from_ns,
			      uint64_t to_ns);

/*
 * pipelines_analyse - finds the pipelines and fills @results
 *
 * Needs timelines and @processes, which come from the same model and options.
 * Returns 0 or -ENOMEM; in both cases the caller calls pipelines_results_free().
 */
int pipelines_analyse(struct model *model, const struct analysis_options *options,
		      const struct process_results *processes, struct pipeline_results *results);

/* pipelines_measure - the same for known pipelines: results->pipelines; the rest of @results is zeroed */
int pipelines_measure(const struct model *model, const struct analysis_options *options,
		      const struct process_results *processes, struct pipeline_results *results);
void pipelines_results_free(struct pipeline_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINES_H */
