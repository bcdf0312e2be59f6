/* SPDX-License-Identifier: Apache-2.0 */
/* Operators: device tasks by name, type and core, and sums of operators in device files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/operators.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"
#include "analyzer/view/told_sums.h"

#define METRIC_COLUMNS 8 /* in the text report */

/* ---- Lists of operators */

#define LISTS 3

static const struct operator_list *list_at(const struct table_data *of, uint64_t index)
{
	const struct device_results *devices = of->results->devices;
	const struct operator_list *const lists[LISTS] = { &devices->operators, &devices->types,
							   &devices->cores };

	return lists[index];
}

static uint64_t list_index(const struct table_data *of, const struct operator_usage *row)
{
	uint64_t i = 0;

	while (i + 1 < LISTS &&
	       (row < list_at(of, i)->rows || row >= list_at(of, i)->rows + list_at(of, i)->count))
		i++;
	return i;
}

static const char *scope_of(const struct table_data *of, const struct operator_usage *row)
{
	return list_at(of, list_index(of, row))->by == OPERATOR_BY_SCOPE
		       ? model_text(of->model, row->name)
		       : NULL;
}

static const char *name_of(const struct table_data *of, const struct operator_usage *row)
{
	enum operator_by by = list_at(of, list_index(of, row))->by;

	return by == OPERATOR_BY_NAME || by == OPERATOR_BY_SHAPE ? model_text(of->model, row->name)
								 : NULL;
}

static bool has_type(const struct table_data *of, const struct operator_usage *row)
{
	enum operator_by by = list_at(of, list_index(of, row))->by;

	return by != OPERATOR_BY_CORE && by != OPERATOR_BY_SCOPE;
}

static struct cell any_text(const char *text)
{
	return text ? (struct cell){ .kind = CELL_TEXT, .text = text } : cell_none();
}

static struct cell same_text(const struct model *model, uint32_t text)
{
	return text == OPERATOR_SEVERAL ? cell_none() : cell_string(model, text);
}

static struct cell shapes_cell(struct table_cursor *at, const struct operator_usage *row)
{
	const char *name = name_of(at->of, row), *scope = scope_of(at->of, row);

	if (!name && !scope)
		return cell_none();
	if (row->figures.input_shapes != OPERATOR_SEVERAL)
		return cell_string(at->of->model, row->figures.input_shapes);
	snprintf(at->text[0], sizeof(at->text[0]), "(%u different)", row->figures.variants);
	return cell_text(at->text[0]);
}

#define PART_OF(known) cell_known((known) && (known) < row->count, known)

#define OPERATOR_FIGURES(COLUMN)                                                                   \
	COLUMN(named, TEXT, "name", "the name that its tasks have in common", any_text(name_of(of, \
	       row)))                                                                              \
	COLUMN(scope, TEXT, "scope", "the same, of scopes", any_text(scope_of(of, row)))           \
	COLUMN(of_type, TEXT, "type", "its type, or the kind of its tasks",                        \
	       cell_text(has_type(of, row) ? operator_type(model, row) : NULL))                    \
	COLUMN(task_kind, TEXT, "kind", "the kind of its tasks",                                   \
	       cell_text(has_type(of, row) ? task_kind_name(row->kind) : NULL))                    \
	COLUMN(op_type, TEXT, "type", "the type from a device file", cell_string(model,            \
	       row->type))                                                                         \
	COLUMN(ran_by, TEXT, "core", "what ran it",                                                \
	       cell_text(scope_of(of, row) ? NULL : operator_core_name(row->core)))                \
	COLUMN(cumulative_percent, PERCENT, "up to here", "share of all up to this row",           \
	       cell_real(row->cumulative))                                                         \
	COLUMN(mean_ns, SHORT_NS, "mean", "their mean", cell_u64(row->total_ns / row->count))      \
	COLUMN(flops_tasks, COUNT, "counted", "tasks whose operations are known, if not all",      \
	       PART_OF(row->figures.counted))                                                      \
	COLUMN(bytes_tasks, COUNT, "moved", "tasks whose bytes are known, if not all",             \
	       PART_OF(row->figures.moved))                                                        \
	COLUMN(shapes, TEXT, "input shapes", "or how many there are", shapes_cell(at, row))        \
	COLUMN(input_formats, TEXT, "input formats", "none if its tasks differ",                   \
	       same_text(model, row->figures.input_formats))                                       \
	COLUMN(output_formats, TEXT, "output formats", "none if its tasks differ",                 \
	       same_text(model, row->figures.output_formats))

