/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_tree.h - the JSON report as the page carries it: each number as it is written there, long lists cut.
 *
 * Lists of maps keep their first rows, so that the path of a row is the same as in the report. Of matrices (a
 * map with "columns" and "rows") and lists of pairs, which are drawn along time, rows that follow each other become
 * one: instants are the first one's, durations add up, other columns are means; of pairs the largest value.
 */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TREE_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TREE_H

#include <stdio.h>
#include <yajl/yajl_tree.h>

/* page_tree_parse - the report's text. NULL without memory; the caller frees with yajl_tree_free(). */
yajl_val page_tree_parse(const char *text);

/*
 * page_tree_write - compact, with at most @rows rows of each list
 *
 * The outermost map gets "left_out": how many rows of which list are missing, by its path. Returns 0 or a
 * negative errno.
 */
int page_tree_write(FILE *out, yajl_val report, size_t rows);

/* page_tree_get - the value at a path of keys and indices, "devices.0.busy_ns"; NULL if there is none */
yajl_val page_tree_get(yajl_val report, const char *path);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TREE_H */
