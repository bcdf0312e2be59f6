/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_correlation.h - joins tasks to launching calls by their common correlation number.
 *
 * The most reliable way, if the device file also contains the calls: one call may have launched many tasks (a graph),
 * and a driver call inside a runtime call has the same number.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CORRELATION_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CORRELATION_H

#include "analyzer/model/model.h"

/*
 * launch_correlation_join - joins tasks of devices whose file contains the calls, too
 *
 * Considers tasks with a correlation, of devices with own_clock, and calls with an argument of role correlation, in
 * the process of the task's thread if the task has a thread. Of several such calls the outermost is the launch; the
 * others become MODEL_CALL_SHARED. Sets task.call and, for the earliest task of a call, call.task. *@joined counts the
 * tasks. Returns 0 or -ENOMEM.
 */
int launch_correlation_join(struct model *model, uint64_t *joined);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_CORRELATION_H */
