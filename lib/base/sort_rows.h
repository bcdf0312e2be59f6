/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting of rows that mostly come in order. */
#ifndef PROFBPF_LIB_BASE_SORT_ROWS_H
#define PROFBPF_LIB_BASE_SORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * sort_rows - @count rows of @size bytes; what qsort(3) does, but rows in order cost one comparison
 * each, and rows that compare equal keep their order as long as there is memory for a copy
 */
void sort_rows(void *rows, size_t count, size_t size, int (*compare)(const void *a, const void *b));

/* The rows of a MODEL_ARRAY. */
#define SORT_ARRAY(array, by) sort_rows((array)->row, (array)->count, sizeof(*(array)->row), by)

/*
 * sort_runs - the same with a context, as qsort_r(3)
 *
 * Rows come in runs that are in order, or a few places from where they belong: only where runs overlap, rows
 * are moved, and as many as that are copied. All rows of a part are sorted before the next part is looked at. False
 * without memory for the copy: then the rows are in some order, which is for qsort_r() to mend.
 */
bool sort_runs(void *rows, size_t count, size_t size,
	       int (*compare)(const void *a, const void *b, void *context), void *context);

#endif /* PROFBPF_LIB_BASE_SORT_ROWS_H */
