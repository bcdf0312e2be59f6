/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_kinds.h - the meaning of words in Ascend's profiles.
 *
 * Each export has another name for the same task type: AI_CORE, KERNEL_AICORE, MIX_AIV; EVENT_RECORD,
 * EVENT_RECORD_SQE; MEMCPY_ASYNC, PCIE_DMA_SQE.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_KINDS_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * ascend_task_kind - Profbpf__DeviceTasks__Kind of a task type
 *
 * Synchronisation and bookkeeping (events, notifies, profiling on and off, place holders,
 * time-outs) are SYNC: device rows without work. Unknown words are OTHER.
 */
uint8_t ascend_task_kind(const char *type);

/* Profbpf__Function__Kind of a CANN API by level ("acl", "node", "runtime", ...) and name. */
uint8_t ascend_call_kind(const char *level, const char *name);

/*
 * ascend_is_metric - is the column a counter of tasks that is worth keeping?
 *
 * The counters depend on the chosen metrics: ratios, times, cycles, bandwidths, operations, caches.
 */
bool ascend_is_metric(const char *name);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_KINDS_H */
