/* SPDX-License-Identifier: Apache-2.0 */
/* task_reach.h - the part of a trace that is needed to explain the device tasks of a time range. */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_TASK_REACH_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_TASK_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * task_reach - the range needed to explain the device tasks from @from_ns to @to_ns
 *
 * It reaches from the first enqueue to the last end of: the tasks that a device ran in the range, the last task that
 * each device ended before it, and the first one that each began after it: gaps at the edges lie between these. Needs
 * a loaded model; task times are still in the device's clock. Returns false if the range is unknown: a device's clock
 * is not declared, or the enqueue instant of a task is unknown. In CLOCK_MONOTONIC.
 */
bool task_reach(const struct model *model, uint64_t from_ns, uint64_t to_ns, uint64_t *first_ns,
		uint64_t *last_ns);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_TASK_REACH_H */
