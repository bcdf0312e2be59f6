/* SPDX-License-Identifier: Apache-2.0 */
/* overview.h - the report on one screen: the verdict, its reasons, and the sections with more details. */
#ifndef PROFBPF_ANALYZER_VIEW_OVERVIEW_H
#define PROFBPF_ANALYZER_VIEW_OVERVIEW_H

#include "analyzer/view/report.h"
#include "analyzer/view/view.h"

/*
 * overview_text - writes the verdict, one line for each kind of recorded data, the machine, its devices and steps, the
 * first rows of the most important tables, and the sections with more details
 *
 * Needs the results of SECTION_DEFAULT. @options->top is the number of rows of each table, OVERVIEW_ROWS unless the
 * user passed a number. Returns as report_text() does.
 */
int overview_text(FILE *out, const struct model *model, const struct results *results,
		  const struct report_options *options);

#define OVERVIEW_ROWS 4

/* The tables of the overview, up to NULL: a test checks each column. */
extern const struct view *const overview_views[];

#endif /* PROFBPF_ANALYZER_VIEW_OVERVIEW_H */
