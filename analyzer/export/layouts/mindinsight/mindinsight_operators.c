/* SPDX-License-Identifier: Apache-2.0 */
/* MindInsight's tables of operators: on AI cores by type and name, with details and FLOPs; on AI CPUs task by task. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/operators.h"
#include "lib/base/map.h"
#include "analyzer/view/render/csv_file.h"
#include "analyzer/view/render/json.h"
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"

static bool is_shown(const struct mindinsight_device *of, const struct operator_usage *row)
{
	return row->device == of->device && (row->core == CORE_AICORE || row->core == CORE_KERNEL);
}

static void put_ms(struct csv_file *csv, double ns)
{
	csv_format(csv, "%.6f", ns / 1e6);
}

static const char *name_of(const struct mindinsight_device *of, const struct operator_usage *row)
{
	const char *name = model_text(of->model, row->name);

	return *name ? name : "unknown";
}

/* Shares are fractions of 1, not percents. */
int mindinsight_aicore_types(FILE *out, const struct mindinsight_device *of)
{
	const struct operator_list *types = &of->results->devices->types;
	struct csv_file csv = { .out = out };
	uint64_t all_ns = 0;

	fputs("kernel_type,total_time(ms),execution_frequency,percent\n", out);
	for (uint32_t i = 0; i < types->count; i++)
		all_ns += is_shown(of, &types->rows[i]) ? types->rows[i].total_ns : 0;
	for (uint32_t i = 0; i < types->count; i++) {
		const struct operator_usage *row = &types->rows[i];

		if (!is_shown(of, row))
			continue;
		csv_text(&csv, operator_type(of->model, row));
		put_ms(&csv, (double)row->total_ns);
		csv_format(&csv, "%" PRIu64, row->count);
		csv_format(&csv, "%.6f",
			   all_ns ? (double)row->total_ns / (double)all_ns : 0.0);
		csv_end_row(&csv);
	}
	return csv.err;
}

int mindinsight_aicore_details(FILE *out, const struct mindinsight_device *of)
{
	const struct operator_list *list = &of->results->devices->operators;
	struct csv_file csv = { .out = out };

	fputs("full_kernel_name,execution_time(ms),execution_frequency\n", out);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct operator_usage *row = &list->rows[i];

		if (!is_shown(of, row))
			continue;
		csv_text(&csv, name_of(of, row));
		put_ms(&csv, (double)row->total_ns / (double)row->count);
		csv_format(&csv, "%" PRIu64, row->count);
		csv_end_row(&csv);
	}
	return csv.err;
}

/* Reads the next element of a list such as "8,16;16,4", with or without quotes around it; returns false at its end. */
static bool next_item(const char **at, char *item, size_t size)
{
	size_t length;

	*at += strspn(*at, "\"; ");
	if (!**at)
		return false;
	length = strcspn(*at, ";\"");
	snprintf(item, size, "%.*s", (int)length, *at);
	*at += length;
	return true;
}

static void put_shape(struct json *json, const char *text)
{
	char *end;

	if (text[strspn(text, "0123456789,- ")]) {
		json_text(json, "shape", text);
		return;
	}
	json_array(json, "shape");
	while (*text) {
		int64_t size = strtoll(text, &end, 10);

		if (end == text)
			break;
		json_i64(json, NULL, size);
		text = end + (*end == ',');
	}
	json_array_close(json);
}

static void put_side(struct json *json, const struct model *model, const char *side,
		     const uint32_t texts[3])
{
	const char *shapes = model_text(model, texts[0]), *types = model_text(model, texts[1]);
	const char *formats = model_text(model, texts[2]);
	char item[256], key[32];

	for (uint32_t i = 0; next_item(&shapes, item, sizeof(item)); i++) {
		snprintf(key, sizeof(key), "%s_%u", side, i);
		json_map(json, key);
		put_shape(json, item);
		if (next_item(&types, item, sizeof(item)))
			json_text(json, "data_type", item);
		if (next_item(&formats, item, sizeof(item)))
			json_text(json, "format", item);
		json_map_close(json);
	}
}

/* {"input_0": {"shape": [8, 16], "data_type": "FLOAT16", "format": "ND"}, ...} */
static int put_info(struct csv_file *csv, const struct model *model,
		    const struct task_detail *detail)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	struct json *json = memory ? json_new(memory, false) : NULL;
	int err = json ? 0 : -ENOMEM;

	if (json) {
		json_map(json, NULL);
		if (detail) {
			put_side(json, model, "input",
				 (uint32_t[]){ detail->input_shapes, detail->input_types,
					       detail->input_formats });
			put_side(json, model, "output",
				 (uint32_t[]){ detail->output_shapes, detail->output_types,
					       detail->output_formats });
		}
		json_map_close(json);
		err = json_end(json);
	}
	if (memory && fclose(memory) != 0 && !err)
		err = -ENOMEM;
	if (!err) {
		text[strcspn(text, "\n")] = '\0';
		csv_text(csv, text);
	}
	free(text);
	return err;
}

/* Finds the first task of each name. */
static bool find_tasks(const struct mindinsight_device *of, struct map *first)
{
	for (uint32_t i = of->count; i-- > 0;) {
		const struct device_task *task = &of->model->tasks.row[of->order[i]];

		if (mindinsight_is_aicore(of->model, task) &&
		    !map_put(first, task->name, of->order[i]))
			return false;
	}
	return true;
}

