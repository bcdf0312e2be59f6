/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_correlation.h - joins tasks to launching calls by the number both carry.
 *
 * The surest way, where a device file has the calls, too: one call may have launched many tasks
 * (a graph), and a driver's call inside a runtime's carries the same number.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CORRELATION_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CORRELATION_H

#include "analyzer/model/model.h"

/*
 * launch_correlation_join - connect tasks of devices of a file that has its own calls
 *
 * Only tasks with a correlation, of devices with own_clock; calls by an argument of role
 * correlation, of the task's thread's process if the task has a thread. Of several such calls the outermost is
 * taken; the others are MODEL_CALL_SHARED. Sets task.call and, for the earliest task of a call, call.task.
 * *@joined counts the tasks.
 * Returns 0 or -ENOMEM.
 */
int launch_correlation_join(struct model *model, uint64_t *joined);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CORRELATION_H */
