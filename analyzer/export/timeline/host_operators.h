/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_operators.h - operators that a framework ran on the host's CPUs, for a track of their own.
 *
 * MindSpore calls a function of each of its CPU kernels, which has the operator's name (catalog/mindspore.catalog); vendors
 * show these as "Host CPU Op". Calls whose end was not seen have no length and are left out.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_HOST_OPERATORS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_HOST_OPERATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define HOST_OPERATORS_NAME "Host CPU Op"

/*
 * host_operators - rows of calls, by process, thread and start
 *
 * @chosen: by thread, whose; NULL = all. *@count of them, which the caller frees. NULL without memory.
 */
uint32_t *host_operators(const struct model *model, const bool *chosen, uint32_t *count);

/* The process of a call's thread: an index into processes, INDEX_NONE = unknown. */
uint32_t host_operator_process(const struct model *model, uint32_t call);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_HOST_OPERATORS_H */
