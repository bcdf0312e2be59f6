/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report/report_told.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

static void device_cell(struct table *table, const struct model *model, uint32_t device)
{
	if (device < model->devices.count)
		text_device_cell(table, model, device);
	else
		table_text(table, "host");
}

static void fact_cells(struct table *table, const struct model *model,
		       const struct device_fact *fact)
{
	const char *unit = model_text(model, fact->unit);

	table_row(table);
	device_cell(table, model, fact->device);
	table_text(table, model_text(model, fact->topic));
	table_text(table, model_text(model, fact->name));
	if (fact->text)
		table_text(table, model_text(model, fact->text));
	else
		table_format(table, "%.10g%s%s", fact->value, *unit ? " " : "", unit);
}

int text_device_facts(FILE *out, const struct model *model, const struct report_options *options)
{
	uint32_t shown = rows_shown(options, model->device_facts.count);
	struct table *table;
	int err;

	if (!shown)
		return 0;
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	fputs("\nAs device files say:\n", out);
	table_column(table, "device", TABLE_RIGHT);
	table_column(table, "about", TABLE_LEFT);
	table_column(table, "what", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "value", TABLE_LEFT | TABLE_SHRINK);
	for (uint32_t i = 0; i < shown; i++)
		fact_cells(table, model, &model->device_facts.row[i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "figures", model->device_facts.count, shown);
	return err;
}

static void json_device(struct json *json, const struct model *model, uint32_t device)
{
	if (device < model->devices.count)
		json_u64(json, "device", model->devices.row[device].id);
}

static void json_file(struct json *json, const struct model *model, uint32_t file)
{
	if (file < model->imports.count)
		json_text(json, "file", model_text(model, model->imports.row[file].path));
}

static void json_text_if(struct json *json, const char *key, const struct model *model,
			 uint32_t text)
{
	if (text)
		json_text(json, key, model_text(model, text));
}

static void json_u64_if(struct json *json, const char *key, uint64_t value)
{
	if (value != UINT64_MAX)
		json_u64(json, key, value);
}

void json_device_facts(struct json *json, const struct model *model)
{
	if (!model->device_facts.count)
		return;
	json_array(json, "device_facts");
	for (uint32_t i = 0; i < model->device_facts.count; i++) {
		const struct device_fact *fact = &model->device_facts.row[i];

		json_map(json, NULL);
		json_device(json, model, fact->device);
		json_text(json, "topic", model_text(model, fact->topic));
		json_text(json, "name", model_text(model, fact->name));
		if (fact->text)
			json_text(json, "text", model_text(model, fact->text));
		else
			json_decimal(json, "value", fact->value);
		json_text_if(json, "unit", model, fact->unit);
		json_file(json, model, fact->file);
		json_map_close(json);
	}
	json_array_close(json);
}

/* Tasks have neither, or not all of it. */
static bool says_more(const struct operator_sum *sum)
{
	return sum->shapes || sum->host_ns != UINT64_MAX || sum->host_self_ns != UINT64_MAX;
}

/* Rows of sums of devices without tasks, and of those that say more; the caller frees. */
static uint32_t *sums_shown(const struct model *model, uint32_t *count)
{
	bool *busy = calloc((size_t)model->devices.count + 1, sizeof(*busy));
	uint32_t *rows = calloc((size_t)model->operator_sums.count + 1, sizeof(*rows));

	*count = 0;
	for (uint32_t i = 0; busy && i < model->tasks.count; i++)
		busy[model->tasks.row[i].device] = true;
	for (uint32_t i = 0; busy && rows && i < model->operator_sums.count; i++) {
		const struct operator_sum *sum = &model->operator_sums.row[i];

		if (sum->device >= model->devices.count || !busy[sum->device] || says_more(sum))
			rows[(*count)++] = i;
	}
	if (!busy) {
		free(rows);
		rows = NULL;
	}
	free(busy);
	return rows;
}

/* Unknown ones come last. */
static int by_time(uint64_t x, uint64_t y)
{
	return x + 1 > y + 1 ? -1 : x + 1 < y + 1;
}

/* Sums by type before those by name, as they are fewer. */
static int by_total(const void *a, const void *b, void *context)
{
	const struct operator_sum *sums = context;
	const struct operator_sum *x = &sums[*(const uint32_t *)a], *y = &sums[*(const uint32_t *)b];

	if (!x->name != !y->name)
		return x->name ? 1 : -1;
	if (x->total_ns != y->total_ns)
		return by_time(x->total_ns, y->total_ns);
	if (x->host_ns != y->host_ns)
		return by_time(x->host_ns, y->host_ns);
	return x < y ? -1 : x > y;
}

/* Columns that few files fill. */
struct sum_columns {
	bool shapes;
	bool host;
};

static void sum_cells(struct table *table, const struct model *model,
		      const struct operator_sum *sum, const struct sum_columns *columns)
{
	bool known = sum->total_ns != UINT64_MAX;

	table_row(table);
	if (sum->name)
		table_text(table, model_text(model, sum->name));
	else
		table_empty(table);
	if (sum->type)
		table_text(table, model_text(model, sum->type));
	else
		table_unknown(table);
	if (sum->core)
		table_text(table, model_text(model, sum->core));
	else
		table_unknown(table);
	if (columns->shapes && sum->shapes)
		table_text(table, model_text(model, sum->shapes));
	else if (columns->shapes)
		table_empty(table);
	if (sum->device < model->devices.count)
		text_device_cell(table, model, sum->device);
	else
		table_unknown(table);
	table_count(table, sum->count);
	if (columns->host) {
		table_ms_if(table, sum->host_ns != UINT64_MAX, sum->host_ns);
		table_ms_if(table, sum->host_self_ns != UINT64_MAX, sum->host_self_ns);
		table_ms_if(table, sum->self_ns != UINT64_MAX, sum->self_ns);
	}
	table_ms_if(table, known, sum->total_ns);
	table_us_if(table, known, sum->total_ns / sum->count);
	table_us_if(table, sum->min_ns != UINT64_MAX, sum->min_ns);
	table_us_if(table, sum->max_ns != UINT64_MAX, sum->max_ns);
}

static void sum_headings(struct table *table, const struct sum_columns *columns)
{
	static const char *const HOST[] = { "host ms", "host self ms", "device self ms" };
	static const char *const TIMES[] = { "total ms", "mean us", "min us", "max us" };

	table_column(table, "name", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "type", TABLE_LEFT);
	table_column(table, "core", TABLE_LEFT);
	if (columns->shapes)
		table_column(table, "input shapes", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "device", TABLE_RIGHT);
	table_column(table, "count", TABLE_RIGHT);
	for (size_t i = 0; columns->host && i < sizeof(HOST) / sizeof(HOST[0]); i++)
		table_column(table, HOST[i], TABLE_RIGHT);
	for (size_t i = 0; i < sizeof(TIMES) / sizeof(TIMES[0]); i++)
		table_column(table, TIMES[i], TABLE_RIGHT);
}

static int text_sums(FILE *out, const struct model *model, const struct report_options *options)
{
	uint32_t count, shown, *rows = sums_shown(model, &count);
	struct table *table = rows ? table_new(options) : NULL;
	struct sum_columns columns = { 0 };
	int err = 0;

	if (table && count) {
		fputs("\nAs device files sum them up:\n", out);
		qsort_r(rows, count, sizeof(*rows), by_total, model->operator_sums.row);
		shown = rows_shown(options, count);
		for (uint32_t i = 0; i < shown; i++) {
			columns.shapes |= model->operator_sums.row[rows[i]].shapes != 0;
			columns.host |= model->operator_sums.row[rows[i]].host_ns != UINT64_MAX;
		}
		sum_headings(table, &columns);
		for (uint32_t i = 0; i < shown; i++)
			sum_cells(table, model, &model->operator_sums.row[rows[i]], &columns);
		err = table_print(table, out);
		text_more(out, "sums", count, shown);
	}
	if (!table)
		err = -ENOMEM;
	table_free(table);
	free(rows);
	return err;
}

static int text_fused(FILE *out, const struct model *model, const struct report_options *options)
{
	uint32_t shown = rows_shown(options, model->fused_operators.count);
	struct table *table;
	int err;

	if (!shown)
		return 0;
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	fputs("\nOperators that were fused:\n", out);
	table_column(table, "fused operator", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "of", TABLE_RIGHT);
	table_column(table, "original operators", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "memory KiB", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++) {
		const struct fused_operator *row = &model->fused_operators.row[i];

		table_row(table);
		table_text(table, model_text(model, row->name));
		table_count(table, row->count);
		table_text(table, model_text(model, row->originals));
		if (row->total_bytes == UINT64_MAX)
			table_unknown(table);
		else
			table_format(table, "%.3f", (double)row->total_bytes / 1024);
	}
	err = table_print(table, out);
	table_free(table);
	text_more(out, "fused operators", model->fused_operators.count, shown);
	return err;
}

int text_told_operators(FILE *out, const struct model *model, const struct report_options *options)
{
	int err = model->operator_sums.count ? text_sums(out, model, options) : 0;

	return err ? err : text_fused(out, model, options);
}

static void json_sums(struct json *json, const struct model *model)
{
	json_array(json, "operator_sums");
	for (uint32_t i = 0; i < model->operator_sums.count; i++) {
		const struct operator_sum *row = &model->operator_sums.row[i];

		json_map(json, NULL);
		json_text_if(json, "name", model, row->name);
		json_text_if(json, "op_type", model, row->type);
		json_text_if(json, "core", model, row->core);
		json_text_if(json, "input_shapes", model, row->shapes);
		json_device(json, model, row->device);
		json_u64(json, "count", row->count);
		json_u64_if(json, "total_ns", row->total_ns);
		if (row->total_ns != UINT64_MAX)
			json_u64(json, "mean_ns", row->total_ns / row->count);
		json_u64_if(json, "min_ns", row->min_ns);
		json_u64_if(json, "max_ns", row->max_ns);
		json_u64_if(json, "self_ns", row->self_ns);
		json_u64_if(json, "host_ns", row->host_ns);
		json_u64_if(json, "host_self_ns", row->host_self_ns);
		json_file(json, model, row->file);
		json_map_close(json);
	}
	json_array_close(json);
}

static void json_fused(struct json *json, const struct model *model)
{
	json_array(json, "fused_operators");
	for (uint32_t i = 0; i < model->fused_operators.count; i++) {
		const struct fused_operator *row = &model->fused_operators.row[i];

		json_map(json, NULL);
		json_text(json, "name", model_text(model, row->name));
		json_text(json, "originals", model_text(model, row->originals));
		json_u64(json, "count", row->count);
		json_text_if(json, "model", model, row->model);
		json_u64_if(json, "model_id", row->model_id);
		json_u64_if(json, "input_bytes", row->input_bytes);
		json_u64_if(json, "output_bytes", row->output_bytes);
		json_u64_if(json, "weight_bytes", row->weight_bytes);
		json_u64_if(json, "workspace_bytes", row->workspace_bytes);
		json_u64_if(json, "total_bytes", row->total_bytes);
		json_file(json, model, row->file);
		json_map_close(json);
	}
	json_array_close(json);
}

void json_told_operators(struct json *json, const struct model *model)
{
	if (model->operator_sums.count)
		json_sums(json, model);
	if (model->fused_operators.count)
		json_fused(json, model);
}

int text_told_advice(FILE *out, const struct model *model, const struct report_options *options)
{
	uint32_t shown = rows_shown(options, model->told_advice.count);
	char text[512], subjects[256], topic[128];

	if (!shown)
		return 0;
	print_heading(out, options, "Advice of msprof");
	for (uint32_t i = 0; i < shown; i++) {
		const struct told_advice *row = &model->told_advice.row[i];

		fprintf(out, "%s: %s",
			printable(model_text(model, row->topic), topic, sizeof(topic)),
			printable(model_text(model, row->text), text, sizeof(text)));
		if (row->count)
			fprintf(out, "\n  %u: %s", row->count,
				printable(model_text(model, row->subjects), subjects,
					  sizeof(subjects)));
		fputc('\n', out);
	}
	text_more(out, "suggestions", model->told_advice.count, shown);
	return 0;
}

void json_told_advice(struct json *json, const struct model *model)
{
	if (!model->told_advice.count)
		return;
	json_array(json, "told_advice");
	for (uint32_t i = 0; i < model->told_advice.count; i++) {
		const struct told_advice *row = &model->told_advice.row[i];

		json_map(json, NULL);
		json_text_if(json, "topic", model, row->topic);
		json_text_if(json, "part", model, row->part);
		json_text(json, "do", model_text(model, row->text));
		json_text_if(json, "about", model, row->subjects);
		json_u64(json, "count", row->count);
		json_device(json, model, row->device);
		json_file(json, model, row->file);
		json_map_close(json);
	}
	json_array_close(json);
}
