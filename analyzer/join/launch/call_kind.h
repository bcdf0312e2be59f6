/* SPDX-License-Identifier: Apache-2.0 */
/* call_kind.h - the meaning of a runtime call for the device. */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_CALL_KIND_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_CALL_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/* Returns the function of a call, or NULL if its id is unknown. */
const struct function *call_function(const struct model *model, const struct call *call);

/* Is it a call of a device runtime? Markers and pipeline stages only surround such calls. */
bool call_is_runtime(const struct model *model, const struct call *call);

/* Does it submit device work: a launch, a copy, a collective? */
bool function_submits(const struct function *function);

/*
 * Does the call submit device work without being the inner part of such a call? cuLaunchKernel inside cudaLaunchKernel
 * is the same launch. A copy during the loading of a model counts by itself.
 */
bool call_is_launch(const struct model *model, const struct call *call);

/*
 * call_task_range - the number of tasks that a submitting call makes
 *
 * One for a kernel or copy; at least one for a graph or model; none or any number (UINT32_MAX) for an operator or
 * collective. A function whose name does not show what it launches may be any of them.
 */
void call_task_range(const struct model *model, const struct call *call, uint32_t *least,
		     uint32_t *most);

/* May the call return only after the device has completed something? Synchronizing calls and copies may. */
bool call_waits(const struct model *model, const struct call *call);

/* Reads the value of the call's stream argument; returns false if the catalog names none. */
bool call_stream(const struct model *model, const struct call *call, uint64_t *stream);

/* Clears what calls are known to have launched. Rows that are clear already are not written: they may lie in a file. */
void calls_forget_tasks(struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_CALL_KIND_H */
