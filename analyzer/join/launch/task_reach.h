/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_reach.h - how far from a part of the time what explains its device tasks lies.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_TASK_REACH_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_TASK_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * task_reach - from when to when is a part of the time, from @from_ns to @to_ns, explained?
 *
 * By all from the first enqueue to the last end of the tasks that a device ran in it, of the last one that each
 * device ended before it and of the first one that it began after it: gaps at the edges lie between
 * these. Needs a loaded model; task times are the device's yet. Returns false if it cannot be told: a device's clock is
 * not declared, or nobody knows when a task was enqueued. In CLOCK_MONOTONIC.
 */
bool task_reach(const struct model *model, uint64_t from_ns, uint64_t to_ns, uint64_t *first_ns,
		uint64_t *last_ns);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_TASK_REACH_H */
