/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_judge.h - errors of calls, and calls that are part of other calls; for traces and device files.
 */
#ifndef PROFBPF_ANALYZER_LOAD_LOAD_JUDGE_H
#define PROFBPF_ANALYZER_LOAD_LOAD_JUDGE_H

#include <stdbool.h>

#include "analyzer/model/model.h"

/* Does the return value of the call report an error? */
bool load_is_error(const struct function *function, const struct call *call);

/* Sets the flags of calls that returned errors, and of calls inside calls of the same family. Calls must be sorted. */
void load_judge_calls(struct model *model);

#endif /* PROFBPF_ANALYZER_LOAD_LOAD_JUDGE_H */
