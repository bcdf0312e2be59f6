/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.h - busy time of each device and each of its streams.
 *
 * Definitions: busy time is the length of the union of the half-open intervals [start, end) of the
 * device's tasks; touching intervals merge, zero-length intervals add nothing. Synchronisation
 * tasks (kind SYNC) and tasks without times are left out. The device's window runs from the first
 * start to the last end of the tasks that count, cut to the analysed part of the trace; gaps are
 * the maximal intervals in the window without any such task, so busy_ns + idle_ns = window_ns.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICES_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct stream_usage {
	uint64_t id;
	uint64_t tasks; /* all kinds */
	uint64_t busy_ns;
	uint64_t first_start_ns; /* of tasks that count as busy; 0 = none */
	uint64_t last_end_ns;
};

struct device_gap {
	uint64_t start_ns;
	uint64_t end_ns; /* exclusive */
	uint32_t device; /* index into model->devices */
	uint32_t before; /* the task before the gap that ended last */
	uint32_t after; /* the task that ended the gap: earliest start, then earliest enqueue */
};

struct device_usage {
	uint32_t device; /* index into model->devices */
	uint64_t tasks; /* all kinds, timed or not */
	uint64_t untimed; /* tasks without usable times */
	uint64_t sync_tasks; /* synchronisation tasks, not in busy time */
	uint64_t window_start_ns;
	uint64_t window_ns; /* 0 = no task with times */
	uint64_t busy_ns;
	uint64_t idle_ns;
	uint64_t compute_ns; /* union of kernels */
	uint64_t communication_ns; /* union of collectives */
	uint64_t
		communication_not_overlapped_ns; /* communication without compute at the same time */
	uint64_t copy_ns; /* union of copies, fills and maps */
	bool has_free; /* there are computation or communication tasks */
	uint64_t free_ns; /* time between the first and the last of these without computation and communication */
	struct stream_usage *streams; /* by id */
	uint32_t stream_count;
	struct device_gap *gaps; /* in time order */
	uint32_t gap_count;
};

/*
 * devices_analyse - fill one struct device_usage per row of model->devices
 *
 * Needs converted, sorted tasks. With options->pids only devices of these processes get tasks. On
 * success *usages is an array of model->devices.count entries that the caller frees with
 * devices_free(). Returns 0 or -ENOMEM.
 */
int devices_analyse(const struct model *model, const struct analysis_options *options,
		    struct device_usage **usages);
void devices_free(struct device_usage *usages, uint32_t count);

/* device_task_counts - does the task make the device busy? */
bool device_task_counts(const struct device_task *task);

/* Is the device's busy time known? It is unknown without times, and if the file has only whole pieces of work. */
bool device_busy_known(const struct model *model, const struct device_usage *usage);

/* Busy share of the window in percent; 0 for an empty window. */
double device_utilization(const struct device_usage *usage);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICES_H */
