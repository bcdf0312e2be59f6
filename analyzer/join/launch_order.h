/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_order.h - joins tasks to launching calls by their order within a stream.
 *
 * The fallback of launches.h, for sources that don't say when a task was enqueued.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_ORDER_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_ORDER_H

#include "analyzer/join/launches.h"

/*
 * launch_order_join - connect the tasks without enqueue_ns that are left
 *
 * For every (process, stream): if as many tasks as launching calls are left, the
 * n-th task belongs to the n-th call; else all its tasks count as ambiguous when there are
 * calls at all. Where calls know a stream by a handle and tasks by the device's number, a handle's
 * stream is the one that has as many tasks, of the same kinds, none of which starts before its call;
 * but only if that tells for all streams of the process which is which: else these tasks are
 * ambiguous. Adds to @join. Returns 0 or -ENOMEM.
 */
int launch_order_join(struct model *model, struct launch_join *join);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_ORDER_H */
