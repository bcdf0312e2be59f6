/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_slices.h - the runtime calls, marked ranges and ioctls of a thread as one row of slices.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_THREAD_SLICES_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_THREAD_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/export/export_filter.h"
#include "analyzer/export/timeline/ranges.h"

struct thread_slice {
	uint64_t start_ns;
	uint64_t end_ns;
	const struct call *call; /* one of these two is set */
	const struct ioctl_call *ioctl;
	bool range; /* a range that the call begins, from the call to the range's end; the call's text is its name */
	bool open; /* it had not returned, or has not ended */
	bool cut; /* goes beyond the window, or began before the recording */
};

struct thread_slices {
	const struct model *model;
	const struct export_window *window;
	const struct ranges *ranges;
	uint32_t call;
	uint32_t call_end;
	uint32_t ioctl;
	uint32_t ioctl_end;
};

/* thread_slices_begin - the pointers must outlive the walk; @ranges: the ranges to show, or NULL */
void thread_slices_begin(struct thread_slices *slices, const struct model *model,
			 const struct export_window *window, const struct ranges *ranges,
			 uint32_t thread);

/*
 * thread_slices_next - the next slice inside the window, cut to it
 *
 * In order of start; of slices that start together the outer one comes first: the call
 * of lesser depth, then the longer one. Returns false at the end.
 */
bool thread_slices_next(struct thread_slices *slices, struct thread_slice *slice);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_THREAD_SLICES_H */
