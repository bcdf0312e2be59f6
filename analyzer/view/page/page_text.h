/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_text.h - HTML text, and figures as people read them: "1.234 ms", "12,345", "7.4 %". values.js does the same.
 */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TEXT_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <yajl/yajl_tree.h>

/* page_escaped - @text where it means nothing in HTML */
void page_escaped(FILE *out, const char *text);

/*
 * page_figure - the report's value at @path as an element with data-key and data-value
 *
 * Its unit is in the last name of the path. Nothing is written where there is none.
 */
void page_figure(FILE *out, yajl_val report, const char *path);

/* page_figure_as - the same, where the path's last name does not tell the unit: @name does, "ns" or "percent" */
void page_figure_as(FILE *out, yajl_val report, const char *path, const char *name);

/* page_figure_begin - the element's begin tag alone; false, and nothing written, where there is no number or text */
bool page_figure_begin(FILE *out, yajl_val report, const char *path);

/* page_human - a number as it is shown; its unit is in @name. Returns @into. */
#define PAGE_HUMAN_SIZE 64
const char *page_human(const char *name, const char *number, char *into);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TEXT_H */
