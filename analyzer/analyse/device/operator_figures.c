/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/operator_figures.h"

#include <stdlib.h>
#include <string.h>

static uint64_t duration(const struct device_task *task)
{
	return task->end_ns - task->start_ns;
}

/* A copy's bytes are the copied bytes; a collective's bytes are the contribution of each rank. */
static bool is_copy(const struct device_task *task)
{
	return task->kind == PROFBPF__DEVICE_TASKS__KIND__COPY ||
	       task->kind == PROFBPF__DEVICE_TASKS__KIND__FILL ||
	       task->kind == PROFBPF__DEVICE_TASKS__KIND__MAP;
}

static void add_work(const struct device_task *task, const struct task_detail *detail,
		     struct operator_figures *figures)
{
	uint32_t known = detail ? detail->known : 0;
	uint64_t ns = duration(task);

	if (known & MODEL_DETAIL_FLOPS) {
		figures->counted++;
		figures->counted_ns += ns;
		figures->flops += detail->flops;
	}
	if (known & MODEL_DETAIL_UTILIZATION) {
		figures->utilized_ns += ns;
		figures->utilized += detail->utilization * (double)ns;
	}
	if (known & MODEL_DETAIL_MOVED || (is_copy(task) && task->bytes)) {
		figures->moved++;
		figures->moved_ns += ns;
		figures->moved_bytes += known & MODEL_DETAIL_MOVED ? detail->moved_bytes
								   : (double)task->bytes;
	}
}

static void add_text(uint32_t *all, uint32_t text, bool first)
{
	if (first)
		*all = text;
	else if (*all != text)
		*all = OPERATOR_SEVERAL;
}

static void add_shapes(const struct task_detail *detail, struct operator_figures *figures)
{
	bool first = figures->detailed == 0;

	if (!detail->input_shapes && !detail->output_shapes && !detail->input_types &&
	    !detail->output_types)
		return;
	if (first || detail->input_shapes != figures->last_shapes)
		figures->variants++;
	figures->last_shapes = detail->input_shapes;
	figures->detailed++;
	add_text(&figures->input_shapes, detail->input_shapes, first);
	add_text(&figures->input_types, detail->input_types, first);
	add_text(&figures->input_formats, detail->input_formats, first);
	add_text(&figures->output_shapes, detail->output_shapes, first);
	add_text(&figures->output_types, detail->output_types, first);
	add_text(&figures->output_formats, detail->output_formats, first);
}

/* Shares and rates relate to the task's time: they are meaningless for a task of zero duration. */
static bool is_share(const char *name)
{
	return strstr(name, "_ratio") || strstr(name, "_rate") || strstr(name, "_bw(") ||
	       strstr(name, "(%)");
}

/* @guess: index at which the counter probably is, since tasks of one file have their counters in one order. */
static struct operator_metric *metric_of(const struct model *model,
					 struct operator_figures *figures,
					 struct operator_metrics *metrics, uint32_t name,
					 uint32_t guess)
{
	struct operator_metric metric = { .name = name };

	if (guess < figures->metric_count &&
	    metrics->row[figures->first_metric + guess].name == name)
		return &metrics->row[figures->first_metric + guess];
	for (uint32_t i = 0; i < figures->metric_count; i++) {
		if (metrics->row[figures->first_metric + i].name == name)
			return &metrics->row[figures->first_metric + i];
	}
	metric.share = is_share(model_text(model, name));
	if (!MODEL_PUSH(metrics, metric))
		return NULL;
	figures->metric_count++;
	return &metrics->row[metrics->count - 1];
}

/*
 * Groups of tasks have an array each, and there may be a million groups: an array begins with as many rows as its
 * first task has counters, which is how many the others have.
 */
static bool begin_metrics(struct operator_metrics *metrics, uint32_t count)
{
	if (metrics->capacity || !count)
		return true;
	metrics->row = calloc(count, sizeof(*metrics->row));
	metrics->capacity = metrics->row ? count : 0;
	return metrics->row != NULL;
}

