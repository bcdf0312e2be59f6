/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_ids.h - joins tasks to launching calls by the numbers of stream and task that both name.
 *
 * The runtime hands each task to the device under a number that counts up within its stream,
 * modulo 2^16; the device's profile names both numbers. A call whose catalog line reads them (role
 * TASK) is joined to the tasks of these numbers, whatever else was lost: of the 2^16-th part of a
 * stream that has a number it is the one that the neighbours of the call are joined to.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_IDS_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_IDS_H

#include "analyzer/model/model.h"

struct launch_ids {
	uint64_t joined; /* tasks */
	uint64_t ambiguous; /* tasks whose numbers several calls name, or nobody knows when */
};

/*
 * launch_ids_join - connect tasks of files taken in beside a trace
 *
 * Times of tasks may still be the device's own: what counts is their order and, where the
 * clock is declared, about when they were. Sets MODEL_TASK_BY_ID, call, thread, enqueue_ns and
 * enqueue_dur_ns of each task it joins (call: the outermost launching call around the one with
 * the numbers), and MODEL_TASK_EDGE of those that a stream got before the first or after the last
 * call that was recorded; MODEL_TASK_NUMBERED says that there is nothing to be found by other ways.
 * A task without numbers is joined to the call of the tasks of the same connection. To run before
 * the clock join, which needs to know what was launched when.
 * Returns 0 or -ENOMEM.
 */
int launch_ids_join(struct model *model, struct launch_ids *ids);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_IDS_H */
