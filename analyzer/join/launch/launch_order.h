/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_order.h - joins tasks to launching calls by their order within a stream.
 *
 * The fallback of launches.h, for sources that don't say when a task was enqueued: what
 * launch_align.h finds certain of each (process, stream). Where calls know a stream by a handle and
 * tasks by the device's number, a handle's stream is the only one whose tasks can be those of its calls; but
 * only if that tells for all streams of the process which is which.
 *
 * A device whose process is unknown is that of the only process that launches anything. Tasks that
 * may be those of several calls are ambiguous.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ORDER_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ORDER_H

#include "analyzer/join/launch/launch_join.h"
#include "analyzer/model/model.h"

/*
 * launch_order_join_first - connect tasks of devices of which neither clock nor any launch is known
 *
 * To run before the clock join, which then has bounds to go by. Sets MODEL_TASK_BY_ORDER, call, thread,
 * enqueue_ns and enqueue_dur_ns. *@ambiguous counts tasks. Returns 0 or -ENOMEM.
 */
int launch_order_join_first(struct model *model, uint64_t *ambiguous);

/* Connect the tasks without enqueue_ns of other devices that are left. Adds to @join. Returns 0 or -ENOMEM. */
int launch_order_join(struct model *model, struct launch_join *join);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ORDER_H */
