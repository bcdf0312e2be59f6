/* SPDX-License-Identifier: Apache-2.0 */
/* clock_bounds.h - bounds on a device's clock that follow from causality. */
#ifndef PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_BOUNDS_H
#define PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/join/clock/clock_fit.h"
#include "analyzer/model/model.h"

struct clock_bounds {
	struct clock_bound *row;
	uint32_t count;
	uint32_t capacity;
};

/* The synchronizing calls of all processes, sorted so that those of one stream are quick to find. */
struct sync_call {
	uint32_t process;
	uint64_t stream;
	uint64_t start_ns;
	uint64_t end_ns;
};

struct sync_calls {
	struct sync_call *row;
	uint32_t count;
};

/*
 * clock_task_is_sure - was the task joined to its call without the device's clock?
 *
 * True for tasks joined by numbers; by order, before the clock was known; or by an enqueue instant of the host's clock,
 * if the device's own clock is in doubt (device->anchored).
 */
bool clock_task_is_sure(const struct model *model, const struct device_task *task);

/*
 * sync_calls_collect - collects the synchronizing calls of the model
 *
 * Streams have the tasks' numbers where tasks that are joined already show which handle has which number. Returns 0 or
 * -ENOMEM; the caller frees syncs->row.
 */
int sync_calls_collect(const struct model *model, struct sync_calls *syncs);

/*
 * Returns the index of the first call on a stream that was entered at @from_ns or later, or the index where it would
 * be.
 */
uint32_t sync_calls_find(const struct sync_calls *syncs, uint32_t process, uint64_t stream,
			 uint64_t from_ns);

/*
 * clock_bounds_collect - adds the bounds of the device of tasks[first .. first + count)
 *
 * Lower: a task starts after its enqueue call was entered. Upper: a task ends before the return of a synchronizing
 * call on its stream that was entered after the task was enqueued. With @queued also: the queued instant lies within
 * the enqueue call. Runtimes promise this, and it is a far tighter bound, but some take the instant elsewhere. Task
 * times must still be in the device's clock. @bounds must be zeroed or from an earlier call; the caller frees
 * bounds->row. Returns 0 or -ENOMEM.
 */
int clock_bounds_collect(const struct model *model, const struct sync_calls *syncs, uint32_t first,
			 uint32_t count, bool queued, struct clock_bounds *bounds);

#endif /* PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_BOUNDS_H */
