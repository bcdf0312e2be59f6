/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slivers.h - what ran on CPUs for so short that a timeline of all of it would be too large for its viewer.
 *
 * Up to SLIVERS_KEPT slices, and SLIVERS_PER_SECOND for longer recordings, each run is a slice of its own. Where there are
 * more, runs that are shorter than a resolution, and less than that apart, are one slice: the least resolution, of
 * 1, 2, 4 us and so on, with which there are no more than that. A slice of several is SLIVER_LENGTH resolutions long at most.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_SLIVERS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_SLIVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/export/timeline/cpu_slices.h"

#define SLIVERS_KEPT 100000
#define SLIVERS_PER_SECOND 5000
#define SLIVER_LENGTH 8

/* Neighbours on one CPU. */
struct sliver {
	uint32_t first; /* of cpu_slices.slices: the first and the last run of it; there may be idle time in between */
	uint32_t last;
	uint32_t runs;
	uint64_t run_ns; /* on the CPU in all */
	bool one_thread; /* all are of one */
};

/* sliver_resolution - what is to be merged of @cpus so that at most @kept slices are left */
struct sliver_counts sliver_resolution(const struct cpu_slices *cpus, uint64_t kept);

/*
 * sliver_next - the slice that begins at or after *@at of a CPU's, which is moved behind it
 *
 * Returns false when there is none left. @resolution_ns 0: each run is one.
 */
bool sliver_next(const struct cpu_slices *cpus, const struct cpu_row *cpu, uint64_t resolution_ns,
		 uint32_t *at, struct sliver *sliver);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_SLIVERS_H */
