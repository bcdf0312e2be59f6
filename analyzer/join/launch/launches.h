/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.h - finds the runtime call that launched each device task.
 *
 * A task's source reports the thread that enqueued it and the instant (enqueue_ns, CLOCK_MONOTONIC, taken inside the
 * call). The call is the outermost one that contains that instant and submits work, of the same family as the
 * innermost such call: a framework's own traced function around a CUDA launch does not hide the launch, and
 * cudaLaunchKernel takes precedence over the driver function it calls.
 *
 * Tasks with an unknown enqueue instant are joined by order within a stream, as far as that is certain. Streams that
 * have different numbers on both sides are matched (launch_order.h).
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHES_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/join/launch/launch_join.h"
#include "analyzer/model/model.h"

/*
 * launches_join - sets task.call and call.task
 *
 * Keeps the results of launch_ids_join() and launch_order_join_first(). Tasks before the first or after the last call
 * of a stream, or before or after the session, count as launched outside of it, if no record was lost.
 *
 * Needs sorted calls and converted task times (device_clocks_join). A call that launched several tasks refers to the
 * task with the lowest enqueue_ns. Returns 0 or -ENOMEM.
 */
int launches_join(struct model *model, struct launch_join *join);

/*
 * launches_counted - are all launches of the recording known, including calls that are only counted?
 *
 * The work that counted calls launched is unknown.
 */
bool launches_counted(const struct model *model);

/* The method as text, for join.method: "enqueue instant within the call", ... Static text. */
const char *launch_join_method(const struct launch_join *join);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHES_H */
