/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_kinds.h - what the words of Ascend's profilers mean.
 *
 * The same task type is called differently by each export: AI_CORE, KERNEL_AICORE, MIX_AIV;
 * EVENT_RECORD, EVENT_RECORD_SQE; MEMCPY_ASYNC, PCIE_DMA_SQE.
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
 * ascend_is_metric - is it a counter of a task's that is worth keeping?
 *
 * Which there are depends on the metrics that were chosen: ratios, times, cycles, bandwidths, operations, caches.
 */
bool ascend_is_metric(const char *name);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_KINDS_H */