DEFINE_FIGURES(operator_figures, struct operator_usage, OPERATOR_FIGURES, NULL);

#define LIST_METRIC_COLUMNS(COLUMN)                                                       \
	COLUMN(name, TEXT, "metric", "the counter's name", cell_string(model, row->name)) \
	COLUMN(mean, REAL, "mean", "over its tasks", cell_real(row->mean))                \
	COLUMN(tasks, COUNT, "tasks", "tasks that have it", cell_u64(row->tasks))

/* Iterates over the metrics of row at->i of list at->m, which view->within sets. */
static bool next_list_metric(struct table_cursor *at)
{
	const struct operator_list *list = list_at(at->of, at->m);
	const struct operator_figures *figures = &list->rows[at->i].figures;

	while (cursor_part(at, list, list->metrics.row, figures->first_metric,
			   figures->metric_count, sizeof(*list->metrics.row))) {
		if (((const struct operator_metric *)at->row)->tasks)
			return true;
	}
	return false;
}

DEFINE_FIGURES(list_metrics, struct operator_metric, LIST_METRIC_COLUMNS, next_list_metric);

static void of_row(struct table_cursor *at, const struct table_cursor *outer)
{
	at->i = outer->index;
	at->m = list_index(outer->of, outer->row);
}

static const struct view METRICS = { "metrics", NULL, &list_metrics, .within = of_row,
				     .optional = true };

#define MEGA .scale = 1e6, .decimals = 3
#define GIGA .scale = 1e9, .decimals = 3

static const struct view_column OPERATOR_COLUMNS[] = {
	{ "scope", .how = VIEW_JSON },
	{ "named", "name", VIEW_JSON },
	{ "scope", .how = VIEW_TEXT | VIEW_IF_KNOWN | VIEW_SHRINK, .empty = "(no scope)" },
	{ "named", .how = VIEW_TEXT | VIEW_IF_KNOWN | VIEW_SHRINK, .empty = "(no name)" },
	{ "of_type", .how = VIEW_TEXT | VIEW_IF_KNOWN },
	{ "task_kind", "type", VIEW_JSON },
	{ "op_type", .how = VIEW_JSON },
	{ "ran_by", "core", VIEW_IF_KNOWN },
	{ "device.id", "device" },
	{ "count" },
	{ "total_ns" },
	{ "percent", .heading = "% of device" },
	{ "cumulative_percent", .heading = "up to here" },
	{ "mean_ns" },
	{ "min_ns" },
	{ "max_ns" },
	{ "flops", .heading = "MFLOP", MEGA, .with = "flops_per_second" },
	{ "flops_per_second", .how = VIEW_IF_KNOWN, .heading = "GFLOP/s", GIGA },
	{ "flops_percent", .how = VIEW_IF_KNOWN, .heading = "% of peak", .scale = 1,
	  .decimals = 3 },
	{ "flops_tasks", .how = VIEW_JSON },
	{ "bytes", .heading = "MB", MEGA, .with = "bytes_per_second" },
	{ "bytes_per_second", .how = VIEW_IF_KNOWN, .heading = "GB/s", GIGA },
	{ "bandwidth_percent", .how = VIEW_JSON },
	{ "bytes_tasks", .how = VIEW_JSON },
	{ "shapes", .how = VIEW_TEXT | VIEW_IF_KNOWN | VIEW_SHRINK },
	{ "input_shapes", .how = VIEW_JSON },
	{ "input_types", .how = VIEW_JSON },
	{ "input_formats", .how = VIEW_JSON },
	{ "output_shapes", .how = VIEW_JSON },
	{ "output_types", .how = VIEW_JSON },
	{ "output_formats", .how = VIEW_JSON },
	{ "shape_variants", .how = VIEW_JSON },
	{ NULL },
};

#define LIST(name, table)                                                                 \
	{                                                                                 \
		name, "operators", table, OPERATOR_COLUMNS, .figures = &operator_figures, \
							    .inside = {                   \
								    &METRICS              \
							    }                             \
	}

static const struct view OPERATORS = LIST("operators", &table_operators);
static const struct view BY_TYPE = LIST("operator_types", &table_operator_types);
static const struct view BY_CORE = LIST("operator_cores", &table_operator_cores);

