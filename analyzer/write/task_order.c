/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/task_order.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_stream(const void *a, const void *b, void *rows)
{
	const struct device_task *x = (const struct device_task *)rows + *(const uint32_t *)a;
	const struct device_task *y = (const struct device_task *)rows + *(const uint32_t *)b;
	int order = compare(x->device, y->device);

	if (!order)
		order = compare(x->stream, y->stream);
	if (!order)
		order = compare(x->start_ns, y->start_ns);
	return order ? order : compare(y->end_ns, x->end_ns);
}

uint32_t *task_order(const struct model *model, uint32_t *count)
{
	uint32_t *order = malloc(((size_t)model->tasks.count + 1) * sizeof(*order));

	*count = 0;
	if (!order)
		return NULL;
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->device < model->devices.count && !(task->flags & MODEL_TASK_UNTIMED))
			order[(*count)++] = i;
	}
	qsort_r(order, *count, sizeof(*order), by_stream, model->tasks.row);
	return order;
}

static int by_time(const void *a, const void *b)
{
	const struct task_queue_step *x = a, *y = b;
	int order = compare(x->ns, y->ns);

	/* One that begins as another ends adds nothing to the peak. */
	return order ? order : x->depth < y->depth ? -1 : x->depth > y->depth;
}

static uint64_t accepted_at(const struct device_task *task)
{
	if (task->enqueue_ns && task->enqueue_ns <= task->end_ns)
		return task->enqueue_ns;
	if (task->queued_ns && task->queued_ns <= task->end_ns)
		return task->queued_ns;
	return task->start_ns;
}

struct task_queue_step *task_queue_compute(const struct model *model, const uint32_t *order,
					   uint32_t count, uint32_t *steps)
{
	struct task_queue_step *step = malloc((2 * (size_t)count + 1) * sizeof(*step));
	uint32_t kept = 0;
	int64_t depth = 0;

	*steps = 0;
	if (!step)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct device_task *task = &model->tasks.row[order[i]];

		step[2 * i] = (struct task_queue_step){ .ns = accepted_at(task), .depth = 1 };
		step[2 * i + 1] = (struct task_queue_step){ .ns = task->end_ns, .depth = -1 };
	}
	qsort(step, 2 * (size_t)count, sizeof(*step), by_time);
	for (size_t i = 0; i < 2 * (size_t)count; i++) {
		depth += step[i].depth;
		if (i + 1 < 2 * (size_t)count && step[i + 1].ns == step[i].ns)
			continue;
		step[kept++] = (struct task_queue_step){ .ns = step[i].ns, .depth = depth };
	}
	*steps = kept;
	return step;
}
