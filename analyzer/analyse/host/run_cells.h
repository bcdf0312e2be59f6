/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_cells.h - a thread's CPU time divided into intervals that add up to its total.
 *
 * The total (analyse/processes.h) is measured by the scheduler's own clock, which starts before a
 * switch is recorded and excludes time taken by a hypervisor or interrupts. Intervals are measured
 * by the switches, each corrected by that clock between its two nearest readings.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_RUN_CELLS_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_RUN_CELLS_H

#include <stdint.h>

#include "analyzer/analyse/host/processes.h"
#include "analyzer/model/model.h"

/*
 * run_cells - fill the @count values of @run_ns, which add up to @usage->run_ns exactly
 *
 * Interval k is from @cuts[k] to @cuts[k + 1]; cuts ascend, the first and last are the borders of the window of
 * @usage. @weights has room for @count numbers. Needs timelines; does nothing if @count is 0.
 */
void run_cells(const struct model *model, const struct thread_usage *usage, const uint64_t *cuts,
	       uint32_t count, double *weights, uint64_t *run_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_RUN_CELLS_H */
