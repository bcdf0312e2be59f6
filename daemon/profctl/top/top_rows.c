/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/top/top_rows.h"

#include <search.h>
#include <stdlib.h>

int top_rows_by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void *top_rows_get(void **tree, uint64_t key, size_t size, bool *new)
{
	void **found = tfind(&key, tree, top_rows_by_key);
	uint64_t *row;

	if (new)
		*new = !found;
	if (found)
		return *found;
	row = calloc(1, size);
	if (!row)
		return NULL;
	*row = key;
	if (!tsearch(row, tree, top_rows_by_key)) {
		free(row);
		return NULL;
	}
	return row;
}

void *top_rows_find(void *const *tree, uint64_t key)
{
	void **found = tfind(&key, tree, top_rows_by_key);

	return found ? *found : NULL;
}

void top_rows_leave(struct top_state *state, const struct thread *thread)
{
	struct process *p = top_rows_find(&state->processes, thread->pid);

	if (p && p->alive && --p->alive == 0)
		p->gone = true;
}

uint64_t top_rows_grown(uint64_t *last, uint64_t now)
{
	uint64_t growth = now > *last ? now - *last : 0;

	*last = now;
	return growth;
}
