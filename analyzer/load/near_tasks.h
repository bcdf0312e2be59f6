/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_tasks.h - device tasks that are far from the part of the time that is kept. Only the loader includes it.
 *
 * A device's clock that its source declares tells where a task lies as soon as it is read. Far is a task that was enqueued, began and ended on
 * one side of the part and of a second beside it, by which snapshots of clocks that come later may move it. Such tasks are
 * counted, but of each device the last one before the part and the first one after it: a gap at its edge lies between these.
 *
 * No task is far of which something else is to be found out by the others: the clock, or the call that launched it.
 */
#ifndef PROFBPF_ANALYZER_LOAD_NEAR_TASKS_H
#define PROFBPF_ANALYZER_LOAD_NEAR_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/load/window.h"
#include "analyzer/model/model.h"

/* The part by the clock of the device whose batch is read. */
struct task_edges {
	bool known; /* else all of its tasks are near */
	uint32_t device;
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	uint64_t device_from_ns, device_to_ns;
};

struct near_tasks {
	bool any_far;
	MODEL_ARRAY(struct device_task) before, after; /* by device; end_ns 0 = none */
};

/* near_tasks_begin - before the tasks of a batch: where the part lies for @device, a row of the model's devices */
struct task_edges near_tasks_begin(struct load_window *window, uint32_t device);

/*
 * near_tasks_takes - is a task near? Else it is counted. Its times are the device's.
 *
 * False without memory, too: then window->no_memory is set.
 */
bool near_tasks_takes(struct near_tasks *near, struct load_window *window,
		      const struct task_edges *edges, const struct device_task *task);

/* near_tasks_finish - after the last file: tasks at the edges become the model's. False without memory. */
bool near_tasks_finish(struct near_tasks *near, struct model *model);

/*
 * near_tasks_doubtful - after the last file: was a task taken for far though it may not be?
 *
 * Because a device's clock was set, or because it turns out only now that calls name numbers of tasks.
 */
bool near_tasks_doubtful(const struct near_tasks *near, const struct model *model);

void near_tasks_free(struct near_tasks *near);

#endif /* PROFBPF_ANALYZER_LOAD_NEAR_TASKS_H */
