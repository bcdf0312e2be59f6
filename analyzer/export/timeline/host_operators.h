/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_operators.h - operators that a framework ran on the host's CPUs, for a separate track.
 *
 * MindSpore calls a function of each CPU kernel with the operator's name (catalog/mindspore.catalog); the vendor's tools
 * show these calls as "Host CPU Op". Calls whose end was not seen have no duration and are left out.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_HOST_OPERATORS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_HOST_OPERATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define HOST_OPERATORS_NAME "Host CPU Op"

/*
 * host_operators - the rows of such calls, by process, thread and start
 *
 * @chosen: by thread, the threads to include; NULL = all. Returns *@count rows, which the caller frees; NULL without memory.
 */
uint32_t *host_operators(const struct model *model, const bool *chosen, uint32_t *count);

/* The process of a call's thread: an index into processes, INDEX_NONE = unknown. */
uint32_t host_operator_process(const struct model *model, uint32_t call);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_HOST_OPERATORS_H */
