/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory needed by operators of graphs with statically planned memory: static_op_mem_*.csv of msprof.
 *
 * Kilobytes of 1,024, by operator, with the first and last node of the graph that use them, by place; UINT32_MAX:
 * to the graph's end. It is not documented whether the last node is included, so no sum at a node is computed.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/device_facts.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"

#define TO_THE_END UINT32_MAX

enum column { C_DEVICE, C_NAME, C_MODEL, C_GRAPH, C_FROM, C_TO, C_SIZE, COLUMNS };

static const char *const NAMES[] = {
	"Device_id|Device ID", "Op Name",	 "Model Name", "Graph ID",
	"Node Index Start",    "Node Index End", "Size(KB)",   NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

struct need {
	double bytes;
	uint32_t device; /* row; INDEX_NONE = the file says "host" */
	uint32_t topic; /* strings */
	uint32_t name;
	uint32_t place; /* position in the file */
};

struct memory_file {
	struct import *import;
	struct import_rows rows;
	MODEL_ARRAY(struct need) needs;
};

static int detect(const struct import_sample *sample)
{
	static const char *const NEEDED[] = { "Op Name", "Graph ID", "Node Index Start", "Size(KB)",
					      NULL };

	return !sample->directory && csv_has_columns(sample->text, NEEDED) ? 85 : 0;
}

static bool bytes_of(const struct csv_value *value, double *bytes)
{
	int64_t thousandths;

	if (!value->text || !decimal_scaled(value->text, value->length, 3, &thousandths) ||
	    thousandths < 0)
		return false;
	*bytes = rint((double)thousandths * 1.024);
	return true;
}

static bool number_of(const struct csv_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

static const char *text_of(const struct csv_value *value)
{
	return value->text ? value->text : "";
}

/*
 * Writes a name, "Conv1, nodes 3 to 7", and a topic, "static memory of graph 1 of resnet", without the parts that
 * the file does not have.
 */
static void write_names(const struct csv_value *values, char *topic, char *name, size_t size)
{
	const char *model = text_of(&values[C_MODEL]), *graph = text_of(&values[C_GRAPH]);
	uint64_t from, to;
	size_t length;

	snprintf(topic, size, "static memory%s%.40s%s%.200s", *graph ? " of graph " : "", graph,
		 *model ? " of " : "", model);
	length = (size_t)snprintf(name, size, "%.200s", text_of(&values[C_NAME]));
	if (!number_of(&values[C_FROM], &from) || !number_of(&values[C_TO], &to))
		return;
	if (to == TO_THE_END)
		snprintf(name + length, size - length, ", node %" PRIu64 " to the end", from);
	else
		snprintf(name + length, size - length, ", nodes %" PRIu64 " to %" PRIu64, from, to);
}

static int on_row(void *context, const struct csv_value *values)
{
	struct memory_file *file = context;
	struct need need = { .device = INDEX_NONE, .place = file->needs.count };
	char topic[300], name[300];
	uint64_t device;

	if (!*text_of(&values[C_NAME]) || !bytes_of(&values[C_SIZE], &need.bytes))
		return import_finding(file->import, "operators without a name or a size",
				      values[C_NAME].text);
	write_names(values, topic, name, sizeof(name));
	need.topic = model_string(file->import->model, topic);
	need.name = model_string(file->import->model, name);
	if (number_of(&values[C_DEVICE], &device)) {
		need.device = import_same_device(&file->rows, device, "Ascend", "npu", "msprof",
						 PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
		if (need.device == INDEX_NONE)
			return -ENOMEM;
	}
	return need.topic != INDEX_NONE && need.name != INDEX_NONE && MODEL_PUSH(&file->needs, need)
		       ? 0
		       : -ENOMEM;
}

static int by_bytes(const void *a, const void *b)
{
	const struct need *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* The largest first: a graph has more operators than reports list. */
static int put_needs(const struct memory_file *file)
{
	const struct model *model = file->import->model;
	int err = 0;

	if (file->needs.count)
		qsort(file->needs.row, file->needs.count, sizeof(*file->needs.row), by_bytes);
	for (uint32_t i = 0; i < file->needs.count && !err; i++) {
		const struct need *need = &file->needs.row[i];

		err = device_fact_number(file->import, need->device, model_text(model, need->topic),
					 model_text(model, need->name), "bytes", need->bytes);
	}
	return err;
}

static int import(struct import *import)
{
	struct memory_file file = { .import = import };
	const struct csv_reader reader = { .columns = NAMES, .row = on_row, .context = &file, .place = &import->place };
	char damage[256] = "";
	int err, failed;

	import_rows_begin(&file.rows, import);
	err = csv_table_read(import->path, &reader, damage, sizeof(damage));
	failed = err == -ENOMEM ? err : put_needs(&file);
	if (!failed)
		failed = import_end_reading(import, err, file.needs.count > 0, damage);
	import_rows_free(&file.rows);
	free(file.needs.row);
	return failed;
}

const struct importer import_static_memory = {
	.name = "msprof",
	.what = "a table of planned memory of operators (static_op_mem_*)",
	.detect = detect,
	.import = import,
};