/* The list has one row for each operator; shapes by step are in another section. */
static void hint_at_shapes(FILE *out, const struct operator_list *list)
{
	uint32_t changing = 0;

	for (uint32_t i = 0; i < list->count; i++)
		changing += list->rows[i].figures.variants > 1;
	if (changing && list->by == OPERATOR_BY_NAME)
		fprintf(out,
			"%u of them have inputs of several shapes: --aggregate-by shape lists "
			"each, "
			"--section shapes each step.\n",
			changing);
}

static const struct operator_metric *metric_of(const struct operator_list *list,
					       const struct operator_usage *row, uint32_t name)
{
	for (uint32_t i = 0; i < row->figures.metric_count; i++) {
		const struct operator_metric *metric =
			&list->metrics.row[row->figures.first_metric + i];

		if (metric->name == name && metric->tasks)
			return metric;
	}
	return NULL;
}

/* Is it the share of time in which a part of a core was busy? Counter values are not. */
static bool is_utilization(const char *name)
{
	return strstr(name, "_ratio") || strstr(name, "cube_utilization") ||
	       strstr(name, "memory_bound") || strstr(name, "l2_cache_");
}

/* Finds the first metrics of the shown rows: names[0 .. returned). */
static uint32_t find_metrics(const struct model *model, const struct operator_list *list,
			     uint32_t count, uint32_t *names)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < list->rows[i].figures.metric_count; k++) {
			uint32_t name =
				list->metrics.row[list->rows[i].figures.first_metric + k].name;
			uint32_t at = 0;

			if (!is_utilization(model_text(model, name)))
				continue;
			while (at < used && names[at] != name)
				at++;
			if (at == used && used < METRIC_COLUMNS)
				names[used++] = name;
		}
	}
	return used;
}

static void add_metrics(struct table *table, const struct model *model,
			const struct operator_list *list, uint32_t row, const uint32_t *names,
			uint32_t columns)
{
	const char *name = model_text(model, list->rows[row].name);

	table_row(table);
	table_text(table, *name ? name : "(no name)");
	for (uint32_t k = 0; k < columns; k++) {
		const struct operator_metric *metric = metric_of(list, &list->rows[row], names[k]);

		if (metric)
			table_format(table, "%.3f", metric->mean);
		else
			table_unknown(table);
	}
}

/* The columns are those of the files. */
static int print_metrics(FILE *out, const struct model *model, const struct operator_list *list,
			 const struct report_options *options)
{
	uint32_t count = rows_shown(options, list->count), names[METRIC_COLUMNS];
	uint32_t columns = find_metrics(model, list, count, names);
	struct table *table;
	int error;

	if (!columns)
		return 0;
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	fputs("\nUse of the cores (means, weighted by time):\n", out);
	table_column(table, "name", TABLE_LEFT | TABLE_SHRINK);
	for (uint32_t i = 0; i < columns; i++)
		table_column(table, model_text(model, names[i]), TABLE_RIGHT);
	for (uint32_t i = 0; i < count; i++) {
		if (list->rows[i].figures.metric_count)
			add_metrics(table, model, list, i, names, columns);
	}
	error = table_print(table, out);
	table_free(table);
	return error;
}

/* ---- Sums from device files */

#define SUM_KNOWN (row->total_ns != UINT64_MAX)

static struct cell place_cell(struct table_cursor *at, uint32_t device)
{
	return device < at->of->model->devices.count ? device_label(at, device) : cell_none();
}

#define SUM_FIGURES(COLUMN)                                                               \
	COLUMN(label, TEXT, "device", "its number and rank", place_cell(at, row->device)) \
	COLUMN(mean_ns, SHORT_NS, "mean", "their mean",                                   \
	       cell_known(SUM_KNOWN, SUM_KNOWN ? row->total_ns / row->count : 0))

DEFINE_FIGURES(sum_figures, struct operator_sum, SUM_FIGURES, NULL);

static const struct view_column SUM_COLUMNS[] = {
	{ "name", .how = VIEW_SHRINK | VIEW_BLANK },
	{ "type", "op_type" },
	{ "core" },
	{ "input_shapes", .how = VIEW_IF_KNOWN | VIEW_SHRINK | VIEW_BLANK },
	{ "label", .how = VIEW_TEXT | VIEW_RIGHT },
	{ "device.id", "device", VIEW_JSON },
	{ "count" },
	{ "host_ns", .how = VIEW_IF_KNOWN },
	{ "host_self_ns", .how = VIEW_IF_KNOWN },
	{ "self_ns", .how = VIEW_IF_KNOWN },
	{ "total_ns" },
	{ "mean_ns" },
	{ "min_ns" },
	{ "max_ns" },
	{ "file.path", "file", VIEW_JSON },
	{ NULL },
};

