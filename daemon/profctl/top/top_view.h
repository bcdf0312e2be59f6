/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_view.h - a frame as lines of text.
 *
 * Lines are made once, for any width; the terminal cuts them.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_VIEW_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_VIEW_H

#include "daemon/profctl/top/top_order.h"
#include "daemon/profctl/top/top_state.h"

#define TOP_WIDE 100 /* columns from which on all figures are shown */

struct top_view {
	struct top_choice choice;
	uint64_t own_cpu_ns; /* of profctl, in this frame */
};

enum top_style { TOP_PLAIN, TOP_HEADING, TOP_TARGET, TOP_WARNING };

/* Called for each line, without its end. */
typedef void top_line(void *context, enum top_style style, const char *text);

/*
 * top_view_summary - bars of the CPUs, switches, losses, costs
 * top_view_jobs  - for each process with devices or a data pipeline: how busy they are, and its trainer's wait
 *                   for data
 * top_view_why   - top_why_text(), wrapped to the width
 * top_view_calls   - calls by function, most first, at most @rows
 * top_view_devices - one line for each device
 * top_view_operators - operators of data pipelines, with their queues, the number of rows taken from
 *                   these, and the time that threads waited to put a row in or to get one; at
 *                   most @rows
 * top_view_processes - the processes that @view chooses, in its order, from row @first, at most @rows; returns their
 *                   total number
 *
 * top_view_keys - the keys of the terminal
 *
 * Each begins with its heading, and prints nothing if there are no rows.
 * @width is that of the terminal, for bars; in a narrow one there are fewer columns.
 */
void top_view_summary(const struct top_frame *frame, const struct top_view *view, int width,
		      top_line *line, void *context);
void top_view_jobs(const struct top_frame *frame, top_line *line, void *context);
void top_view_why(const char *text, int width, top_line *line, void *context);
void top_view_calls(struct top_frame *frame, int width, size_t rows, top_line *line, void *context);
void top_view_devices(const struct top_frame *frame, top_line *line, void *context);
void top_view_operators(const struct top_frame *frame, int width, size_t rows, top_line *line,
			void *context);
size_t top_view_processes(const struct top_frame *frame, const struct top_view *view, int width,
			  size_t first, size_t rows, top_line *line, void *context);
void top_view_keys(top_line *line, void *context);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_VIEW_H */
