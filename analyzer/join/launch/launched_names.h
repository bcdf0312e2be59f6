/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launched_names.h - what each launching call launched: call.text and call.named.
 *
 * In this order: a string argument (aclopExecute); the function's own name
 * (aclnnAdd, HcclAllReduce); the call that gave the handle its name (clCreateKernel,
 * cuModuleGetFunction) or registered the address (__cudaRegisterFunction); the
 * program's symbol at that address; what a launching call inside this one is
 * known to have launched; the device task that the join found for it. What none of them
 * tells is unknown. Handles are those of a process and a family of runtimes; of several
 * calls that named the same handle the last one before the launch counts.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHED_NAMES_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHED_NAMES_H

#include "analyzer/model/model.h"

/* What calls alone tell; for joins that go by names. Needs sorted calls. Returns 0 or -ENOMEM. */
int launched_names_find(struct model *model);

/*
 * launched_names_join - needs sorted calls, and the launch join for names of tasks
 *
 * Tasks without a name get that of their call. Returns 0 or -ENOMEM.
 */
int launched_names_join(struct model *model);

/* Calls that launch something with a name of its own: kernels, operators, collectives. */
bool call_launches(const struct model *model, const struct call *call);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHED_NAMES_H */
