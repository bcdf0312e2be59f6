/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipelines.h - what each operator of the data pipelines did, and how full the
 * queues between them were.
 *
 * "Own" threads are those the framework itself counts as the operator's; what they
 * created on top of that (a thread per row, worker processes) is in "with
 * descendants" only.
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
	bool known; /* the sizes below */
	double mean_size; /* elements, weighted by time */
	uint64_t observed_ns; /* from its first to its last push or pop within the window */
	uint64_t empty_ns;
	uint64_t full_ns; /* 0 if the capacity is unknown */
	uint64_t pop_wait_ns; /* time inside pops and pushes */
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
	bool estimated; /* element_ns is what is between its waits */
	uint64_t work_ns; /* time spent on elements, threads added up */
	struct work_times work; /* what its works' threads did in it */
	double element_ns; /* mean time of one element */
	uint64_t input_wait_ns; /* waited for elements from below */
	uint64_t output_wait_ns; /* waited for room in its output queue */
};

struct fetch_usage {
	uint64_t fetches; /* batches fetched in the window; ends of data are not counted */
	uint64_t ends; /* ends of data */
	uint64_t wait_ns; /* time inside, ends included */
	uint64_t max_ns;
	uint64_t first_ns; /* start of the first and end of the last fetch; 0 = none */
	uint64_t last_ns;
	uint32_t thread; /* that fetches; INDEX_NONE = none */
};

struct pipeline_usage {
	const struct pipeline *pipeline;
	struct operator_pipeline_usage *operators; /* pipeline->operators.count */
	uint32_t *order; /* indices of the operators by id */
	const struct thread_usage **threads; /* of each row of pipeline->threads; NULL = not there in the window */
	struct queue_usage *queues; /* pipeline->queues.count */
	struct fetch_usage fetch;
};

struct pipeline_results {
	uint64_t window_ns;
	struct pipelines pipelines;
	struct pipeline_usage *rows; /* pipelines.list.count at most; those wanted */
	uint32_t count;
};

/* pipeline_cpu_between - part of @ns, user or system time of a sample, that was used between two instants */
uint64_t pipeline_cpu_between(uint64_t ns, const struct pipeline_cpu *cpu, uint64_t from_ns,
			      uint64_t to_ns);

/*
 * pipelines_analyse - find the pipelines and fill @results
 *
 * Needs timelines and @processes, which is to be of the same model and options.
 * Returns 0 or -ENOMEM; in both cases pipelines_results_free() is to be called.
 */
int pipelines_analyse(struct model *model, const struct analysis_options *options,
		      const struct process_results *processes, struct pipeline_results *results);

/* pipelines_measure - the same for pipelines that are known, those of @results, which has nothing else yet */
int pipelines_measure(const struct model *model, const struct analysis_options *options,
		      const struct process_results *processes, struct pipeline_results *results);
void pipelines_results_free(struct pipeline_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINES_H */
