/* SPDX-License-Identifier: Apache-2.0 */
/* copy_way.h - which way a copy goes: to the device, which feeds a loop, or from it, which brings its result. */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_COPY_WAY_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_COPY_WAY_H

#include "analyzer/analyse/calls/loop_find.h"
#include "analyzer/analyse/calls/work_names.h"
#include "analyzer/model/model.h"

/*
 * call_copy_way, task_copy_way - LOOP_FEED: to the device, LOOP_RESULT: from it, LOOP_OTHER: not known, or no copy
 *
 * By the name of the function or task, the argument that says so, and the name of the other of the two.
 */
enum loop_kind call_copy_way(struct work_names *names, const struct call *call);
enum loop_kind task_copy_way(struct work_names *names, const struct device_task *task);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_COPY_WAY_H */
