/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slivers.h - merges short runs on CPUs that would make a timeline too large for its viewer.
 *
 * Up to SLIVERS_KEPT slices, or SLIVERS_PER_SECOND for longer recordings, each run is a slice. If there are more, runs that
 * are shorter than the resolution, and less than that apart, become one slice; the resolution is the smallest of 1, 2, 4 us
 * and so on that stays within the limit. A merged slice is at most SLIVER_LENGTH resolutions long.
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
	uint32_t first; /* indices into cpu_slices.slices of its first and last run; there may be idle time in between */
	uint32_t last;
	uint32_t runs;
	uint64_t run_ns; /* on the CPU in all */
	bool one_thread; /* all runs are of one thread */
};

/* sliver_resolution - the merging of @cpus that leaves at most @kept slices */
struct sliver_counts sliver_resolution(const struct cpu_slices *cpus, uint64_t kept);

/*
 * sliver_next - the next slice of a CPU from *@at on; *@at is moved behind it
 *
 * Returns false when there are no more. @resolution_ns 0: each run is a slice.
 */
bool sliver_next(const struct cpu_slices *cpus, const struct cpu_row *cpu, uint64_t resolution_ns,
		 uint32_t *at, struct sliver *sliver);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_SLIVERS_H */