static const struct view SUMS = { "operator_sums",	   "sums",
				  &table_operator_sums,	   SUM_COLUMNS,
				  .figures = &sum_figures, .optional = true };

static const struct view_column FUSED_COLUMNS[] = {
	{ "name", .how = VIEW_SHRINK | VIEW_EMPTY },
	{ "count" },
	{ "originals", .how = VIEW_SHRINK | VIEW_EMPTY },
	{ "model", .how = VIEW_JSON },
	{ "model_id", .how = VIEW_JSON },
	{ "input_bytes", .how = VIEW_JSON },
	{ "output_bytes", .how = VIEW_JSON },
	{ "weight_bytes", .how = VIEW_JSON },
	{ "workspace_bytes", .how = VIEW_JSON },
	{ "total_bytes", .heading = "memory KiB", .scale = 1024, .decimals = 3 },
	{ "file.path", "file", VIEW_JSON },
	{ NULL },
};

static const struct view FUSED = { "fused_operators", "fused operators", &table_fused_operators,
				   FUSED_COLUMNS, .optional = true };

/* Sums of devices without reported tasks, and sums by shape or with times of the host: others add no information. */
static int print_sums(const struct report *report)
{
	struct view sorted = SUMS;
	uint32_t *rows = told_sums(report->model, true, &sorted.order_count);
	int err = 0;

	if (!rows)
		return -ENOMEM;
	if (sorted.order_count) {
		fputs("\nSums from device files:\n", report->out);
		sorted.order = rows;
		err = view_text(report, &sorted);
	}
	free(rows);
	return err;
}

static int print_told(const struct report *report)
{
	int err = report->model->operator_sums.count ? print_sums(report) : 0;

	if (err || !report->model->fused_operators.count)
		return err;
	fputs("\nOperators that were fused:\n", report->out);
	return view_text(report, &FUSED);
}

/* ---- The whole section */

/* A summary adds information to the list only if it has fewer rows. */
static int print_summaries(const struct report *report, enum operator_by by)
{
	int err = 0;

	if (by != OPERATOR_BY_TYPE && by != OPERATOR_BY_CORE) {
		fputs("\nBy type:\n", report->out);
		err = view_text(report, &BY_TYPE);
	}
	if (!err && by != OPERATOR_BY_CORE) {
		fputs("\nBy core:\n", report->out);
		err = view_text(report, &BY_CORE);
	}
	return err;
}

static int print_operators(const struct report *report, const struct operator_list *list)
{
	int err = 0;

	if (list->count)
		err = view_text(report, &OPERATORS);
	else
		fputs("No operator matches the given options.\n", report->out);
	hint_at_shapes(report->out, list);
	if (!err)
		err = print_metrics(report->out, report->model, list, report->options);
	return err ? err : print_summaries(report, list->by);
}

static bool operators_empty(const struct report *report)
{
	const struct device_results *devices = report->results->devices;

	return devices && !devices->cores.count && !report->model->operator_sums.count &&
	       !report->model->fused_operators.count;
}

static int operators_text(const struct report *report)
{
	static const char *const HEADINGS[] = {
		[OPERATOR_BY_NAME] = "Operators (device tasks by name)",
		[OPERATOR_BY_TYPE] = "Operators (device tasks by type)",
		[OPERATOR_BY_CORE] = "Operators (device tasks by core)",
		[OPERATOR_BY_SHAPE] = "Operators (device tasks by name and input shapes)",
		[OPERATOR_BY_SCOPE] = "Operators (device tasks by scope)",
	};
	const struct device_results *devices = report->results->devices;
	int err = 0;

	if (!devices)
		return 0;
	print_heading(report->out, report->options, HEADINGS[devices->operators.by]);
	if (devices->cores.count)
		err = print_operators(report, &devices->operators);
	else
		fputs("No device task with times.\n", report->out);
	return err ? err : print_told(report);
}

static void operators_json(const struct report *report)
{
	if (!report->results->devices)
		return;
	for (const struct view *const *view = section_operators.views; *view; view++)
		view_json(report, *view);
}

const struct section section_operators = { operators_text, operators_json,
					   VIEWS(&OPERATORS, &BY_TYPE, &BY_CORE, &SUMS, &FUSED),
					   .empty = operators_empty };
