/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_order.h - joins tasks to launching calls by their order within a stream.
 *
 * The fallback of launches.h, for sources that do not report when a task was enqueued: uses the certain results of
 * launch_align.h for each (process, stream). Calls may identify a stream by a handle and tasks by the device's number:
 * then a handle's stream is the only one whose tasks can be those of its calls, provided that this identifies all
 * streams of the process.
 *
 * A device whose process is unknown belongs to the only process that launches anything. Tasks that several calls may
 * have launched are ambiguous.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ORDER_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ORDER_H

#include "analyzer/join/launch/launch_join.h"
#include "analyzer/model/model.h"

/*
 * launch_order_join_first - joins tasks of devices whose clock and launches are unknown
 *
 * Runs before the clock join, which derives bounds from the result. Sets MODEL_TASK_BY_ORDER, call, thread, enqueue_ns
 * and enqueue_dur_ns. *@ambiguous counts tasks. Returns 0 or -ENOMEM.
 */
int launch_order_join_first(struct model *model, uint64_t *ambiguous);

/* Joins the remaining tasks of other devices that have no enqueue_ns. Adds to @join. Returns 0 or -ENOMEM. */
int launch_order_join(struct model *model, struct launch_join *join);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_ORDER_H */
