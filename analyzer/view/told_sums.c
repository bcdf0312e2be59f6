/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/told_sums.h"

#include <stdlib.h>

/* Does the sum have data that tasks lack, at least in part? */
static bool says_more(const struct operator_sum *sum)
{
	return sum->shapes || sum->host_ns != UINT64_MAX || sum->host_self_ns != UINT64_MAX;
}

/* Unknown values come last. */
static int by_time(uint64_t x, uint64_t y)
{
	return x + 1 > y + 1 ? -1 : x + 1 < y + 1;
}

/* Sums by type come before sums by name, because they are fewer. */
static int by_total(const void *a, const void *b, void *context)
{
	const struct operator_sum *sums = context;
	const struct operator_sum *x = &sums[*(const uint32_t *)a],
				  *y = &sums[*(const uint32_t *)b];

	if (!x->name != !y->name)
		return x->name ? 1 : -1;
	if (x->total_ns != y->total_ns)
		return by_time(x->total_ns, y->total_ns);
	if (x->host_ns != y->host_ns)
		return by_time(x->host_ns, y->host_ns);
	return x < y ? -1 : x > y;
}

static bool is_shown(const struct model *model, const bool *busy, const struct operator_sum *sum,
		     bool more)
{
	bool alone = sum->device >= model->devices.count || !busy[sum->device];

	return more ? alone || says_more(sum)
		    : alone && sum->name && sum->total_ns && sum->total_ns != UINT64_MAX;
}

uint32_t *told_sums(const struct model *model, bool more, uint32_t *count)
{
	bool *busy = calloc((size_t)model->devices.count + 1, sizeof(*busy));
	uint32_t *rows = calloc((size_t)model->operator_sums.count + 1, sizeof(*rows));

	*count = 0;
	for (uint32_t i = 0; busy && i < model->tasks.count; i++)
		busy[model->tasks.row[i].device] = true;
	for (uint32_t i = 0; busy && rows && i < model->operator_sums.count; i++) {
		if (is_shown(model, busy, &model->operator_sums.row[i], more))
			rows[(*count)++] = i;
	}
	if (!busy) {
		free(rows);
		rows = NULL;
	}
	free(busy);
	if (rows)
		qsort_r(rows, *count, sizeof(*rows), by_total, model->operator_sums.row);
	return rows;
}
