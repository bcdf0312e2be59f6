/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launched_names.h - the name of the work that each launching call launched: call.text and call.named.
 *
 * Sources in this order: a string argument (aclopExecute); the function's own name (aclnnAdd, HcclAllReduce); the call
 * that gave the handle its name (clCreateKernel, cuModuleGetFunction) or registered the address
 * (__cudaRegisterFunction); the program's symbol at that address; the name of a launching call inside this one; the
 * device task that the join found for it. If none has a name, it is unknown. Handles are unique within a process and a
 * family of runtimes; of several calls that named the same handle the last one before the launch counts.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHED_NAMES_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHED_NAMES_H

#include "analyzer/model/model.h"

/*
 * launched_names_find - finds the names that follow from calls alone, for joins by name. Needs sorted calls. Returns 0
 * or -ENOMEM.
 */
int launched_names_find(struct model *model);

/*
 * launched_names_join - finds the names; needs sorted calls, and the launch join
 * for names of tasks
 *
 * Tasks without a name get the name of their call. Returns 0 or -ENOMEM.
 */
int launched_names_join(struct model *model);

/* Does the call launch something with a name of its own: a kernel, an operator, a collective? */
bool call_launches(const struct model *model, const struct call *call);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHED_NAMES_H */