static void put_number(struct csv_file *csv, bool known, uint64_t number)
{
	if (known)
		csv_format(csv, "%" PRIu64, number);
	else
		csv_text(csv, NULL);
}

/* Writes the scope of an operator and its name without the scope. */
static void put_names(struct csv_file *csv, const struct mindinsight_device *of,
		      const struct operator_usage *row)
{
	const char *name = name_of(of, row), *slash = strrchr(name, '/');
	const char *first = strchr(name, '/');
	char graph[64];

	snprintf(graph, sizeof(graph), "%.*s", first ? (int)(first - name) : 7,
		 first ? name : "Default");
	csv_text(csv, name);
	csv_text(csv, slash && slash[1] ? slash + 1 : name);
	csv_text(csv, slash && slash[1] ? slash + 1 : name);
	csv_text(csv, operator_type(of->model, row));
	csv_text(csv, graph);
}

static int put_framework(struct csv_file *csv, const struct mindinsight_device *of,
			 const struct operator_usage *row, uint32_t at)
{
	const struct device_task *task = at == MAP_NONE ? NULL : &of->model->tasks.row[at];
	const struct task_detail *detail = task ? model_task_detail(of->model, task) : NULL;
	int err;

	put_number(csv, detail && detail->task_id != MODEL_ID_NONE, detail ? detail->task_id : 0);
	put_number(csv, task && task->stream != MODEL_ID_NONE, task ? task->stream : 0);
	put_number(csv, detail && detail->blocks != INDEX_NONE, detail ? detail->blocks : 0);
	put_names(csv, of, row);
	err = put_info(csv, of->model, detail);
	csv_end_row(csv);
	return err;
}

int mindinsight_framework(FILE *out, const struct mindinsight_device *of)
{
	const struct operator_list *list = &of->results->devices->operators;
	struct csv_file csv = { .out = out };
	struct map first = { 0 };
	int err = find_tasks(of, &first) ? 0 : -ENOMEM;

	fputs("task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,"
	      "subgraph,op_info\n",
	      out);
	for (uint32_t i = 0; i < list->count && !err; i++) {
		if (is_shown(of, &list->rows[i]))
			err = put_framework(&csv, of, &list->rows[i],
					    map_get(&first, list->rows[i].name));
	}
	map_free(&first);
	return err ? err : csv.err;
}

/* MindInsight splits these lines at commas, even inside a name. */
int mindinsight_flops(FILE *out, const struct mindinsight_device *of)
{
	const struct operator_list *list = &of->results->devices->operators;
	double rate, percent;

	fputs("full_kernel_name, MFLOPs(10^6), GFLOPS(10^9), utilization(%)\n", out);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct operator_usage *row = &list->rows[i];
		const struct operator_figures *figures = &row->figures;

		if (!is_shown(of, row) || strchr(name_of(of, row), ',') ||
		    !operator_flops_rate(figures, &rate))
			continue;
		fprintf(out, "%s,%.6f,%.6f,", name_of(of, row),
			figures->flops / (double)figures->counted / 1e6, rate / 1e9);
		if (operator_flops_percent(of->model, of->device, figures, &percent))
			fprintf(out, "%.6f\n", percent);
		else
			fputs("-\n", out);
	}
	return 0;
}

int mindinsight_flops_summary(FILE *out, const struct mindinsight_device *of)
{
	const struct operator_list *cores = &of->results->devices->cores;
	struct json *json = json_new(out, false);
	struct operator_figures all = { 0 };
	double rate, percent;

	if (!json)
		return -ENOMEM;
	for (uint32_t i = 0; i < cores->count; i++) {
		const struct operator_figures *figures = &cores->rows[i].figures;

		if (!is_shown(of, &cores->rows[i]))
			continue;
		all.flops += figures->flops;
		all.counted_ns += figures->counted_ns;
		all.utilized += figures->utilized;
		all.utilized_ns += figures->utilized_ns;
	}
	json_map(json, NULL);
	json_decimal(json, "FLOPs", all.flops / 1e6);
	if (operator_flops_rate(&all, &rate))
		json_decimal(json, "FLOPS", rate / 1e9);
	if (operator_flops_percent(of->model, of->device, &all, &percent))
		json_decimal(json, "FLOPS_Utilization", percent);
	json_map_close(json);
	return json_end(json);
}

/* Durations are milliseconds, instants microseconds; the dispatch time is unknown and written as 0. */
int mindinsight_aicpu(FILE *out, const struct mindinsight_device *of)
{
	struct csv_file csv = { .out = out };
	uint32_t number = 0;

	fputs("serial_number,kernel_type,total_time,dispatch_time,execution_time,run_start,run_end\n",
	      out);
	for (uint32_t i = 0; i < of->count; i++) {
		const struct device_task *task = &of->model->tasks.row[of->order[i]];
		const char *name = model_text(of->model, task->name), *slash = strrchr(name, '/');
		uint64_t ns = task->end_ns - task->start_ns;

		if (task_core(of->model, task) != CORE_AICPU)
			continue;
		csv_format(&csv, "%u", ++number);
		csv_text(&csv, slash && slash[1] ? slash + 1 : *name ? name : "unknown");
		put_ms(&csv, (double)ns);
		csv_text(&csv, "0");
		put_ms(&csv, (double)ns);
		csv_us(&csv, task->start_ns);
		csv_us(&csv, task->end_ns);
		csv_end_row(&csv);
	}
	return csv.err;
}
