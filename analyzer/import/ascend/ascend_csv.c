/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of tasks that Ascend's profilers write as CSV: op_summary (msprof), kernel_details (torch_npu, MindSpore
 * 2.4 and later) and task_time (msprof).
 *
 * There are layouts of 8 to 47 columns, so columns are found by name. Times are microseconds, of CLOCK_REALTIME or,
 * in exports of 2023 and before, of CLOCK_MONOTONIC_RAW; the size of the number tells which. "N/A" is unknown.
 * Communication has no stream ("N/A"). A compute task may be named N/A at profiling level 0. Beside a timeline of
 * the same tasks the table only adds details.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "analyzer/import/ascend/ascend_clock.h"
#include "analyzer/import/ascend/ascend_kinds.h"
#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/task_find.h"

#define METRICS_MAX 64
#define METRIC_DIGITS 6 /* after the decimal point: the files' values are exact in a double */
#define NO_ID UINT32_MAX /* the files' value for "none" */
#define NANOSECONDS_2001 1000000000000000000 /* later than any CLOCK_MONOTONIC_RAW */

enum column {
	C_DEVICE,
	C_NAME,
	C_TYPE,
	C_CORE,
	C_START,
	C_DURATION,
	C_STREAM,
	C_TASK,
	C_CONTEXT,
	C_MODEL,
	C_STEP,
	C_BLOCKS,
	C_MIX_BLOCKS,
	C_STATE,
	C_HF32,
	C_INPUT_SHAPES,
	C_INPUT_TYPES,
	C_INPUT_FORMATS,
	C_OUTPUT_SHAPES,
	C_OUTPUT_TYPES,
	C_OUTPUT_FORMATS,
	COLUMNS
};