static bool add_metrics(const struct model *model, const struct device_task *task,
			const struct task_detail *detail, struct operator_figures *figures,
			struct operator_metrics *metrics)
{
	if (!begin_metrics(metrics, detail->metric_count))
		return false;
	if (!figures->metric_count)
		figures->first_metric = metrics->count;
	for (uint32_t i = 0; i < detail->metric_count; i++) {
		const struct task_metric *from = &model->task_metrics.row[detail->first_metric + i];
		struct operator_metric *metric =
			metric_of(model, figures, metrics, from->name, i);
		double weight;

		if (!metric)
			return false;
		weight = metric->share ? (double)duration(task) : 1;
		if (!(weight > 0))
			continue;
		metric->tasks++;
		metric->weight += weight;
		metric->mean += (from->value - metric->mean) * weight / metric->weight;
	}
	return true;
}

bool operator_figures_add(const struct model *model, const struct device_task *task,
			  struct operator_figures *figures, struct operator_metrics *metrics)
{
	const struct task_detail *detail = model_task_detail(model, task);

	add_work(task, detail, figures);
	if (!detail)
		return true;
	add_shapes(detail, figures);
	return add_metrics(model, task, detail, figures, metrics);
}

static void merge_work(const struct operator_figures *from, struct operator_figures *into)
{
	into->counted += from->counted;
	into->counted_ns += from->counted_ns;
	into->flops += from->flops;
	into->moved += from->moved;
	into->moved_ns += from->moved_ns;
	into->moved_bytes += from->moved_bytes;
	into->utilized_ns += from->utilized_ns;
	into->utilized += from->utilized;
}

static void merge_shapes(const struct operator_figures *from, struct operator_figures *into)
{
	bool first = into->detailed == 0;

	if (!from->detailed)
		return;
	if (first || from->last_shapes != into->last_shapes)
		into->variants += from->variants;
	into->last_shapes = from->last_shapes;
	into->detailed += from->detailed;
	add_text(&into->input_shapes, from->input_shapes, first);
	add_text(&into->input_types, from->input_types, first);
	add_text(&into->input_formats, from->input_formats, first);
	add_text(&into->output_shapes, from->output_shapes, first);
	add_text(&into->output_types, from->output_types, first);
	add_text(&into->output_formats, from->output_formats, first);
}

static void merge_mean(const struct operator_metric *from, struct operator_metric *into)
{
	double weight = into->weight + from->weight;

	if (!(from->weight > 0))
		return;
	if (into->weight > 0)
		into->mean += (from->mean - into->mean) * from->weight / weight;
	else
		into->mean = from->mean;
	into->weight = weight;
	into->tasks += from->tasks;
}

bool operator_figures_merge(const struct model *model, const struct operator_figures *from,
			    const struct operator_metrics *from_metrics,
			    struct operator_figures *into, struct operator_metrics *into_metrics)
{
	merge_work(from, into);
	merge_shapes(from, into);
	if (!into->metric_count)
		into->first_metric = into_metrics->count;
	for (uint32_t i = 0; i < from->metric_count; i++) {
		const struct operator_metric *metric = &from_metrics->row[from->first_metric + i];
		struct operator_metric *to = metric_of(model, into, into_metrics, metric->name, i);

		if (!to)
			return false;
		merge_mean(metric, to);
	}
	return true;
}

bool operator_flops_rate(const struct operator_figures *figures, double *rate)
{
	if (!figures->counted_ns)
		return false;
	*rate = figures->flops * 1e9 / (double)figures->counted_ns;
	return true;
}

/* The file's own figure relates to the core that ran the task; the device's peak relates to all cores. */
bool operator_flops_percent(const struct model *model, uint32_t device,
			    const struct operator_figures *figures, double *percent)
{
	double peak = model->devices.row[device].peak_flops;

	if (figures->utilized_ns) {
		*percent = figures->utilized / (double)figures->utilized_ns;
		return true;
	}
	if (!(peak > 0) || !operator_flops_rate(figures, percent))
		return false;
	*percent *= 100 / peak;
	return true;
}

bool operator_bandwidth(const struct operator_figures *figures, double *rate)
{
	if (!figures->moved_ns)
		return false;
	*rate = figures->moved_bytes * 1e9 / (double)figures->moved_ns;
	return true;
}

bool operator_bandwidth_percent(const struct model *model, uint32_t device,
				const struct operator_figures *figures, double *percent)
{
	double peak = model->devices.row[device].peak_bandwidth;

	if (!(peak > 0) || !operator_bandwidth(figures, percent))
		return false;
	*percent *= 100 / peak;
	return true;
}
