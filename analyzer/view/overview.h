/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.h - the report on one screen: the verdict, its reasons, and where to look next.
 */
#ifndef PROFBPF_ANALYZER_VIEW_OVERVIEW_H
#define PROFBPF_ANALYZER_VIEW_OVERVIEW_H

#include "analyzer/view/report.h"
#include "analyzer/view/view.h"

/*
 * overview_text - the verdict, a line for each of what was recorded, the machine, its devices and steps, and the
 * first rows of the tables that people look at first; then the sections that have more
 *
 * Needs the results of SECTION_DEFAULT. @options->top is the number of rows of each table, OVERVIEW_ROWS
 * unless somebody asked for another. Returns as report_text() does.
 */
int overview_text(FILE *out, const struct model *model, const struct results *results,
		  const struct report_options *options);

#define OVERVIEW_ROWS 4

/* Its tables, up to NULL: a test looks for each column. */
extern const struct view *const overview_views[];

#endif /* PROFBPF_ANALYZER_VIEW_OVERVIEW_H */
