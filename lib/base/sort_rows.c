/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/sort_rows.h"

#include <stdlib.h>

void sort_rows(void *rows, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
	const char *row = rows;

	for (size_t i = 1; i < count; i++) {
		if (compare(row + (i - 1) * size, row + i * size) > 0) {
			/* glibc's is a merge sort. */
			qsort(rows, count, size, compare);
			return;
		}
	}
}
