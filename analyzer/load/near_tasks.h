/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_tasks.h - device tasks that are far from the kept part of the time. Only the loader includes it.
 *
 * If a device's source declares its clock, the time of a task is known as soon as it is read. A task is far if it was
 * enqueued, began and ended on the same side of the part, and more than a second away from it, because later
 * snapshots of clocks may still move it. Far tasks are counted, except each device's last task before the part and its
 * first task after it: a gap at the part's edge lies between these.
 *
 * No task is far if other tasks are still needed to determine its device's clock or the call that launched it.
 */
#ifndef PROFBPF_ANALYZER_LOAD_NEAR_TASKS_H
#define PROFBPF_ANALYZER_LOAD_NEAR_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/load/window.h"
#include "analyzer/model/model.h"

/* The part in the clock of the device whose batch is read. */
struct task_edges {
	bool known; /* false: all its tasks are near */
	uint32_t device;
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	uint64_t device_from_ns, device_to_ns;
};

struct near_tasks {
	bool any_far;
	MODEL_ARRAY(struct device_task) before, after; /* by device; end_ns 0 = none */
};

/* near_tasks_begin - before the tasks of a batch: the edges of the part for @device, a row of the model's devices */
struct task_edges near_tasks_begin(struct load_window *window, uint32_t device);

/*
 * near_tasks_takes - is a task near? A far task is counted. Its times are the device's.
 *
 * Also returns false without memory: then window->no_memory is set.
 */
bool near_tasks_takes(struct near_tasks *near, struct load_window *window,
		      const struct task_edges *edges, const struct device_task *task);

/* near_tasks_finish - after the last file: add the tasks at the edges to the model. Returns false without memory. */
bool near_tasks_finish(struct near_tasks *near, struct model *model);

/*
 * near_tasks_doubtful - after the last file: may a task have been wrongly treated as far?
 *
 * True if a device's clock was set, or if calls turned out to contain numbers of tasks.
 */
bool near_tasks_doubtful(const struct near_tasks *near, const struct model *model);

void near_tasks_free(struct near_tasks *near);

#endif /* PROFBPF_ANALYZER_LOAD_NEAR_TASKS_H */
