/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.h - which runtime call launched which device task.
 *
 * A task's source says which thread enqueued it and when (enqueue_ns,
 * CLOCK_MONOTONIC, taken inside the call). The call is the outermost one that
 * contains that instant and submits work, of the family of the innermost one that does: a
 * framework's own traced function around a CUDA launch doesn't hide the launch,
 * and cudaLaunchKernel wins over the driver function it calls.
 *
 * Tasks whose enqueue is not known are joined by order within a stream, as far as that is certain.
 * Streams that both sides know by different numbers are found (launch_order.h).
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHES_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/join/launch/launch_join.h"
#include "analyzer/model/model.h"

/*
 * launches_join - set task.call and call.task
 *
 * Tasks that launch_ids_join() or launch_order_join_first() joined stay so. Whatever is at the edges
 * of a stream's calls, or before or after the session, was launched outside of it, if no record was lost.
 *
 * Needs sorted calls and converted task times (device_clocks_join). A call that
 * launched several tasks names the one with the lowest enqueue_ns. Returns 0 or
 * -ENOMEM.
 */
int launches_join(struct model *model, struct launch_join *join);

/*
 * launches_counted - are all launches of the recording known, those too that are only counted?
 *
 * What they launched is not.
 */
bool launches_counted(const struct model *model);

/* The method in words, for join.method: "enqueue instant within the call", ... Static text. */
const char *launch_join_method(const struct launch_join *join);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHES_H */
