/* SPDX-License-Identifier: Apache-2.0 */
/* Section "shapes": operators by step, for networks whose shapes change. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/analyse/operator_steps.h"
#include "analyzer/analyse/operators.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

#define STEP_COLUMNS 8 /* in text */

static const char *name_of(const struct model *model, const struct operator_series *series)
{
	if (!series->of_type)
		return *model_text(model, series->name) ? model_text(model, series->name) :
							  "(no name)";
	return series->type ? model_text(model, series->type) : task_kind_name(series->kind);
}

static void add_series(struct table *table, const struct model *model,
		       const struct operator_step_results *results,
		       const struct operator_series *series)
{
	table_row(table);
	table_text(table, name_of(model, series));
	table_text(table, operator_core_name(series->core));
	table_count(table, model->devices.row[series->device].id);
	table_count(table, series->count);
	if (series->shaped)
		table_count(table, series->changes);
	else if (!series->of_type)
		table_unknown(table);
	table_us(table, (uint64_t)series->mean_ns);
	table_us(table, series->min_ns);
	table_us(table, series->max_ns);
	for (uint32_t i = 0; i < STEP_COLUMNS; i++) {
		if (i < series->count)
			table_us(table, results->steps[series->first + i].total_ns);
		else
			table_empty(table);
	}
}

static int print_series(FILE *out, const struct model *model,
			const struct operator_step_results *results, bool types,
			const struct report_options *options)
{
	struct table *table = table_new(options);
	uint32_t count = 0, shown;
	char heading[32];
	int error;

	if (!table)
		return -ENOMEM;
	table_column(table, types ? "type" : "name", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "core", TABLE_LEFT);
	table_column(table, "device", TABLE_RIGHT);
	table_column(table, "steps", TABLE_RIGHT);
	if (!types)
		table_column(table, "new shapes", TABLE_RIGHT);
	table_column(table, "us per step", TABLE_RIGHT);
	table_column(table, "min us", TABLE_RIGHT);
	table_column(table, "max us", TABLE_RIGHT);
	for (uint32_t i = 0; i < STEP_COLUMNS; i++) {
		snprintf(heading, sizeof(heading), "us in %u.", i + 1);
		table_column(table, heading, TABLE_RIGHT);
	}
	for (uint32_t i = 0; i < results->count; i++)
		count += results->series[i].of_type == types;
	shown = rows_shown(options, count);
	for (uint32_t i = 0, left = shown; i < results->count && left; i++) {
		if (results->series[i].of_type != types)
			continue;
		add_series(table, model, results, &results->series[i]);
		left--;
	}
	error = table_print(table, out);
	text_more(out, types ? "types" : "operators", count, shown);
	table_free(table);
	return error;
}

int text_shapes(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	const struct operator_step_results *of = results->operator_steps;
	int error;

	print_heading(out, options, "Operators by step (time in all of their tasks)");
	if (!of->count) {
		fputs("No device task in a known step.\n", out);
		return 0;
	}
	error = print_series(out, model, of, true, options);
	fputs("\n", out);
	return error ? error : print_series(out, model, of, false, options);
}

static void write_shapes(struct json *json, const struct model *model, uint32_t text)
{
	if (text && text != OPERATOR_SEVERAL)
		json_text(json, NULL, model_text(model, text));
	else
		json_null(json, NULL);
}

static void write_steps(struct json *json, const struct model *model,
			const struct operator_step *steps, uint32_t count)
{
	static const char *const COLUMNS[] = { "step",	 "count",	 "total_ns",
					       "max_ns", "input_shapes", "output_shapes" };

	json_array(json, "columns");
	for (size_t i = 0; i < sizeof(COLUMNS) / sizeof(COLUMNS[0]); i++)
		json_text(json, NULL, COLUMNS[i]);
	json_array_close(json);
	json_array(json, "rows");
	for (uint32_t i = 0; i < count; i++) {
		json_array(json, NULL);
		json_u64(json, NULL, steps[i].step);
		json_u64(json, NULL, steps[i].count);
		json_u64(json, NULL, steps[i].total_ns);
		json_u64(json, NULL, steps[i].max_ns);
		write_shapes(json, model, steps[i].input_shapes);
		write_shapes(json, model, steps[i].output_shapes);
		json_array_close(json);
	}
	json_array_close(json);
}

static void write_series(struct json *json, const struct model *model,
			 const struct operator_step_results *results,
			 const struct operator_series *series)
{
	json_map(json, NULL);
	if (!series->of_type)
		json_text(json, "name", model_text(model, series->name));
	json_text(json, "type", task_kind_name(series->kind));
	if (series->type)
		json_text(json, "op_type", model_text(model, series->type));
	json_text(json, "core", operator_core_name(series->core));
	json_u64(json, "device", model->devices.row[series->device].id);
	json_u64(json, "total_ns", series->total_ns);
	json_u64(json, "step_mean_ns", (uint64_t)series->mean_ns);
	json_u64(json, "step_min_ns", series->min_ns);
	json_u64(json, "step_max_ns", series->max_ns);
	if (series->shaped)
		json_u64(json, "shape_changes", series->changes);
	write_steps(json, model, &results->steps[series->first], series->count);
	json_map_close(json);
}

void json_shapes_section(struct json *json, const struct model *model,
			 const struct results *results)
{
	const struct operator_step_results *of = results->operator_steps;

	json_map(json, "shapes");
	for (int types = 1; types >= 0; types--) {
		json_array(json, types ? "types" : "operators");
		for (uint32_t i = 0; i < of->count; i++) {
			if (of->series[i].of_type == (bool)types)
				write_series(json, model, of, &of->series[i]);
		}
		json_array_close(json);
	}
	json_map_close(json);
}
