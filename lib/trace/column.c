/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.c - growing columns, and checking the columns of a batch that was read.
 */
#include "lib/trace/column.h"

#define FIRST_CAPACITY 64 /* entries */

void *column_grow(void *value, size_t count, size_t more, size_t entry_size, size_t *capacity)
{
	size_t wanted = *capacity ? *capacity : FIRST_CAPACITY;
	void *grown;

	if (more > SIZE_MAX / 2 / entry_size - count)
		return NULL;
	while (wanted < count + more)
		wanted *= 2;
	grown = reallocarray(value, wanted, entry_size);
	if (grown)
		*capacity = wanted;
	return grown;
}

int column_rows(size_t *rows, const size_t *counts, size_t columns)
{
	*rows = 0;
	for (size_t i = 0; i < columns; i++) {
		if (!counts[i])
			continue;
		if (*rows && counts[i] != *rows) {
			*rows = 0;
			return -EBADMSG;
		}
		*rows = counts[i];
	}
	return 0;
}
