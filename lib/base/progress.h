/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - a progress line on a terminal for work that takes long.
 *
 * Only on a terminal; nothing is written to a file or a pipe. Work that takes less than a second shows nothing. The
 * line is redrawn at most five times a second, and is erased before other output.
 */
#ifndef PROFBPF_LIB_BASE_PROGRESS_H
#define PROFBPF_LIB_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *to; /* NULL: nothing is shown */
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint64_t last_ns; /* when the line was written; 0 = never */
	bool shown; /* the line stands there */
};

/* progress_begin - the work begins; the line is shown on @to if that is a terminal. A zeroed struct shows nothing. */
void progress_begin(struct progress *progress, FILE *to);

/* progress_wanted - would a line be written now? To make its text only then. */
bool progress_wanted(const struct progress *progress);

/* progress_show - write @text, cut to the terminal's width, without control characters, if it is time */
void progress_show(struct progress *progress, const char *text);

/* progress_now - the same of something new: at once, if the first second is over */
void progress_now(struct progress *progress, const char *text);

/*
 * progress_part - "reading run.pbt: 42 % of 1.2 GiB, 340 MiB/s, 3 s left"
 *
 * @done and @total: bytes; with a @total of 0 only @done is shown. The time left assumes the mean pace so far for the
 * rest.
 */
void progress_part(struct progress *progress, const char *what, uint64_t done, uint64_t total);

/* progress_wipe - take the line away, before something else is written or at the end */
void progress_wipe(struct progress *progress);

#endif /* PROFBPF_LIB_BASE_PROGRESS_H */
