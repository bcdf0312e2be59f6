/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as msprof sums them up, in both reports. */
#include <errno.h>

#include "analyzer/analyse/api_statistic.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

void json_api_statistic(struct json *json, const struct model *model,
			const struct api_statistic_results *results)
{
	json_array(json, "api_statistics");
	for (uint32_t i = 0; i < results->count; i++) {
		const struct api_statistic_row *row = &results->rows[i];

		json_map(json, NULL);
		json_text(json, "level", row->level);
		json_text(json, "name", model_text(model, row->name));
		if (row->process < model->processes.count)
			json_u64(json, "pid", model->processes.row[row->process].pid);
		if (row->file < model->imports.count)
			json_text(json, "file",
				  model_text(model, model->imports.row[row->file].path));
		json_u64(json, "count", row->count);
		json_u64(json, "total_ns", row->total_ns);
		json_u64(json, "mean_ns", row->total_ns / row->count);
		json_u64(json, "min_ns", row->min_ns);
		json_u64(json, "max_ns", row->max_ns);
		if (row->variance >= 0)
			json_decimal(json, "variance_us2", row->variance);
		json_map_close(json);
	}
	json_array_close(json);
}

static void add_row(struct table *table, const struct model *model,
		    const struct api_statistic_row *row)
{
	table_row(table);
	table_text(table, row->level);
	table_text(table, model_text(model, row->name));
	table_count(table, row->count);
	table_ms(table, row->total_ns);
	table_us(table, row->total_ns / row->count);
	table_us(table, row->min_ns);
	table_us(table, row->max_ns);
}

int text_api_statistic(FILE *out, const struct model *model, const struct results *results,
		       const struct report_options *options)
{
	uint32_t shown = rows_shown(options, model->api_statistics.count), rows = 0;
	struct table *table;
	int err;

	if (!results->api_statistic || !shown)
		return 0;
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	fputs("\nAs a device file sums them up:\n", out);
	table_column(table, "level", TABLE_LEFT);
	table_column(table, "function", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "calls", TABLE_RIGHT);
	table_column(table, "total ms", TABLE_RIGHT);
	table_column(table, "mean us", TABLE_RIGHT);
	table_column(table, "min us", TABLE_RIGHT);
	table_column(table, "max us", TABLE_RIGHT);
	for (uint32_t i = 0; i < results->api_statistic->count && rows < shown; i++) {
		if (results->api_statistic->rows[i].file == INDEX_NONE)
			continue;
		add_row(table, model, &results->api_statistic->rows[i]);
		rows++;
	}
	err = table_print(table, out);
	table_free(table);
	text_more(out, "functions", model->api_statistics.count, shown);
	return err;
}
