/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MegEngine's static profile, the result of trace(profiling=True).get_profile(), as JSON.
 *
 * graph_exec.operator has names and types by operator, profiler.device the times of each on a component node
 * ("gpu0:0"): seconds since the start of the first one, from "start", when the node reached it, to "end";
 * profiler.opr_footprint has shapes, operations and bytes; graph_exec.var data types. profiler.host has the same
 * times for the threads that dispatch operators, but since another, unknown instant: only durations are used.
 * graph_exec.mem_chunk is memory planned before the graph ran; memory allocated later has no times. All are objects
 * by number, and the file is small, so it is read as a whole. Nodes are named CompNode("gpu0:0" from "gpux:0").
 * Source: src/plugin/impl/profiler.cpp of MegEngine.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_file.h"
#include "analyzer/import/readers/input_file.h"
#include "analyzer/import/task_find.h"

#define FILE_MAX (64u << 20)
#define TEXT_MAX 4096 /* bytes of the shapes of an operator */
#define SECONDS 9
#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED

#define NODE_MAX 64 /* bytes of the name of a component node */

struct graph {
	struct import *import;
	struct import_rows rows;
	yajl_val root;
	struct map host_rows; /* type of operators -> row of api_statistics */
};

static int detect(const struct import_sample *sample)
{
	if (sample->directory || !strstr(sample->text, "\"graph_exec\""))
		return 0;
	return strstr(sample->text, "\"operator\"") ? 80 : 0;
}

static yajl_val inside(yajl_val object, const char *key)
{
	const char *path[] = { key, NULL };

	return object && YAJL_IS_OBJECT(object) ? yajl_tree_get(object, path, yajl_t_any) : NULL;
}

static const char *text_in(yajl_val object, const char *key)
{
	yajl_val value = inside(object, key);

	return value && YAJL_IS_STRING(value) ? value->u.string : "";
}

/* Converts [[1, 3], [2]] to "1,3;2". */
static uint32_t shapes_in(struct graph *file, yajl_val object, const char *key)
{
	yajl_val list = inside(object, key);
	char text[TEXT_MAX] = "";
	FILE *out = fmemopen(text, sizeof(text) - 1, "w");

	for (size_t i = 0; out && list && YAJL_IS_ARRAY(list) && i < list->u.array.len; i++) {
		yajl_val shape = list->u.array.values[i];

		fputs(i ? ";" : "", out);
		for (size_t k = 0; YAJL_IS_ARRAY(shape) && k < shape->u.array.len; k++) {
			yajl_val size = shape->u.array.values[k];

			fprintf(out, "%s%s", k ? "," : "",
				YAJL_IS_NUMBER(size) ? size->u.number.r : "");
		}
	}
	if (out)
		fclose(out);
	return model_string(file->import->model, text);
}

/* Data types of variables, joined by semicolons: "Float32;Int8". */
static uint32_t types_in(struct graph *file, yajl_val entry, const char *key)
{
	yajl_val list = inside(entry, key), vars = inside(inside(file->root, "graph_exec"), "var");
	char text[TEXT_MAX] = "";
	size_t used = 0;

	for (size_t i = 0; list && YAJL_IS_ARRAY(list) && i < list->u.array.len; i++) {
		yajl_val id = list->u.array.values[i], var;
		const char *type;

		if (YAJL_IS_STRING(id))
			var = inside(vars, id->u.string);
		else
			var = YAJL_IS_NUMBER(id) ? inside(vars, id->u.number.r) : NULL;
		type = text_in(inside(inside(var, "mem_plan"), "layout"), "dtype");
		if (!*type || used + strlen(type) + 2 > sizeof(text))
			return 0;
		used += (size_t)sprintf(text + used, "%s%s", i ? ";" : "", type);
	}
	return model_string(file->import->model, text);
}

static bool number_in(yajl_val object, const char *key, double *number)
{
	yajl_val value = inside(object, key);
	char *end;

	if (!value || !YAJL_IS_NUMBER(value) || !value->u.number.r)
		return false;
	*number = strtod(value->u.number.r, &end);
	return !*end && *number >= 0 && *number < 1e300;
}

static void count_work(yajl_val footprint, struct task_detail *detail)
{
	if (number_in(footprint, "computation", &detail->flops))
		detail->known |= MODEL_DETAIL_FLOPS;
	if (number_in(footprint, "memory", &detail->moved_bytes))
		detail->known |= MODEL_DETAIL_MOVED;
}

