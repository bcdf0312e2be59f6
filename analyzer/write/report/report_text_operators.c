/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "analyzer/write/report/report_device.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/report/report_told.h"
#include "analyzer/write/table.h"

#define METRIC_COLUMNS 8

/* Columns of what a file tells beside times: only those that any row has. */
struct shown {
	bool names; /* rows differ in these */
	bool types;
	bool cores;
	bool flops;
	bool utilization;
	bool bytes;
	bool shapes;
};

static struct shown shown_of(const struct model *model, const struct operator_list *list,
			     uint32_t count)
{
	struct shown shown = { .names = list->by == OPERATOR_BY_NAME ||
					list->by == OPERATOR_BY_SHAPE ||
					list->by == OPERATOR_BY_SCOPE,
			       .types = list->by != OPERATOR_BY_CORE &&
					list->by != OPERATOR_BY_SCOPE,
			       .cores = list->by != OPERATOR_BY_SCOPE };
	double value;

	for (uint32_t i = 0; i < count; i++) {
		const struct operator_usage *row = &list->rows[i];

		shown.flops |= operator_flops_rate(&row->figures, &value);
		shown.utilization |=
			operator_flops_percent(model, row->device, &row->figures, &value);
		shown.bytes |= operator_bandwidth(&row->figures, &value);
		shown.shapes |= shown.names && row->figures.input_shapes != 0;
	}
	return shown;
}

static void add_columns(struct table *table, const struct operator_list *list,
			const struct shown *shown)
{
	if (shown->names)
		table_column(table, list->by == OPERATOR_BY_SCOPE ? "scope" : "name",
			     TABLE_LEFT | TABLE_SHRINK);
	if (shown->types)
		table_column(table, "type", TABLE_LEFT);
	if (shown->cores)
		table_column(table, "core", TABLE_LEFT);
	table_column(table, "device", TABLE_RIGHT);
	table_column(table, "count", TABLE_RIGHT);
	table_column(table, "total ms", TABLE_RIGHT);
	table_column(table, "% of device", TABLE_RIGHT);
	table_column(table, "up to here", TABLE_RIGHT);
	table_column(table, "mean us", TABLE_RIGHT);
	table_column(table, "min us", TABLE_RIGHT);
	table_column(table, "max us", TABLE_RIGHT);
	if (shown->flops) {
		table_column(table, "MFLOP", TABLE_RIGHT);
		table_column(table, "GFLOP/s", TABLE_RIGHT);
	}
	if (shown->utilization)
		table_column(table, "% of peak", TABLE_RIGHT);
	if (shown->bytes) {
		table_column(table, "MB", TABLE_RIGHT);
		table_column(table, "GB/s", TABLE_RIGHT);
	}
	if (shown->shapes)
		table_column(table, "input shapes", TABLE_LEFT | TABLE_SHRINK);
}

static void put_scaled(struct table *table, bool known, double value, double unit)
{
	if (known)
		table_format(table, "%.3f", value / unit);
	else
		table_unknown(table);
}

static void add_figures(struct table *table, const struct model *model,
			const struct operator_usage *row, const struct shown *shown)
{
	const struct operator_figures *figures = &row->figures;
	double value = 0;
	bool known;

	if (shown->flops) {
		put_scaled(table, figures->counted, figures->flops, 1e6);
		known = operator_flops_rate(figures, &value);
		put_scaled(table, known, value, 1e9);
	}
	if (shown->utilization) {
		known = operator_flops_percent(model, row->device, figures, &value);
		put_scaled(table, known, value, 1);
	}
	if (shown->bytes) {
		put_scaled(table, figures->moved, figures->moved_bytes, 1e6);
		known = operator_bandwidth(figures, &value);
		put_scaled(table, known, value, 1e9);
	}
	if (!shown->shapes)
		return;
	if (figures->input_shapes == OPERATOR_SEVERAL)
		table_format(table, "(%u different)", figures->variants);
	else if (figures->input_shapes)
		table_text(table, model_text(model, figures->input_shapes));
	else
		table_unknown(table);
}

static void add_name(struct table *table, const struct model *model,
		     const struct operator_list *list, const struct operator_usage *row)
{
	const char *name = model_text(model, row->name);

	table_text(table, *name ? name :
			  list->by == OPERATOR_BY_SCOPE ? "(no scope)" :
							  "(no name)");
}

