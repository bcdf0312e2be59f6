/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_tree.h - the JSON report as the page contains it: numbers are copied as text, long lists are cut.
 *
 * Lists of maps keep their first rows, so that the path of a row is the same as in the report. In matrices (a map with
 * "columns" and "rows") and lists of pairs, which are drawn along time, successive rows become one: its instant is
 * that of the first row, durations are summed, other columns are means; pairs keep the largest value.
 */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TREE_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TREE_H

#include <stdio.h>
#include <yajl/yajl_tree.h>

/* page_tree_parse - parses the report's text. NULL without memory; the caller frees with yajl_tree_free(). */
yajl_val page_tree_parse(const char *text);

/*
 * page_tree_write - writes the report as compact JSON, with at most @rows rows of each list
 *
 * The outermost map gets "left_out": the number of missing rows of each list, by its path. Returns 0 or a negative
 * errno.
 */
int page_tree_write(FILE *out, yajl_val report, size_t rows);

/* page_tree_get - returns the value at a path of keys and indices, "devices.0.busy_ns"; NULL if there is none */
yajl_val page_tree_get(yajl_val report, const char *path);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TREE_H */
