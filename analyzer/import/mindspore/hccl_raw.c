/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication of MindSpore's profiler (until 2.3): hccl_raw_<device>.csv.
 *
 * There is a row for each step; the last row, number "-", has their mean. communication_operator_cost is JSON:
 * {"stream_41_0_AllReduce-op4582": ["1", communication ms, wait ms, {"1-0": {"SDMA": [ms, KB, KB/s]}}]}, with
 * stream, number on the stream, and name; links are pairs of ranks, and KB are 1000 bytes. Steps are added up.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_file.h"
#include "lib/base/map.h"

#define MILLISECONDS 6
#define KILOBYTES 3

enum column { C_STEP, C_OPERATORS, COLUMNS };

static const char *const NAMES[] = { "step_num", "communication_operator_cost", NULL };

struct hccl {
	struct import *import;
	struct import_rows rows;
	uint64_t number; /* the device's number, from the file's name */
	uint32_t device; /* the device's row */
	struct map times; /* string of an operation -> row of communication_times */
	struct map links; /* hash of operation, ranks and transport -> row of link_uses */
};

static int detect(const struct import_sample *sample)
{
	static const char *const NEEDED[] = { "step_num", "communication_cost", "wait_cost",
					      "communication_operator_cost", NULL };

	return !sample->directory && csv_has_columns(sample->text, NEEDED) ? 85 : 0;
}

/* Item @index of a list times 10^@power, if it is a number of at least 0; else 0. */
static uint64_t scaled(yajl_val list, size_t index, int power)
{
	int64_t number = 0;
	const char *text;

	if (!YAJL_IS_ARRAY(list) || index >= list->u.array.len ||
	    !YAJL_IS_NUMBER(list->u.array.values[index]))
		return 0;
	text = YAJL_GET_NUMBER(list->u.array.values[index]);
	return decimal_scaled(text, strlen(text), power, &number) && number > 0 ? (uint64_t)number
										: 0;
}

/* The operation of "stream_41_0_AllReduce-op4582" is AllReduce-op4582. */
static uint32_t operation_of(struct model *model, const char *name)
{
	unsigned int stream, place;
	int length = 0;

	if (sscanf(name, "stream_%u_%u_%n", &stream, &place, &length) == 2 && length)
		name += length;
	return model_string(model, name);
}

static int add_time(struct hccl *file, uint32_t operation, yajl_val cost)
{
	struct model *model = file->import->model;
	uint32_t row = map_get(&file->times, operation);
	const struct communication_time new = { .elapsed_ns = UINT64_MAX,
						.synchronization_ns = UINT64_MAX,
						.idle_ns = UINT64_MAX,
						.device = file->device,
						.operation = operation };

	if (row == MAP_NONE) {
		row = model->communication_times.count;
		if (!MODEL_PUSH(&model->communication_times, new) ||
		    !map_put(&file->times, operation, row))
			return -ENOMEM;
	}
	model->communication_times.row[row].transit_ns += scaled(cost, 1, MILLISECONDS);
	model->communication_times.row[row].wait_ns += scaled(cost, 2, MILLISECONDS);
	return 0;
}

static int add_link(struct hccl *file, const struct link_use *wanted, yajl_val moved)
{
	struct model *model = file->import->model;
	uint64_t key =
		((uint64_t)wanted->operation << 32 | wanted->transport) * 0x9e3779b97f4a7c15u ^
		((uint64_t)wanted->source << 32 | wanted->destination);
	uint32_t row = map_get(&file->links, key);

	if (row == MAP_NONE) {
		row = model->link_uses.count;
		if (!MODEL_PUSH(&model->link_uses, *wanted) || !map_put(&file->links, key, row))
			return -ENOMEM;
	}
	model->link_uses.row[row].ns += scaled(moved, 0, MILLISECONDS);
	model->link_uses.row[row].bytes += scaled(moved, 1, KILOBYTES);
	model->link_uses.row[row].count++;
	return 0;
}

/* Adds the links of an operation: {"1-0": {"SDMA": [ms, KB, KB/s]}}. */
static int add_links(struct hccl *file, uint32_t operation, yajl_val links)
{
	int err = 0;

	for (size_t i = 0; YAJL_IS_OBJECT(links) && i < links->u.object.len && !err; i++) {
		yajl_val transports = links->u.object.values[i];
		struct link_use use = { .device = file->device, .operation = operation };

		if (sscanf(links->u.object.keys[i], "%u-%u", &use.source, &use.destination) != 2)
			continue;
		for (size_t k = 0;
		     YAJL_IS_OBJECT(transports) && k < transports->u.object.len && !err; k++) {
			use.transport =
				model_string(file->import->model, transports->u.object.keys[k]);
			err = use.transport == INDEX_NONE
				      ? -ENOMEM
				      : add_link(file, &use, transports->u.object.values[k]);
		}
	}
	return err;
}

static int add_operators(struct hccl *file, yajl_val operators)
{
	int err = 0;

	for (size_t i = 0; YAJL_IS_OBJECT(operators) && i < operators->u.object.len && !err; i++) {
		yajl_val cost = operators->u.object.values[i];
		uint32_t operation = operation_of(file->import->model, operators->u.object.keys[i]);

		if (operation == INDEX_NONE)
			return -ENOMEM;
		if (!operation || !YAJL_IS_ARRAY(cost))
			continue;
		err = add_time(file, operation, cost);
		if (!err && cost->u.array.len > 3)
			err = add_links(file, operation, cost->u.array.values[3]);
	}
	return err;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct hccl *file = context;
	yajl_val operators;
	char reason[128];
	uint64_t step;
	int err;

	if (!values[C_STEP].text || !values[C_OPERATORS].text ||
	    !decimal_unsigned(values[C_STEP].text, values[C_STEP].length, &step))
		return 0; /* means */
	operators = json_text_tree(values[C_OPERATORS].text, reason, sizeof(reason));
	if (!operators)
		return import_finding(file->import, "steps whose operators are no JSON",
				      values[C_STEP].text);
	err = add_operators(file, operators);
	yajl_tree_free(operators);
	return err;
}

/* The device of "hccl_raw_3.csv" is 3. */
static uint64_t device_of_name(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int device;

	return sscanf(name ? name + 1 : path, "hccl_raw_%u.csv", &device) == 1 ? device : 0;
}

static int import(struct import *import)
{
	struct hccl file = { .import = import, .number = device_of_name(import->path) };
	const struct csv_reader reader = { .columns = NAMES, .row = on_row, .context = &file, .place = &import->place };
	uint32_t rows = import->model->communication_times.count;
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	file.device = import_same_device(&file.rows, file.number, "Ascend", "npu", "mindspore",
					 PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	err = file.device == INDEX_NONE
		      ? -ENOMEM
		      : csv_table_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, import->model->communication_times.count > rows, damage);
	import_rows_free(&file.rows);
	map_free(&file.times);
	map_free(&file.links);
	return err;
}

const struct importer import_hccl_raw = {
	.name = "mindspore",
	.what = "a table of communication by MindSpore (hccl_raw_*.csv)",
	.detect = detect,
	.import = import,
};