static bool seconds_in(yajl_val object, const char *key, int64_t *ns)
{
	yajl_val value = inside(object, key);

	return value && YAJL_IS_NUMBER(value) && value->u.number.r &&
	       decimal_scaled(value->u.number.r, strlen(value->u.number.r), SECONDS, ns);
}

/* The time from "start" to @end of an operator's entry; returns false if it is impossible. */
static bool span_of(yajl_val times, const char *end, uint64_t *ns)
{
	int64_t start_ns, end_ns;

	if (!seconds_in(times, "start", &start_ns) || !seconds_in(times, end, &end_ns) ||
	    start_ns < 0 || end_ns < start_ns)
		return false;
	*ns = (uint64_t)(end_ns - start_ns);
	return true;
}

/* The operator's host time: of several threads the longest, as in profile_analyze. */
static bool host_time(struct graph *file, const char *id, uint64_t *ns)
{
	yajl_val threads = inside(inside(inside(file->root, "profiler"), "host"), id);
	uint64_t one;
	bool found = false;

	*ns = 0;
	for (size_t i = 0; threads && YAJL_IS_OBJECT(threads) && i < threads->u.object.len; i++) {
		if (!span_of(threads->u.object.values[i], "end", &one))
			continue;
		*ns = one > *ns ? one : *ns;
		found = true;
	}
	return found;
}

static bool add_metric(struct model *model, struct task_detail *detail, const char *name,
		       uint64_t ns)
{
	const struct task_metric metric = { .name = model_string(model, name),
					    .value = (double)ns / 1000 };

	return metric.name != INDEX_NONE && task_detail_add_metrics(model, detail, &metric, 1);
}

/* Adds the host time as profile_analyze shows it, and the time that it shows with --top-end-key kern. */
static bool add_metrics(struct graph *file, const char *id, yajl_val times,
			struct task_detail *detail)
{
	uint64_t ns;

	if (host_time(file, id, &ns) &&
	    !add_metric(file->import->model, detail, "host_time(us)", ns))
		return false;
	return !span_of(times, "kern", &ns) ||
	       add_metric(file->import->model, detail, "wait_time(us)", ns);
}

static bool describe(struct graph *file, const char *id, yajl_val times, struct device_task *task)
{
	struct model *model = file->import->model;
	yajl_val entry = inside(inside(inside(file->root, "graph_exec"), "operator"), id);
	yajl_val footprint = inside(inside(inside(file->root, "profiler"), "opr_footprint"), id);
	struct task_detail detail = task_detail_unknown();

	task->name = model_string(model, *text_in(entry, "name") ? text_in(entry, "name") : id);
	task->type = model_string(model, text_in(entry, "type"));
	detail.input_shapes = shapes_in(file, footprint, "in_shapes");
	detail.output_shapes = shapes_in(file, footprint, "out_shapes");
	detail.input_types = types_in(file, entry, "input");
	detail.output_types = types_in(file, entry, "output");
	count_work(footprint, &detail);
	if (!add_metrics(file, id, times, &detail) || task->name == INDEX_NONE || task->type == INDEX_NONE ||
	    detail.input_types == INDEX_NONE || detail.output_types == INDEX_NONE ||
	    detail.input_shapes == INDEX_NONE || detail.output_shapes == INDEX_NONE ||
	    !MODEL_PUSH(&model->task_details, detail))
		return false;
	task->detail = model->task_details.count;
	return true;
}

/* The name of CompNode("gpu0:1" from "gpux:1") is gpu0:1. */
static void node_name(const char *node, char *name)
{
	const char *quote = strchr(node, '"'), *start = quote ? quote + 1 : node;

	snprintf(name, NODE_MAX, "%.*s", (int)strcspn(start, "\""), start);
}

/* "gpu0:1" is device 0, stream 1; "gpux" the default device. */
static void place_of(const char *node, uint64_t *device, uint64_t *stream)
{
	const char *digits = node + strcspn(node, "0123456789:"), *colon = strchr(node, ':');

	if (!decimal_unsigned(digits, strspn(digits, "0123456789"), device))
		*device = 0;
	if (!colon || !decimal_unsigned(colon + 1, strspn(colon + 1, "0123456789"), stream))
		*stream = 0;
}

