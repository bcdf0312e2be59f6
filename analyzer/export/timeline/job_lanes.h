/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_lanes.h - lays out a job's tracks (job_tracks.h) on rows, for the writers of formats.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_JOB_LANES_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_JOB_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/export/export_filter.h"
#include "analyzer/export/timeline/job_tracks.h"

/* The functions of one output format; each receives @context. */
struct job_encoder {
	/* A new row of a track, for slices: its number, which is not 0. */
	uint64_t (*add_row)(void *context, uint32_t track);
	/* A slice begins on a row; @part is its part in the window, @cut: it is not the whole slice. */
	void (*begin)(void *context, uint64_t row, const struct job_slice *slice,
		      const struct export_window *part, bool cut);
	/* The innermost slice of a row ends; NULL: begin() has said it. */
	void (*end)(void *context, uint64_t row, uint64_t end_ns);
	void (*point)(void *context, const struct job_point *point);
};

/*
 * job_lanes_write - all slices that are in the window, each row's in order, then the points
 *
 * *@not_placed grows by the slices for which there was no row. Returns 0 or -ENOMEM.
 */
int job_lanes_write(const struct job_tracks *tracks, const struct export_window *window,
		    const struct job_encoder *encoder, void *context, uint64_t *not_placed);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_JOB_LANES_H */
