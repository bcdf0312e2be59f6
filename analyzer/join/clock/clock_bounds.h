/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_bounds.h - what causality says about a device's clock.
 */
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

/* The synchronizing calls of all processes, in an order that makes those of one stream quick to find. */
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
 * clock_task_is_sure - was the task joined to its call by something better than the device's clock?
 *
 * By numbers; by order, before the clock was known; or by a host's instant, where one is told of
 * a device whose clock is in doubt (device->anchored).
 */
bool clock_task_is_sure(const struct model *model, const struct device_task *task);

/*
 * Streams are numbered as tasks number them, where tasks that are joined
 * already tell whose handle is which. Returns 0 or -ENOMEM; the caller frees syncs->row.
 */
int sync_calls_collect(const struct model *model, struct sync_calls *syncs);

/* Index of the first one of a stream that was entered at @from_ns or later, or where it would be. */
uint32_t sync_calls_find(const struct sync_calls *syncs, uint32_t process, uint64_t stream,
			 uint64_t from_ns);

/*
 * clock_bounds_collect - the bounds of the device of tasks[first .. first + count)
 *
 * Lower: a task starts after its enqueue call was entered. Upper: a task ends before the
 * return of a synchronizing call on its stream that was entered after the task was
 * enqueued. With @queued also: the queued instant lies within the enqueue call; that
 * is what runtimes promise, and far tighter, but some stamp it elsewhere. Task times
 * must still be the device's own. @bounds must be zeroed or from an earlier call; the
 * caller frees bounds->row. Returns 0 or -ENOMEM.
 */
int clock_bounds_collect(const struct model *model, const struct sync_calls *syncs, uint32_t first,
			 uint32_t count, bool queued, struct clock_bounds *bounds);

#endif /* PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_BOUNDS_H */