static int add_task(struct graph *file, const char *id, const char *node, yajl_val times)
{
	struct model *model = file->import->model;
	struct device_task task = { .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL };
	int64_t start_ns, end_ns;
	char name[NODE_MAX];
	uint64_t device;

	if (!seconds_in(times, "start", &start_ns) || !seconds_in(times, "end", &end_ns) ||
	    start_ns < 0 || end_ns < start_ns || end_ns == INT64_MAX)
		return import_finding(file->import, "operators without usable times", id);
	/* 0 stands for "not reported". */
	task.start_ns = (uint64_t)start_ns + 1;
	task.end_ns = (uint64_t)end_ns + 1;
	node_name(node, name);
	place_of(name, &device, &task.stream);
	task.device = import_device(&file->rows, device, INDEX_NONE, name,
				    strncmp(name, "cpu", 3) ? "gpu" : "cpu", "megengine", CLOCK);
	if (task.device == INDEX_NONE || !describe(file, id, times, &task))
		return -ENOMEM;
	if (strcmp(model_text(model, task.type), "Copy") == 0)
		task.kind = PROFBPF__DEVICE_TASKS__KIND__COPY;
	else if (strncmp(model_text(model, task.type), "Collective", 10) == 0)
		task.kind = PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	return MODEL_PUSH(&model->tasks, task) ? 0 : -ENOMEM;
}

static int put_tasks(struct graph *file)
{
	yajl_val operators = inside(inside(file->root, "profiler"), "device");
	uint32_t tasks = file->import->model->tasks.count;
	int err = 0;

	for (size_t i = 0;
	     operators && YAJL_IS_OBJECT(operators) && i < operators->u.object.len && !err; i++) {
		yajl_val nodes = operators->u.object.values[i];

		for (size_t k = 0; YAJL_IS_OBJECT(nodes) && k < nodes->u.object.len && !err; k++)
			err = add_task(file, operators->u.object.keys[i], nodes->u.object.keys[k],
				       nodes->u.object.values[k]);
	}
	if (!err && file->import->model->tasks.count == tasks)
		err = import_finding(file->import,
				     "no profiler.device: nothing is known of any device", NULL);
	return err;
}

static int add_host(struct graph *file, uint32_t type, uint64_t ns)
{
	struct model *model = file->import->model;
	uint32_t at = map_get(&file->host_rows, type);
	struct api_statistic row = { .min_ns = UINT64_MAX,
				     .level = model_string(model, "MegEngine host"),
				     .name = type,
				     .file = file->import->file };

	if (at == MAP_NONE) {
		at = model->api_statistics.count;
		if (row.level == INDEX_NONE || !MODEL_PUSH(&model->api_statistics, row) ||
		    !map_put(&file->host_rows, type, at))
			return -ENOMEM;
	}
	model->api_statistics.row[at].count++;
	model->api_statistics.row[at].total_ns += ns;
	if (ns < model->api_statistics.row[at].min_ns)
		model->api_statistics.row[at].min_ns = ns;
	if (ns > model->api_statistics.row[at].max_ns)
		model->api_statistics.row[at].max_ns = ns;
	/* The sum of squares, until all calls are added. */
	model->api_statistics.row[at].variance += (double)ns * (double)ns;
	return 0;
}

/* Adds the sums of operators' dispatch times, by type. */
static int put_host(struct graph *file)
{
	yajl_val all = inside(inside(file->root, "profiler"), "host");
	yajl_val operators = inside(inside(file->root, "graph_exec"), "operator");
	struct model *model = file->import->model;
	uint32_t first = model->api_statistics.count;
	int err = 0;

	for (size_t i = 0; all && YAJL_IS_OBJECT(all) && i < all->u.object.len && !err; i++) {
		const char *id = all->u.object.keys[i];
		uint32_t type = model_string(model, text_in(inside(operators, id), "type"));
		uint64_t ns;

		if (type == INDEX_NONE)
			err = -ENOMEM;
		else if (!host_time(file, id, &ns) || !type)
			err = import_finding(file->import, "host times of no known operator", id);
		else
			err = add_host(file, type, ns);
	}
	for (uint32_t i = first; i < model->api_statistics.count; i++) {
		struct api_statistic *row = &model->api_statistics.row[i];
		double mean = (double)row->total_ns / (double)row->count;

		row->variance = (row->variance / (double)row->count - mean * mean) / 1e6;
		row->variance = row->variance > 0 ? row->variance : 0;
	}
	return err;
}

