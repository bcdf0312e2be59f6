/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/intervals.h"

#include <errno.h>
#include <stdlib.h>

int intervals_add(struct intervals *intervals, uint64_t start_ns, uint64_t end_ns)
{
	struct interval *last = intervals->count ? &intervals->row[intervals->count - 1] : NULL;

	if (end_ns <= start_ns)
		return 0;
	if (last && start_ns >= last->start_ns && start_ns <= last->end_ns) {
		last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
		return 0;
	}
	if (intervals->count == intervals->capacity) {
		uint32_t capacity = intervals->capacity ? intervals->capacity * 2 : 64;
		struct interval *row;

		if (capacity < intervals->capacity)
			return -ENOMEM;
		row = reallocarray(intervals->row, capacity, sizeof(*row));
		if (!row)
			return -ENOMEM;
		intervals->row = row;
		intervals->capacity = capacity;
	}
	intervals->row[intervals->count++] = (struct interval){ start_ns, end_ns };
	return 0;
}

void intervals_free(struct intervals *intervals)
{
	free(intervals->row);
	*intervals = (struct intervals){ 0 };
}

static int by_start(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

void intervals_unite(struct intervals *intervals)
{
	struct interval *row = intervals->row;
	uint32_t last = 0;

	if (intervals->count == 0)
		return;
	qsort(row, intervals->count, sizeof(*row), by_start);
	for (uint32_t i = 1; i < intervals->count; i++) {
		if (row[i].start_ns > row[last].end_ns)
			row[++last] = row[i];
		else if (row[i].end_ns > row[last].end_ns)
			row[last].end_ns = row[i].end_ns;
	}
	intervals->count = last + 1;
}

uint64_t intervals_length(const struct intervals *intervals)
{
	uint64_t length = 0;

	for (uint32_t i = 0; i < intervals->count; i++)
		length += intervals->row[i].end_ns - intervals->row[i].start_ns;
	return length;
}

uint64_t intervals_overlap(const struct intervals *a, const struct intervals *b)
{
	uint64_t length = 0;
	uint32_t i = 0, j = 0;

	while (i < a->count && j < b->count) {
		const struct interval *x = &a->row[i], *y = &b->row[j];
		uint64_t start_ns = x->start_ns > y->start_ns ? x->start_ns : y->start_ns;
		uint64_t end_ns = x->end_ns < y->end_ns ? x->end_ns : y->end_ns;

		if (start_ns < end_ns)
			length += end_ns - start_ns;
		if (x->end_ns < y->end_ns)
			i++;
		else
			j++;
	}
	return length;
}
