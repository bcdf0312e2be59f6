/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/task_sort.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b, void *context)
{
	const struct device_task *tasks = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (tasks[x].start_ns != tasks[y].start_ns)
		return tasks[x].start_ns < tasks[y].start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_stream(const void *a, const void *b, void *context)
{
	const struct device_task *tasks = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (tasks[x].stream != tasks[y].stream)
		return tasks[x].stream < tasks[y].stream ? -1 : 1;
	return x < y ? -1 : x > y;
}

void tasks_sort_by_start(const struct model *model, uint32_t *rows, uint32_t count)
{
	qsort_r(rows, count, sizeof(*rows), by_start, model->tasks.row);
}

void tasks_sort_by_stream(const struct model *model, uint32_t *rows, uint32_t count)
{
	qsort_r(rows, count, sizeof(*rows), by_stream, model->tasks.row);
}
