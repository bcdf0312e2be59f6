/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_figures.h - figures of an operator's tasks other than times: work done, data moved, shapes, counters.
 *
 * Files have these figures for some tasks or for none. Sums and rates cover the tasks with the
 * figure; a figure that no task has is unknown, never 0.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_FIGURES_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define OPERATOR_SEVERAL UINT32_MAX /* instead of a string: tasks have different values */

struct operator_figures {
	uint64_t counted; /* tasks with a known number of operations, and their time */
	uint64_t counted_ns;
	double flops; /* their floating-point operations */
	uint64_t moved; /* tasks with a known number of bytes read and written, including copies */
	uint64_t moved_ns;
	double moved_bytes;
	uint64_t utilized_ns; /* time of the tasks with a known utilization */
	double utilized; /* sum of percent times nanoseconds */
	uint64_t detailed; /* tasks with shapes or data types */
	uint32_t variants; /* number of different input shapes */
	uint32_t last_shapes; /* used by operator_figures.c */
	/* Strings as the file writes them; 0 = unknown, or OPERATOR_SEVERAL. */
	uint32_t input_shapes;
	uint32_t input_types;
	uint32_t input_formats;
	uint32_t output_shapes;
	uint32_t output_types;
	uint32_t output_formats;
	uint32_t first_metric; /* index into the list's metrics */
	uint32_t metric_count;
};

/* The mean of a counter: ratios, rates and bandwidths are weighted by the tasks' durations. */
struct operator_metric {
	uint32_t name; /* string */
	uint64_t tasks; /* tasks with the counter (of a share: only tasks that lasted); 0 = the mean is unknown */
	double mean;
	double weight; /* sum of weights; used by operator_figures.c, as the next member */
	bool share; /* weighted by durations */
};

struct operator_metrics {
	struct operator_metric *row;
	uint32_t count;
	uint32_t capacity;
};

/*
 * operator_figures_add - add a task to the figures
 *
 * Tasks of equal input shapes must be passed consecutively; @metrics grows, and belongs to these figures alone.
 * Returns false without memory.
 */
bool operator_figures_add(const struct model *model, const struct device_task *task,
			  struct operator_figures *figures, struct operator_metrics *metrics);

/*
 * operator_figures_merge - add the tasks of @from, which all have the same input shapes
 *
 * Figures of an operator must be merged consecutively, and among them those of equal input shapes; @into_metrics grows.
 * Returns false without memory.
 */
bool operator_figures_merge(const struct model *model, const struct operator_figures *from,
			    const struct operator_metrics *from_metrics,
			    struct operator_figures *into, struct operator_metrics *into_metrics);

/* Rates per second, and their percentage of the device's peak; return false if unknown. */
bool operator_flops_rate(const struct operator_figures *figures, double *rate);
bool operator_flops_percent(const struct model *model, uint32_t device,
			    const struct operator_figures *figures, double *percent);
bool operator_bandwidth(const struct operator_figures *figures, double *rate);
bool operator_bandwidth_percent(const struct model *model, uint32_t device,
				const struct operator_figures *figures, double *percent);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_FIGURES_H */
