/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roots_view.h - who was at the end of all waiting (analyse/idle/idle_roots.h), as the sections show it that have such rows.
 */
#ifndef PROFBPF_ANALYZER_VIEW_ROOTS_VIEW_H
#define PROFBPF_ANALYZER_VIEW_ROOTS_VIEW_H

#include <stddef.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/view/view.h"

/* All rows of idle_roots as "roots", of wait_roots as "roots", of wait_runs as "run". */
extern const struct view idle_roots_view;
extern const struct view wait_roots_view;
extern const struct view wait_runs_view;

/* roots_text - a table of one of the views above under a heading; 0 or a negative errno. */
int roots_text(const struct report *report, const struct view *view, const char *heading);

#endif /* PROFBPF_ANALYZER_VIEW_ROOTS_VIEW_H */