static const char *const NAMES[] = {
	"Device_id|Device ID|device_id",
	"Op Name|Name|kernel_name",
	"OP Type|Type|Op Type",
	"Task Type|Accelerator Core|kernel_type|Core Type",
	"Task Start Time(us)|Start Time(us)|task_start(us)|Task Start Time",
	"Task Duration(us)|Duration(us)|task_time(us)|Task Duration",
	"Stream ID|stream_id|Stream Id",
	"Task ID|task_id|Task Id",
	"Context ID",
	"Model ID",
	"Step Id|Step ID",
	"Block Num|Block Dim",
	"Mix Block Num|Mix Block Dim",
	"OP State",
	"HF32 Eligible",
	"Input Shapes",
	"Input Data Types",
	"Input Formats",
	"Output Shapes",
	"Output Data Types",
	"Output Formats",
	NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

static const uint8_t UNITS[COLUMNS] = { [C_START] = DECIMAL_US, [C_DURATION] = DECIMAL_US };

struct ascend_table {
	struct import *import;
	struct import_rows rows;
	bool has_device;
	uint32_t last[COLUMNS]; /* string of a column in the previous row: usually repeated */
	uint32_t kind_core; /* core of the last look-up of a kind */
	uint8_t kind;
	uint32_t metrics[METRICS_MAX]; /* strings: columns of counters */
	bool operations[METRICS_MAX]; /* the column counts operations */
	uint32_t metric_count;
	int64_t shift_ns; /* shift of wall-clock times against CLOCK_MONOTONIC_RAW; 0 = unknown */
	struct task_find find; /* if import->complete */
	struct recent_details details;
};

static int detect(const struct import_sample *sample)
{
	static const char *const NEEDED[] = {
		"Op Name|Name|kernel_name",
		"Task Start Time(us)|Start Time(us)|task_start(us)|Task Start Time",
		"Task Duration(us)|Duration(us)|task_time(us)|Task Duration",
		"Task Type|Accelerator Core|kernel_type|Core Type",
		NULL,
	};

	return !sample->directory && csv_has_columns(sample->text, NEEDED) ? 80 : 0;
}

static const char *text_of(const struct csv_value *value)
{
	return value->text ? value->text : "";
}

static int on_header(void *context, const bool *found)
{
	struct ascend_table *table = context;

	table->has_device = found[C_DEVICE];
	return 0;
}

static bool on_more(void *context, uint32_t index, const char *text, size_t length)
{
	struct ascend_table *table = context;
	char name[128];

	if (index >= METRICS_MAX || length >= sizeof(name))
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	if (!ascend_is_metric(name))
		return false;
	table->metrics[index] = model_string(table->import->model, name);
	table->operations[index] = strstr(name, "_fops") != NULL;
	table->metric_count = index + 1;
	return table->metrics[index] != INDEX_NONE;
}

/* The kind of a task, by its core; collectives are also recognised by their type. */
static uint8_t kind_of(struct ascend_table *table, const struct csv_value *values, uint32_t core)
{
	uint8_t kind;

	if (!core || core != table->kind_core)
		table->kind = ascend_task_kind(text_of(&values[C_CORE]));
	table->kind_core = core;
	kind = table->kind;

	if (strncasecmp(text_of(&values[C_TYPE]), "hcom_", 5) == 0 ||
	    strncasecmp(text_of(&values[C_NAME]), "hcom_", 5) == 0)
		return PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	/* At level 0 only the time of a compute task is known. */
	if (kind == PROFBPF__DEVICE_TASKS__KIND__OTHER &&
	    strcmp(text_of(&values[C_CORE]), "N/A") == 0)
		return PROFBPF__DEVICE_TASKS__KIND__KERNEL;
	return kind;
}

static bool number_of(const struct csv_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

/* A text of the file as a string; "N/A" is unknown. Returns INDEX_NONE if out of memory. */
static uint32_t string_of(struct ascend_table *table, const struct csv_value *values,
			  enum column column)
{
	const struct model *model = table->import->model;
	const char *text = text_of(&values[column]);
	uint32_t *last = &table->last[column];

	if (strcmp(model_text(model, *last), text) == 0)
		return *last;
	*last = strcmp(text, "N/A") ? model_string(table->import->model, text) : 0;
	return *last;
}

/* An id; "N/A" and the numbers for "none" are unknown. */
static uint64_t id_of(const struct csv_value *value)
{
	uint64_t id;

	return number_of(value, &id) && id != NO_ID ? id : MODEL_ID_NONE;
}

static uint32_t blocks_of(const struct csv_value *value)
{
	uint64_t blocks;

	return number_of(value, &blocks) && blocks < INDEX_NONE ? (uint32_t)blocks : INDEX_NONE;
}

/* Adds the operations counted by cube or vector unit to those of the task. */
static void add_operations(struct task_detail *detail, double operations)
{
	detail->flops += operations;
	detail->known |= MODEL_DETAIL_FLOPS;
}

/* Returns false if the value is not a number. */
static bool real_of(const struct csv_value *value, double *number)
{
	int64_t scaled;

	if (!value->text || *value->text == 'N')
		return false;
	if (decimal_real(value->text, value->length, number))
		return true;
	if (!decimal_scaled(value->text, value->length, METRIC_DIGITS, &scaled))
		return false;
	*number = (double)scaled / 1e6;
	return true;
}

static bool add_metrics(struct ascend_table *table, const struct csv_value *values,
			struct task_detail *detail)
{
	struct task_metric metrics[METRICS_MAX];
	uint32_t count = 0;
	double value;

	for (uint32_t i = 0; i < table->metric_count; i++) {
		if (!real_of(&values[COLUMNS + i], &value))
			continue;
		metrics[count++] = (struct task_metric){ .name = table->metrics[i],
							 .value = value };
		if (table->operations[i])
			add_operations(detail, value);
	}
	return task_detail_add_metrics(table->import->model, detail, metrics, count);
}

/* Reads columns that only some layouts have; most rows have some of them. */
static bool read_detail(struct ascend_table *table, const struct csv_value *values,
			struct task_detail *detail)
{
	uint32_t *const strings[] = { &detail->state,	       &detail->hf32,
				      &detail->input_shapes,   &detail->input_types,
				      &detail->input_formats,  &detail->output_shapes,
				      &detail->output_types,   &detail->output_formats };

	*detail = (struct task_detail){
		.task_id = id_of(&values[C_TASK]),
		.context_id = id_of(&values[C_CONTEXT]),
		.model_id = id_of(&values[C_MODEL]),
		.step = id_of(&values[C_STEP]),
		.blocks = blocks_of(&values[C_BLOCKS]),
		.mix_blocks = blocks_of(&values[C_MIX_BLOCKS]),
	};
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		*strings[i] = string_of(table, values, C_STATE + i);
		if (*strings[i] == INDEX_NONE)
			return false;
	}
	return add_metrics(table, values, detail);
}

static uint32_t device_row(struct ascend_table *table, const struct csv_value *values,
			   uint8_t clock)
{
	uint64_t number = 0;

	if (table->has_device)
		number_of(&values[C_DEVICE], &number);
	return import_device(&table->rows, number, INDEX_NONE, "Ascend", "npu", "msprof", clock);
}

static int put_task(struct ascend_table *table, const struct csv_value *values,
		    struct device_task *task)
{
	struct task_detail detail;

	task->device = device_row(table, values,
				  task->start_ns > NANOSECONDS_2001
					  ? PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
					  : PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW);
	if (task->device == INDEX_NONE || !read_detail(table, values, &detail) ||
	    !task_detail_put(table->import->model, &table->details, task, &detail))
		return -ENOMEM;
	return import_task(&table->rows, task);
}

/* Completes the detail of the same task from another file, which has only numbers. */
static int complete_task(struct ascend_table *table, const struct csv_value *values,
			 const struct device_task *read)
{
	struct model *model = table->import->model;
	struct task_wanted wanted = { .device = UINT64_MAX,
				      .start_ns = read->start_ns,
				      .stream = read->stream,
				      .task = id_of(&values[C_TASK]),
				      .name = read->name };
	struct device_task *task;
	struct task_detail *detail, new;
	uint32_t row;

	if (table->has_device && !number_of(&values[C_DEVICE], &wanted.device))
		wanted.device = UINT64_MAX;
	row = task_find(&table->find, &wanted);
	/* Rows of collectives have nothing that the timeline does not have. */
	if (row == INDEX_NONE)
		return read->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION
			       ? 0
			       : import_finding(table->import,
						"rows of tasks that the timeline does not have",
						values[C_NAME].text);
	task = &model->tasks.row[row];
	detail = task_detail_of(model, task);
	if (!detail || !read_detail(table, values, &new))
		return -ENOMEM;
	if (new.task_id == MODEL_ID_NONE)
		new.task_id = detail->task_id;
	if (!new.metric_count) {
		new.first_metric = detail->first_metric;
		new.metric_count = detail->metric_count;
	}
	*detail = new;
	if (read->type)
		task->type = read->type;
	if (!task->core)
		task->core = read->core;
	return 0;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct ascend_table *table = context;
	struct model *model = table->import->model;
	struct device_task task = { .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .stream = UINT64_MAX };
	int64_t start_ns, dur_ns, end_ns;
	uint64_t stream;

	if (!values[C_START].text || !values[C_DURATION].text ||
	    !decimal_scaled(values[C_START].text, values[C_START].length, 3, &start_ns) ||
	    !decimal_scaled(values[C_DURATION].text, values[C_DURATION].length, 3, &dur_ns) ||
	    start_ns < 1 || dur_ns < 0 || __builtin_add_overflow(start_ns, dur_ns, &end_ns))
		return import_finding(table->import, "rows without usable times: start or duration is no "
						     "number, or below zero (if the table was edited, export "
						     "it again)",
				      values[C_NAME].text);
	if (start_ns > NANOSECONDS_2001 && start_ns > table->shift_ns) {
		start_ns -= table->shift_ns;
		end_ns -= table->shift_ns;
	}
	task.start_ns = (uint64_t)start_ns;
	task.end_ns = (uint64_t)end_ns;
	if (number_of(&values[C_STREAM], &stream))
		task.stream = stream;
	task.name = model_string(model, values[C_NAME].text);
	task.type = string_of(table, values, C_TYPE);
	task.core = string_of(table, values, C_CORE);
	if (task.name == INDEX_NONE || task.type == INDEX_NONE || task.core == INDEX_NONE)
		return -ENOMEM;
	task.kind = kind_of(table, values, task.core);
	return table->import->complete ? complete_task(table, values, &task)
				       : put_task(table, values, &task);
}

static int import(struct import *import)
{
	struct ascend_table table = {
		.import = import, .shift_ns = import->alone ? 0 : ascend_clock_shift(import->path)
	};
	const struct csv_reader reader = { .columns = NAMES,
					   .header = on_header,
					   .more = on_more,
					   .row = on_row,
					   .context = &table,
					   .units = UNITS,
					   .rounded = import_rounded,
					   .rounded_context = import,
					   .place = &import->place };
	uint32_t tasks = import->model->tasks.count;
	char damage[256] = "";
	int err = import->complete ? task_find_begin(&table.find, import) : 0;

	import_rows_begin(&table.rows, import);
	if (!err)
		err = csv_table_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err,
				 import->complete || import->model->tasks.count > tasks, damage);
	if (!err && !import->complete && import->model->tasks.count == tasks)
		err = import_finding(import, "no rows: nothing is known of any device", NULL);
	import_rows_free(&table.rows);
	task_find_free(&table.find);
	return err;
}

const struct importer import_ascend_csv = {
	.name = "msprof",
	.what = "a table of Ascend tasks (op_summary, kernel_details, task_time)",
	.detect = detect,
	.import = import,
};
