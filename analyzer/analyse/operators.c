/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/operators.h"

#include <errno.h>
#include <stdlib.h>

const char *task_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[PROFBPF__DEVICE_TASKS__KIND__OTHER] = "other",
		[PROFBPF__DEVICE_TASKS__KIND__KERNEL] = "kernel",
		[PROFBPF__DEVICE_TASKS__KIND__COPY] = "copy",
		[PROFBPF__DEVICE_TASKS__KIND__FILL] = "fill",
		[PROFBPF__DEVICE_TASKS__KIND__MAP] = "map",
		[PROFBPF__DEVICE_TASKS__KIND__SYNC] = "sync",
		[PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION] = "communication",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "other";
}

static int by_operator(const void *a, const void *b, void *context)
{
	const struct device_task *tasks = context;
	const struct device_task *x = &tasks[*(const uint32_t *)a];
	const struct device_task *y = &tasks[*(const uint32_t *)b];

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int by_total(const void *a, const void *b)
{
	const struct operator_usage *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static bool belongs(const struct model *model, const struct analysis_options *options,
		    const struct analysis_window *window, const struct device_task *task)
{
	return !(task->flags & MODEL_TASK_UNTIMED) &&
	       task->kind != PROFBPF__DEVICE_TASKS__KIND__SYNC &&
	       task->device < model->devices.count && task->start_ns >= window->from_ns &&
	       task->start_ns < window->to_ns &&
	       analysis_wants_process(model, options, model->devices.row[task->device].process);
}

static void add_task(struct operator_usage *row, const struct device_task *task)
{
	uint64_t ns = task->end_ns - task->start_ns;

	if (row->count == 0 || ns < row->min_ns)
		row->min_ns = ns;
	if (ns > row->max_ns)
		row->max_ns = ns;
	row->count++;
	row->total_ns += ns;
}

/* Rows of one device lie together here, before the rows are sorted by time. */
static void set_percent(struct operator_usage *rows, uint32_t count)
{
	for (uint32_t first = 0, end; first < count; first = end) {
		double total = 0;

		for (end = first; end < count && rows[end].device == rows[first].device; end++)
			total += (double)rows[end].total_ns;
		for (uint32_t i = first; i < end && total > 0; i++)
			rows[i].percent = 100.0 * (double)rows[i].total_ns / total;
	}
}

int operators_analyse(const struct model *model, const struct analysis_options *options,
		      struct operator_usage **rows, uint32_t *count)
{
	struct analysis_window window = analysis_window(model, options);
	const struct device_task *tasks = model->tasks.row;
	uint32_t *order = calloc((size_t)model->tasks.count + 1, sizeof(*order));
	uint32_t selected = 0, different = 0;
	int error = -ENOMEM;

	*count = 0;
	*rows = NULL;
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		if (belongs(model, options, &window, &tasks[i]))
			order[selected++] = i;
	}
	qsort_r(order, selected, sizeof(*order), by_operator, model->tasks.row);
	for (uint32_t i = 0; i < selected; i++)
		different += i == 0 || by_operator(&order[i - 1], &order[i], model->tasks.row);
	*rows = calloc((size_t)different + 1, sizeof(**rows));
	if (!*rows)
		goto cleanup;
	for (uint32_t i = 0; i < selected; i++) {
		const struct device_task *task = &tasks[order[i]];

		if (i == 0 || by_operator(&order[i - 1], &order[i], model->tasks.row))
			(*rows)[(*count)++] = (struct operator_usage){ .name = task->name,
								       .device = task->device,
								       .kind = task->kind };
		add_task(&(*rows)[*count - 1], task);
	}
	set_percent(*rows, *count);
	qsort(*rows, *count, sizeof(**rows), by_total);
	error = 0;
cleanup:
	free(order);
	return error;
}
