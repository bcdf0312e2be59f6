/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_kind.h - what a runtime call means for the device.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_CALL_KIND_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_CALL_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/* The function of a call, or NULL if its id is unknown. */
const struct function *call_function(const struct model *model, const struct call *call);

/* Part of a device runtime: markers and pipeline stages only surround such calls. */
bool call_is_runtime(const struct model *model, const struct call *call);

/* Submits device work: launch, copy, collective. */
bool function_submits(const struct function *function);

/*
 * Submits device work and is not the inner part of a call that does: cuLaunchKernel inside
 * of cudaLaunchKernel is the same launch. A copy that loading a model makes is one of its own.
 */
bool call_is_launch(const struct model *model, const struct call *call);

/*
 * call_task_range - how many tasks a call that submits work makes
 *
 * One kernel or copy each; a graph or model at least one; an operator or collective any number,
 * UINT32_MAX, or none. A function whose name does not say what it launches may be any of them.
 */
void call_task_range(const struct model *model, const struct call *call, uint32_t *least,
		     uint32_t *most);

/* May return only after the device has done something: synchronizing calls and copies. */
bool call_waits(const struct model *model, const struct call *call);

/* The value of the call's stream argument; false if the catalog names none. */
bool call_stream(const struct model *model, const struct call *call, uint64_t *stream);

/* Nothing is known of what any call launched. Rows that say so already are not written: they may lie in a file. */
void calls_forget_tasks(struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_CALL_KIND_H */
