/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_order.h - device tasks stream by stream.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_TASK_ORDER_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_TASK_ORDER_H

#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * task_order - rows of model->tasks by device, stream, start
 *
 * Needs the tasks sorted by (device, start), as the clock join leaves them. Tasks
 * without times and of unknown devices are left out. Returns an array of *count
 * rows that the caller frees; NULL without memory.
 */
uint32_t *task_order(const struct model *model, uint32_t *count);

/* The end of the rows of the device of order[first]; @count if it is the last device. */
uint32_t task_order_device_end(const struct model *model, const uint32_t *order, uint32_t count,
			       uint32_t first);

/* task_queue - how many tasks a device had accepted and not finished, as it changed */
struct task_queue_step {
	uint64_t ns;
	int64_t depth; /* depth from that instant on */
};

/*
 * task_queue_compute - the length of one device's queue, as steps
 *
 * @order: its rows of task_order(). A task counts from the instant at which its
 * enqueue call was entered (else from when it was queued, else from its start).
 * Returns an array of *steps that the caller frees; NULL without memory.
 */
struct task_queue_step *task_queue_compute(const struct model *model, const uint32_t *order,
					   uint32_t count, uint32_t *steps);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_TASK_ORDER_H */
