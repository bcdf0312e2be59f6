/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting of rows that are mostly in order already. */
#ifndef PROFBPF_LIB_BASE_SORT_ROWS_H
#define PROFBPF_LIB_BASE_SORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * sort_rows - sorts @count rows of @size bytes like qsort(3), but rows in order cost one comparison
 * each, and equal rows keep their order as long as there is memory for a copy
 */
void sort_rows(void *rows, size_t count, size_t size, int (*compare)(const void *a, const void *b));

/* The rows of a MODEL_ARRAY. */
#define SORT_ARRAY(array, by) sort_rows((array)->row, (array)->count, sizeof(*(array)->row), by)

/*
 * sort_runs - the same with a context, as qsort_r(3)
 *
 * For rows in sorted runs, or a few positions away from their place: rows are moved only where runs overlap, and
 * only these are copied. Each part is sorted completely before the next one is read. Returns false without memory for the
 * copy: then the rows are in an arbitrary order, and the caller sorts them with qsort_r().
 */
bool sort_runs(void *rows, size_t count, size_t size,
	       int (*compare)(const void *a, const void *b, void *context), void *context);

#endif /* PROFBPF_LIB_BASE_SORT_ROWS_H */
