/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_cells.h - a thread's CPU time divided into intervals that add up to its total.
 *
 * The total (analyse/processes.h) is by the scheduler's own clock, which starts before a switch is
 * recorded and leaves out what a hypervisor or interrupts took. Intervals are by the switches, each
 * corrected by that clock between the two readings of it that are nearest.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_RUN_CELLS_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_RUN_CELLS_H

#include <stdint.h>

#include "analyzer/analyse/host/processes.h"
#include "analyzer/model/model.h"

/*
 * run_cells - fill @run_ns, @count of them, which add up to @usage->run_ns exactly
 *
 * Interval k is from @cuts[k] to @cuts[k + 1]; cuts ascend, the first and last are those of the window
 * that @usage is of. @weights is room for @count numbers. Needs timelines; nothing if @count is 0.
 */
void run_cells(const struct model *model, const struct thread_usage *usage, const uint64_t *cuts,
	       uint32_t count, double *weights, uint64_t *run_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_RUN_CELLS_H */
