/* SPDX-License-Identifier: Apache-2.0 */
/* copy_way.h - the direction of a copy: to the device (it feeds a loop) or from it (it returns a result). */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_COPY_WAY_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_COPY_WAY_H

#include "analyzer/analyse/calls/loop_find.h"
#include "analyzer/analyse/calls/work_names.h"
#include "analyzer/model/model.h"

/*
 * call_copy_way, task_copy_way - LOOP_FEED: to the device, LOOP_RESULT: from it, LOOP_OTHER: unknown, or no copy
 *
 * Decided by the name of the function or task, the call's direction argument, and the name of the joined task or
 * call.
 */
enum loop_kind call_copy_way(struct work_names *names, const struct call *call);
enum loop_kind task_copy_way(struct work_names *names, const struct device_task *task);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_COPY_WAY_H */
