/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a device for MindInsight: the peak, and the memory in use at the start of each operator.
 *
 * Values are in gibibytes. MindSpore computes them from its graph, tensor by tensor; here they are an allocator's
 * records, those of the allocator with the highest peak if there are several. Figures that were not recorded (the
 * capacity, tensors) are left out. Of more than NODES_MAX operators only every n-th is shown, as MindSpore does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/memory/memory.h"
#include "analyzer/model/task_sort.h"
#include "analyzer/view/render/json.h"
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"

#define GIBI (1024.0 * 1024 * 1024)
#define NODES_MAX 2000

/* Records contain a device's number: if two devices have the same number, their records cannot be assigned. */
static const struct memory_series *series_of(const struct mindinsight_device *of)
{
	const struct memory_results *memory = of->results->memory;
	uint32_t number = of->model->devices.row[of->device].id, same = 0;

	for (uint32_t i = 0; i < of->model->devices.count; i++)
		same += of->model->devices.row[i].id == number;
	for (uint32_t i = 0; memory && same == 1 && i < memory->series_count; i++) {
		const struct memory_series *series = &memory->series[i];

		if (!series->host && series->device == number && series->curve.count)
			return series;
	}
	return NULL;
}

bool mindinsight_has_memory(const struct mindinsight_device *of)
{
	return series_of(of) != NULL;
}

static void put_gibi(struct json *json, const char *key, double bytes)
{
	json_fine_decimal(json, key, bytes / GIBI);
}

int mindinsight_memory_summary(FILE *out, const struct mindinsight_device *of)
{
	const struct memory_series *series = series_of(of);
	struct json *json = json_new(out, false);

	if (!json)
		return -ENOMEM;
	json_map(json, NULL);
	if (series->allocations || series->releases) {
		json_u64(json, "allocations", series->allocations);
		json_u64(json, "deallocations", series->releases);
	}
	put_gibi(json, "peak_mem", (double)series->curve.peak_bytes);
	json_map_close(json);
	return json_end(json);
}

/* Returns kernels sorted by start; if there are many, a sample at equal distances. */
static uint32_t *find_nodes(const struct mindinsight_device *of, uint32_t *count)
{
	uint32_t *rows = malloc(((size_t)of->count + 1) * sizeof(*rows)), step, shown = 0;

	*count = 0;
	for (uint32_t i = 0; rows && i < of->count; i++) {
		if (mindinsight_is_aicore(of->model, &of->model->tasks.row[of->order[i]]))
			rows[(*count)++] = of->order[i];
	}
	if (!rows)
		return NULL;
	tasks_sort_by_start(of->model, rows, *count);
	step = *count / NODES_MAX;
	for (uint32_t i = 0; i < *count; i += step ? step : 1)
		rows[shown++] = rows[i];
	*count = shown;
	return rows;
}

/* Returns the bytes in use at an instant; @at advances to the last point before it. */
static uint64_t bytes_at(const struct memory_curve *curve, uint64_t ts_ns, uint32_t *at)
{
	while (*at < curve->count && curve->points[*at].ts_ns <= ts_ns)
		(*at)++;
	return *at ? curve->points[*at - 1].bytes : 0;
}

static int put_nodes(FILE *out, const struct mindinsight_device *of, const uint32_t *rows,
		     uint32_t count)
{
	const struct memory_curve *curve = &series_of(of)->curve;
	struct json *json = json_new(out, false);
	uint64_t before = 0;
	uint32_t at = 0;

	if (!json)
		return -ENOMEM;
	json_array(json, NULL);
	for (uint32_t i = 0; i < count; i++) {
		const struct device_task *task = &of->model->tasks.row[rows[i]];
		const char *name = model_text(of->model, task->name), *slash = strrchr(name, '/');
		uint64_t bytes = bytes_at(curve, task->start_ns, &at);

		json_map(json, NULL);
		json_text(json, "name", slash ? slash + 1 : name);
		json_text(json, "fullname", name);
		json_u64(json, "node_id", i);
		put_gibi(json, "allocated", (double)bytes - (double)before);
		json_map_close(json);
		before = bytes;
	}
	json_array_close(json);
	return json_end(json);
}

static int put_lines(FILE *out, const struct mindinsight_device *of, const uint32_t *rows,
		     uint32_t count)
{
	const struct memory_curve *curve = &series_of(of)->curve;
	struct json *json = json_new(out, false);
	uint32_t at = 0;

	if (!json)
		return -ENOMEM;
	json_array(json, NULL);
	for (uint32_t i = 0; i < count; i++)
		put_gibi(json, NULL,
			 (double)bytes_at(curve, of->model->tasks.row[rows[i]].start_ns, &at));
	json_array_close(json);
	return json_end(json);
}

/* MindInsight cuts the text at ', "breakdowns"' and appends its last two characters. */
int mindinsight_memory_details(FILE *out, const struct mindinsight_device *of)
{
	uint32_t count, *rows = find_nodes(of, &count);
	int err = -ENOMEM;

	if (!rows)
		return err;
	fputs("{\"0\": {\"graph_id\": 0, \"fp_start\": null, \"bp_end\": null, \"nodes\": ", out);
	err = put_nodes(out, of, rows, count);
	fputs(", \"lines\": ", out);
	if (!err)
		err = put_lines(out, of, rows, count);
	fputs(", \"breakdowns\": []}}", out);
	free(rows);
	return err;
}