/* Adds a chunk that was allocated before the graph ran. */
static int put_chunk(struct graph *file, yajl_val chunk)
{
	yajl_val vars = inside(inside(file->root, "graph_exec"), "var");
	const char *node = text_in(inside(vars, text_in(chunk, "owner_var")), "comp_node");
	struct memory_record record = { .ts_ns = 1,
					.process = INDEX_NONE,
					.file = file->import->file,
					.component =
						model_string(file->import->model, "static"),
					.flags = MODEL_MEMORY_CHANGE };
	yajl_val size = inside(chunk, "size"), address = inside(chunk, "dev_ptr");
	uint64_t bytes, device, stream;
	char name[NODE_MAX];

	if (!size || !YAJL_IS_NUMBER(size) ||
	    !decimal_unsigned(size->u.number.r, strlen(size->u.number.r), &bytes) ||
	    bytes > INT64_MAX)
		return import_finding(file->import, "memory of no size", NULL);
	if (address && YAJL_IS_NUMBER(address))
		decimal_unsigned(address->u.number.r, strlen(address->u.number.r),
				 &record.address);
	record.bytes = (int64_t)bytes;
	node_name(node, name);
	place_of(name, &device, &stream);
	record.device = device < INDEX_NONE ? (uint32_t)device : 0;
	if (strncmp(name, "cpu", 3) == 0)
		record.flags |= MODEL_MEMORY_HOST;
	if (record.component == INDEX_NONE ||
	    !MODEL_PUSH(&file->import->model->memory_records, record))
		return -ENOMEM;
	return 0;
}

static int put_memory(struct graph *file)
{
	yajl_val chunks = inside(inside(file->root, "graph_exec"), "mem_chunk");
	int err = 0;

	for (size_t i = 0;
	     chunks && YAJL_IS_OBJECT(chunks) && i < chunks->u.object.len && !err; i++)
		err = put_chunk(file, chunks->u.object.values[i]);
	return err;
}

/* Reads the file part by part, with room for a NUL. */
static int read_parts(struct input_file *file, char **text, char *error, size_t error_size)
{
	size_t used = 0, part = input_file_part(file);
	int length = 1;

	while (length > 0) {
		char *grown = realloc(*text, used + part + 1);

		if (!grown)
			return -ENOMEM;
		*text = grown;
		length = input_file_read(file, grown + used, part, error, error_size);
		if (length < 0)
			return length;
		used += (size_t)length;
		grown[used] = '\0';
		if (used > FILE_MAX) {
			snprintf(error, error_size, "more than 64 MiB: no such profile");
			return -EBADMSG;
		}
		part = used > part ? used : part;
	}
	return 0;
}

/* Returns NULL with import->error. The caller frees it. */
static char *read_whole(struct import *import)
{
	char *text = NULL, error[256] = "out of memory";
	struct input_file file;
	int err = input_file_open(&file, import->path, error, sizeof(error));

	if (!err) {
		err = read_parts(&file, &text, error, sizeof(error));
		input_file_close(&file);
	}
	if (!err)
		return text;
	free(text);
	import_fail(import, err, "%s", error);
	return NULL;
}

static int import(struct import *import)
{
	struct graph file = { .import = import };
	char *text = read_whole(import), damage[256] = "";
	int err;

	if (!text)
		return -EBADMSG;
	file.root = json_text_tree(text, damage, sizeof(damage));
	free(text);
	damage[strcspn(damage, "\n")] = '\0';
	if (!file.root)
		return import_fail(import, -EBADMSG, "no JSON: %.200s", damage);
	import_rows_begin(&file.rows, import);
	err = put_tasks(&file);
	if (!err)
		err = put_host(&file);
	if (!err)
		err = put_memory(&file);
	import_rows_free(&file.rows);
	map_free(&file.host_rows);
	yajl_tree_free(file.root);
	return err;
}

const struct importer import_megengine_graph = {
	.name = "megengine",
	.what = "a MegEngine profile of a static graph (profiling.json)",
	.detect = detect,
	.import = import,
};
