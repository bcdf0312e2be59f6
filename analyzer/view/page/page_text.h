/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_text.h - HTML text, and human-readable figures: "1.234 ms", "12,345", "7.4 %". values.js does the same.
 */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TEXT_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <yajl/yajl_tree.h>

/* page_escaped - writes @text with HTML's special characters escaped */
void page_escaped(FILE *out, const char *text);

/*
 * page_figure - writes the report's value at @path as an element with data-key and data-value
 *
 * The last name of the path determines the unit. Writes nothing if there is no value.
 */
void page_figure(FILE *out, yajl_val report, const char *path);

/* page_figure_as - the same, with the unit determined by @name ("ns" or "percent") instead of the path's last name */
void page_figure_as(FILE *out, yajl_val report, const char *path, const char *name);

/*
 * page_figure_begin - writes only the element's begin tag; returns false, and writes nothing, if there is no number or
 * text
 */
bool page_figure_begin(FILE *out, yajl_val report, const char *path);

/* page_human - formats a number for display; its unit is in @name. Returns @into. */
#define PAGE_HUMAN_SIZE 64
const char *page_human(const char *name, const char *number, char *into);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TEXT_H */
