/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timeline of MindSpore's profiler from a device's log (r0.7 to 2.3): output_timeline_data_<device>.txt, a table of
 * the tasks of AI cores.
 *
 * Beside it framework_raw_<device>.csv has the operators' types and shapes, by full name,
 * aicpu_intermediate_<device>.csv the tasks of AI CPUs, flops_<device>.txt the computation of operators, in
 * millions of operations. All times are of the device's counter, which starts with the device: milliseconds in the
 * timeline, microseconds in the table of AI CPUs. 0 in a table means "unknown".
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_file.h"
#include "analyzer/import/task_find.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED
#define TEXT_MAX 4096 /* bytes of the shapes of an operator */
#define OPERANDS_MAX 64
#define MILLISECONDS 6
#define MICROSECONDS 3
#define FLOPS_DIGITS 6 /* after the decimal point */

/* An operator of framework_raw. */
struct ms_operator {
	struct task_detail detail;
	uint32_t type;
};

struct ms_timeline {
	struct import *import;
	struct import_rows rows;
	struct recent_details details;
	uint64_t device;
	struct map operator_rows; /* string: full name -> row */
	MODEL_ARRAY(struct ms_operator) operators;
	const char *core; /* core of the current table */
	int power; /* power of ten of its times */
};

static const char *const SPANS[] = { "op_name|kernel_type|op_type", "stream_id", "start_time(ms)|run_start",
				     "duration(ms)",	    "run_end",	 NULL };
enum span_column { S_NAME, S_STREAM, S_START, S_DURATION, S_END };

static const char *const OPERATORS[] = { "full_kernel_name|full_op_name",
					 "kernel_type|op_type",
					 "task_id",
					 "block_dim",
					 "op_info",
					 NULL };
enum operator_column { O_NAME, O_TYPE, O_TASK, O_BLOCKS, O_INFO };

static const char *const FLOPS[] = { "full_kernel_name|op_full_name",
				     "MFLOPs(10^6 cube)|MFLOPs(10^6)|MFLOPs|FLOPs",
				     "FLOPS utilization(cube)|FLOPS utilization",
				     "MFLOPs(10^6 vector)",
				     "FLOPS utilization(vec)",
				     NULL };
enum flops_column { F_NAME, F_CUBE, F_USED, F_VECTOR, F_VECTOR_USED };

static int detect(const struct import_sample *sample)
{
	static const char *const NEEDED[] = { "op_name", "stream_id", "start_time(ms)",
					      "duration(ms)", NULL };

	return !sample->directory && csv_has_columns(sample->text, NEEDED) ? 85 : 0;
}

/* Appends a shape, "3" or "[3, 224]" in the file, as "3,224". */
static void append_shape(FILE *out, yajl_val shape)
{
	if (YAJL_IS_STRING(shape)) {
		fputs(shape->u.string, out);
		return;
	}
	for (size_t i = 0; YAJL_IS_ARRAY(shape) && i < YAJL_GET_ARRAY(shape)->len; i++) {
		yajl_val size = YAJL_GET_ARRAY(shape)->values[i];

		fprintf(out, "%s%s", i ? "," : "",
			YAJL_IS_NUMBER(size) ? YAJL_GET_NUMBER(size) : "");
	}
}

/* One property of all inputs or outputs of an operator, joined by semicolons as msprof does. */
static uint32_t operands(struct ms_timeline *file, yajl_val info, const char *side,
			 const char *property)
{
	char text[TEXT_MAX] = "", key[32];
	FILE *out = fmemopen(text, sizeof(text) - 1, "w");

	for (unsigned int i = 0; out && i < OPERANDS_MAX; i++) {
		const char *path[] = { key, property, NULL };
		yajl_val value;

		snprintf(key, sizeof(key), "%s_%u", side, i);
		value = yajl_tree_get(info, path, yajl_t_any);
		if (!value)
			break;
		if (i)
			fputc(';', out);
		append_shape(out, value);
	}
	if (out)
		fclose(out);
	return model_string(file->import->model, text);
}

