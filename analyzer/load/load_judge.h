/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_judge.h - what a call's value says, and which calls are part of others; of trace and device files.
 */
#ifndef PROFBPF_ANALYZER_LOAD_LOAD_JUDGE_H
#define PROFBPF_ANALYZER_LOAD_LOAD_JUDGE_H

#include <stdbool.h>

#include "analyzer/model/model.h"

/* Does what a call returned tell an error? */
bool load_is_error(const struct function *function, const struct call *call);

/* Errors of calls, and calls inside calls of the same family. Calls must be sorted. */
void load_judge_calls(struct model *model);

#endif /* PROFBPF_ANALYZER_LOAD_LOAD_JUDGE_H */
