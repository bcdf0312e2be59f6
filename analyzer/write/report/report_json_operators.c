/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report/report_device.h"
#include "analyzer/write/report/report_told.h"

/* Absent where tasks differ in it, too. */
static void write_text(struct json *json, const char *key, const struct model *model, uint32_t text)
{
	if (text && text != OPERATOR_SEVERAL)
		json_text(json, key, model_text(model, text));
}

static void write_work(struct json *json, const struct model *model,
		       const struct operator_usage *row)
{
	const struct operator_figures *figures = &row->figures;
	double value;

	if (figures->counted)
		json_decimal(json, "flops", figures->flops);
	if (operator_flops_rate(figures, &value))
		json_decimal(json, "flops_per_second", value);
	if (operator_flops_percent(model, row->device, figures, &value))
		json_decimal(json, "flops_percent", value);
	if (figures->counted && figures->counted < row->count)
		json_u64(json, "flops_tasks", figures->counted);
	if (figures->moved)
		json_decimal(json, "bytes", figures->moved_bytes);
	if (operator_bandwidth(figures, &value))
		json_decimal(json, "bytes_per_second", value);
	if (operator_bandwidth_percent(model, row->device, figures, &value))
		json_decimal(json, "bandwidth_percent", value);
	if (figures->moved && figures->moved < row->count)
		json_u64(json, "bytes_tasks", figures->moved);
}

static void write_shapes(struct json *json, const struct model *model,
			 const struct operator_figures *figures)
{
	if (!figures->detailed)
		return;
	write_text(json, "input_shapes", model, figures->input_shapes);
	write_text(json, "input_types", model, figures->input_types);
	write_text(json, "input_formats", model, figures->input_formats);
	write_text(json, "output_shapes", model, figures->output_shapes);
	write_text(json, "output_types", model, figures->output_types);
	write_text(json, "output_formats", model, figures->output_formats);
	json_u64(json, "shape_variants", figures->variants);
}

static void write_metrics(struct json *json, const struct model *model,
			  const struct operator_list *list, const struct operator_figures *figures)
{
	if (!figures->metric_count)
		return;
	json_array(json, "metrics");
	for (uint32_t i = 0; i < figures->metric_count; i++) {
		const struct operator_metric *row = &list->metrics.row[figures->first_metric + i];

		if (!row->tasks)
			continue;
		json_map(json, NULL);
		json_text(json, "name", model_text(model, row->name));
		json_decimal(json, "mean", row->mean);
		json_u64(json, "tasks", row->tasks);
		json_map_close(json);
	}
	json_array_close(json);
}

/* What tells a row from others stands first; figures after it. */
static void write_row(struct json *json, const struct model *model,
		      const struct operator_list *list, const struct operator_usage *row)
{
	enum operator_by by = list->by;

	json_map(json, NULL);
	if (by == OPERATOR_BY_SCOPE)
		json_text(json, "scope", model_text(model, row->name));
	else if (by == OPERATOR_BY_NAME || by == OPERATOR_BY_SHAPE)
		json_text(json, "name", model_text(model, row->name));
	if (by != OPERATOR_BY_CORE && by != OPERATOR_BY_SCOPE)
		json_text(json, "type", task_kind_name(row->kind));
	if (row->type)
		json_text(json, "op_type", model_text(model, row->type));
	if (by != OPERATOR_BY_SCOPE)
		json_text(json, "core", operator_core_name(row->core));
	json_u64(json, "device", model->devices.row[row->device].id);
	json_u64(json, "count", row->count);
	json_u64(json, "total_ns", row->total_ns);
	json_u64(json, "mean_ns", row->total_ns / row->count);
	json_u64(json, "min_ns", row->min_ns);
	json_u64(json, "max_ns", row->max_ns);
	json_decimal(json, "percent", row->percent);
	json_decimal(json, "cumulative_percent", row->cumulative);
	write_work(json, model, row);
	write_shapes(json, model, &row->figures);
	write_metrics(json, model, list, &row->figures);
	json_map_close(json);
}

static void write_list(struct json *json, const char *key, const struct model *model,
		       const struct operator_list *list)
{
	json_array(json, key);
	for (uint32_t i = 0; i < list->count; i++)
		write_row(json, model, list, &list->rows[i]);
	json_array_close(json);
}

void report_json_operators(struct json *json, const struct model *model,
			   const struct device_results *devices)
{
	write_list(json, "operators", model, &devices->operators);
	write_list(json, "operator_types", model, &devices->types);
	write_list(json, "operator_cores", model, &devices->cores);
	json_told_operators(json, model);
}