static bool read_info(struct ms_timeline *file, const char *text, struct task_detail *detail)
{
	char reason[128];
	yajl_val info = json_text_tree(text, reason, sizeof(reason));

	if (!info)
		return true;
	detail->input_shapes = operands(file, info, "input", "shape");
	detail->input_types = operands(file, info, "input", "data_type");
	detail->input_formats = operands(file, info, "input", "format");
	detail->output_shapes = operands(file, info, "output", "shape");
	detail->output_types = operands(file, info, "output", "data_type");
	detail->output_formats = operands(file, info, "output", "format");
	yajl_tree_free(info);
	return detail->input_shapes != INDEX_NONE && detail->input_types != INDEX_NONE &&
	       detail->input_formats != INDEX_NONE && detail->output_shapes != INDEX_NONE &&
	       detail->output_types != INDEX_NONE && detail->output_formats != INDEX_NONE;
}

static bool number_of(const struct csv_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

/* The row of an operator, created if it is new; INDEX_NONE if out of memory. */
static uint32_t operator_row(struct ms_timeline *file, uint32_t name, bool *made)
{
	const struct ms_operator row = { .detail = { .task_id = MODEL_ID_NONE,
						     .context_id = MODEL_ID_NONE,
						     .model_id = MODEL_ID_NONE,
						     .step = MODEL_ID_NONE,
						     .blocks = INDEX_NONE,
						     .mix_blocks = INDEX_NONE } };
	uint32_t index = map_get(&file->operator_rows, name);

	*made = index == MAP_NONE;
	if (!*made)
		return index;
	index = file->operators.count;
	return MODEL_PUSH(&file->operators, row) && map_put(&file->operator_rows, name, index)
		       ? index
		       : INDEX_NONE;
}

static int on_operator(void *context, const struct csv_value *values)
{
	struct ms_timeline *file = context;
	struct model *model = file->import->model;
	uint32_t name = model_string(model, values[O_NAME].text), index;
	struct ms_operator *row;
	uint64_t number;
	bool made;

	if (name == INDEX_NONE)
		return -ENOMEM;
	if (!name)
		return 0;
	index = operator_row(file, name, &made);
	if (index == INDEX_NONE)
		return -ENOMEM;
	if (!made)
		return 0;
	row = &file->operators.row[index];
	row->type = model_string(model, values[O_TYPE].text);
	number_of(&values[O_TASK], &row->detail.task_id);
	if (number_of(&values[O_BLOCKS], &number) && number < INDEX_NONE)
		row->detail.blocks = (uint32_t)number;
	if (row->type == INDEX_NONE ||
	    (values[O_INFO].text && !read_info(file, values[O_INFO].text, &row->detail)))
		return -ENOMEM;
	return 0;
}

/* Returns false if there is no such number. */
static bool real_of(const struct csv_value *value, double *number)
{
	int64_t scaled;

	if (!value->text || !decimal_scaled(value->text, value->length, FLOPS_DIGITS, &scaled))
		return false;
	*number = (double)scaled / 1e6;
	return true;
}

/* Reads millions of operations of cube and vector units; utilization of the cube unit, or else the vector unit. */
static int on_flops(void *context, const struct csv_value *values)
{
	struct ms_timeline *file = context;
	uint32_t name = model_string(file->import->model, values[F_NAME].text), index;
	double cube = 0, vector = 0, utilization;
	bool told = real_of(&values[F_CUBE], &cube), made;
	struct task_detail *detail;

	if (name == INDEX_NONE)
		return -ENOMEM;
	told |= real_of(&values[F_VECTOR], &vector);
	if (!name || !told)
		return 0;
	index = operator_row(file, name, &made);
	if (index == INDEX_NONE)
		return -ENOMEM;
	detail = &file->operators.row[index].detail;
	detail->flops = (cube + vector) * 1e6;
	detail->known |= MODEL_DETAIL_FLOPS;
	if (real_of(&values[cube > 0 || !values[F_VECTOR_USED].text ? F_USED : F_VECTOR_USED],
		    &utilization)) {
		detail->utilization = utilization;
		detail->known |= MODEL_DETAIL_UTILIZATION;
	}
	return 0;
}

static bool describe(struct ms_timeline *file, struct device_task *task)
{
	struct model *model = file->import->model;
	uint32_t row = map_get(&file->operator_rows, task->name);

	task->core = model_string(model, file->core);
	if (task->core == INDEX_NONE)
		return false;
	if (row == MAP_NONE)
		return true;
	task->type = file->operators.row[row].type;
	return task_detail_put(model, &file->details, task, &file->operators.row[row].detail);
}

static bool times_of(const struct ms_timeline *file, const struct csv_value *values,
		     struct device_task *task)
{
	const struct csv_value *until = &values[values[S_DURATION].text ? S_DURATION : S_END];
	int64_t start_ns, end_ns;

	if (!values[S_START].text || !until->text ||
	    !decimal_scaled(values[S_START].text, values[S_START].length, file->power, &start_ns) ||
	    !decimal_scaled(until->text, until->length, file->power, &end_ns) || start_ns < 1)
		return false;
	if (values[S_DURATION].text && __builtin_add_overflow(start_ns, end_ns, &end_ns))
		return false;
	task->start_ns = (uint64_t)start_ns;
	task->end_ns = (uint64_t)end_ns;
	return end_ns >= start_ns;
}

static int on_span(void *context, const struct csv_value *values)
{
	struct ms_timeline *file = context;
	struct model *model = file->import->model;
	struct device_task task = { .stream = UINT64_MAX,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL,
				    .name = model_string(model, values[S_NAME].text) };

	if (task.name == INDEX_NONE)
		return -ENOMEM;
	if (!times_of(file, values, &task))
		return import_finding(file->import, "rows without usable times: start or duration is no "
						    "number, or below zero (if the table was edited, export "
						    "it again)",
				      values[S_NAME].text);
	number_of(&values[S_STREAM], &task.stream);
	if (strstr(model_text(model, task.name), "AllReduce-op") ||
	    is_communication_name(model_text(model, task.name)))
		task.kind = PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	task.device =
		import_same_device(&file->rows, file->device, "Ascend", "npu", "mindspore", CLOCK);
	if (task.device == INDEX_NONE || !describe(file, &task))
		return -ENOMEM;
	return import_task(&file->rows, &task);
}

static int read_table(struct ms_timeline *file, const char *path, const char *const *columns,
		      int (*row)(void *, const struct csv_value *))
{
	const uint8_t units[] = { [S_START] = (uint8_t)(1 + file->power),
				  [S_DURATION] = (uint8_t)(1 + file->power),
				  [S_END] = (uint8_t)(1 + file->power) };
	const struct csv_reader reader = { .columns = columns,
					   .row = row,
					   .context = file,
					   .units = columns == SPANS ? units : NULL,
					   .rounded = import_rounded,
					   .rounded_context = file->import,
					   .place = &file->import->place };
	uint32_t tasks = file->import->model->tasks.count;
	char damage[256] = "";
	int err = csv_table_read(path, &reader, damage, sizeof(damage));

	return import_end_reading(file->import, err,
				  strcmp(path, file->import->path) != 0 ||
					  file->import->model->tasks.count > tasks,
				  damage);
}

/* The path of a table beside the file; returns false if there is none. */
static bool sibling(const struct ms_timeline *file, const char *name, const char *ending,
		    char *path, size_t size)
{
	const char *slash = strrchr(file->import->path, '/');
	int folder = slash ? (int)(slash - file->import->path) + 1 : 0;

	return snprintf(path, size, "%.*s%s_%llu.%s", folder, file->import->path, name,
			(unsigned long long)file->device, ending) < (int)size &&
	       access(path, R_OK) == 0;
}

/* The device of "output_timeline_data_3.txt" is 3. */
static uint64_t device_of_path(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int device;

	return sscanf(name ? name + 1 : path, "output_timeline_data_%u", &device) == 1 ? device : 0;
}

static int import(struct import *import)
{
	struct ms_timeline file = { .import = import, .device = device_of_path(import->path) };
	char path[PATH_MAX];
	int err = 0;

	import_rows_begin(&file.rows, import);
	if (sibling(&file, "framework_raw", "csv", path, sizeof(path)))
		err = read_table(&file, path, OPERATORS, on_operator);
	if (!err && sibling(&file, "flops", "txt", path, sizeof(path)))
		err = read_table(&file, path, FLOPS, on_flops);
	file.core = "AI_CORE";
	file.power = MILLISECONDS;
	if (!err)
		err = read_table(&file, import->path, SPANS, on_span);
	file.core = "AI_CPU";
	file.power = MICROSECONDS;
	if (!err && sibling(&file, "aicpu_intermediate", "csv", path, sizeof(path)))
		err = read_table(&file, path, SPANS, on_span);
	import_rows_free(&file.rows);
	map_free(&file.operator_rows);
	free(file.operators.row);
	return err;
}

const struct importer import_mindspore_timeline = {
	.name = "mindspore",
	.what = "a table of operators by MindSpore (output_timeline_data_*.txt)",
	.detect = detect,
	.import = import,
};