static void add_row(struct table *table, const struct model *model,
		    const struct operator_list *list, const struct operator_usage *row,
		    const struct shown *shown)
{
	table_row(table);
	if (shown->names)
		add_name(table, model, list, row);
	if (shown->types)
		table_text(table, operator_type(model, row));
	if (shown->cores)
		table_text(table, operator_core_name(row->core));
	table_count(table, model->devices.row[row->device].id);
	table_count(table, row->count);
	table_ms(table, row->total_ns);
	table_percent(table, row->percent);
	table_percent(table, row->cumulative);
	table_us(table, row->total_ns / row->count);
	table_us(table, row->min_ns);
	table_us(table, row->max_ns);
	add_figures(table, model, row, shown);
}

static int print_list(FILE *out, const struct model *model, const struct operator_list *list,
		      const struct report_options *options)
{
	uint32_t count = rows_shown(options, list->count);
	struct shown shown = shown_of(model, list, count);
	struct table *table = table_new(options);
	int error;

	if (!table)
		return -ENOMEM;
	add_columns(table, list, &shown);
	for (uint32_t i = 0; i < count; i++)
		add_row(table, model, list, &list->rows[i], &shown);
	error = table_print(table, out);
	text_more(out, "operators", list->count, count);
	table_free(table);
	return error;
}

/* The list has one row for each; what changes with the step is in another section. */
static void hint_at_shapes(FILE *out, const struct operator_list *list)
{
	uint32_t changing = 0;

	for (uint32_t i = 0; i < list->count; i++)
		changing += list->rows[i].figures.variants > 1;
	if (changing && list->by == OPERATOR_BY_NAME)
		fprintf(out,
			"%u of them have inputs of several shapes: --aggregate-by shape lists each, "
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

/* Which share of its time each part of a core was busy; how much of a counter there was is no such. */
static bool is_utilization(const char *name)
{
	return strstr(name, "_ratio") || strstr(name, "cube_utilization") ||
	       strstr(name, "memory_bound") || strstr(name, "l2_cache_");
}

/* The first metrics that the rows shown have: names[0 .. returned). */
static uint32_t find_metrics(const struct model *model, const struct operator_list *list,
			     uint32_t count, uint32_t *names)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < list->rows[i].figures.metric_count; k++) {
			uint32_t name = list->metrics.row[list->rows[i].figures.first_metric + k].name;
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
		if (!list->rows[i].figures.metric_count)
			continue;
		table_row(table);
		add_name(table, model, list, &list->rows[i]);
		for (uint32_t k = 0; k < columns; k++) {
			const struct operator_metric *metric =
				metric_of(list, &list->rows[i], names[k]);

			put_scaled(table, metric, metric ? metric->mean : 0, 1);
		}
	}
	error = table_print(table, out);
	table_free(table);
	return error;
}

/* A summary says more than the list itself only if it has fewer rows. */
static int print_summaries(FILE *out, const struct model *model,
			   const struct device_results *devices,
			   const struct report_options *options)
{
	enum operator_by by = devices->operators.by;
	int error = 0;

	if (by != OPERATOR_BY_TYPE && by != OPERATOR_BY_CORE) {
		fputs("\nBy type:\n", out);
		error = print_list(out, model, &devices->types, options);
	}
	if (!error && by != OPERATOR_BY_CORE) {
		fputs("\nBy core:\n", out);
		error = print_list(out, model, &devices->cores, options);
	}
	return error;
}

int report_text_operators(FILE *out, const struct model *model,
			  const struct device_results *devices,
			  const struct report_options *options)
{
	static const char *const HEADINGS[] = {
		[OPERATOR_BY_NAME] = "Operators (device tasks by name)",
		[OPERATOR_BY_TYPE] = "Operators (device tasks by type)",
		[OPERATOR_BY_CORE] = "Operators (device tasks by core)",
		[OPERATOR_BY_SHAPE] = "Operators (device tasks by name and input shapes)",
		[OPERATOR_BY_SCOPE] = "Operators (device tasks by scope)",
	};
	int error = 0;

	print_heading(out, options, HEADINGS[devices->operators.by]);
	if (devices->cores.count == 0) {
		fputs("No device task with times.\n", out);
		return text_told_operators(out, model, options);
	}
	if (devices->operators.count)
		error = print_list(out, model, &devices->operators, options);
	else
		fputs("None is as asked for.\n", out);
	hint_at_shapes(out, &devices->operators);
	if (!error)
		error = print_metrics(out, model, &devices->operators, options);
	if (!error)
		error = print_summaries(out, model, devices, options);
	return error ? error : text_told_operators(out, model, options);
}
