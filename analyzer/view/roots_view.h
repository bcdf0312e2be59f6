/* SPDX-License-Identifier: Apache-2.0 */
/* roots_view.h - root causes of waiting (analyse/idle/idle_roots.h) as views for the sections that show them. */
#ifndef PROFBPF_ANALYZER_VIEW_ROOTS_VIEW_H
#define PROFBPF_ANALYZER_VIEW_ROOTS_VIEW_H

#include <stddef.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/view/view.h"

/* All rows of idle_roots as "roots", of wait_roots as "roots", of wait_runs as "run". */
extern const struct view idle_roots_view;
extern const struct view wait_roots_view;
extern const struct view wait_runs_view;

/* The root that the verdict names, as "root"; the verdict is the outer row. It is a row of one of these tables. */
extern const struct view idle_root_view;
extern const struct view wait_root_view;
extern const struct view wait_run_view;

/* The root that the verdict on one of several jobs names (job_verdicts.h), as "root"; the job is the outer row. */
extern const struct view job_root_view;

/*
 * root_told_text - thread, place and cause, and the chain back to the thread that submitted, cut to @size
 *
 * "reader 17: read: /data/train.bin on vda <- decoder 12 <- main 10"
 */
void root_told_text(const struct table_data *of, const struct idle_root *row, char *text,
		    size_t size);

/* roots_text - writes a table of one of the views above under a heading; returns 0 or a negative errno. */
int roots_text(const struct report *report, const struct view *view, const char *heading);

#endif /* PROFBPF_ANALYZER_VIEW_ROOTS_VIEW_H */
