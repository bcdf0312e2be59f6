/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of `nvprof --csv`: sums of kernels and calls, or, with --print-gpu-trace, each kernel and copy.
 *
 * Lines that begin with "==" are messages, between and before tables. The header is followed by a row of units
 * ("us", "KB"), which differ from file to file. Until CUDA 8 the sums of kernels and of calls are two tables
 * without a column to distinguish them. Times are rounded to four or five digits; in a trace they are since the
 * start of the program.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/readers/csv_table.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED
#define MESSAGE "=="
#define SIZE_LIMIT 1e18 /* bytes; no copy is larger */

enum column {
	C_TIME,
	C_CALLS,
	C_MIN,
	C_MAX,
	C_START,
	C_DURATION,
	C_SIZE,
	C_DEVICE,
	C_STREAM,
	C_TYPE,
	C_NAME,
	COLUMNS
};

static const char *const NAMES[] = { "Time",	 "Calls", "Min",    "Max",    "Start", "Duration",
				     "Size",	 "Device", "Stream", "Type",   "Name",	NULL };

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

struct nvprof_csv {
	struct import *import;
	struct import_rows rows;
	uint8_t units[COLUMNS]; /* enum decimal_unit of times */
	double size; /* bytes in its unit; 0 = unknown */
};

/* The first line that is not a message. */
static const char *first_row(const char *text)
{
	while (strncmp(text, MESSAGE, strlen(MESSAGE)) == 0 || *text == '\n' || *text == '\r') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

static int detect(const struct import_sample *sample)
{
	static const char *const SUMS[] = { "Time(%)", "Time", "Calls", "Avg", "Min", "Max", "Name",
					    NULL };
	static const char *const TRACE[] = { "Start",  "Duration", "Grid X", "Static SMem",
					     "Device", "Stream",   "Name",   NULL };
	const char *row = first_row(sample->text);

	return !sample->directory && (csv_has_columns(row, SUMS) || csv_has_columns(row, TRACE))
		       ? 80
		       : 0;
}

static uint8_t unit_of(const char *unit)
{
	static const struct {
		const char *unit;
		uint8_t number;
	} UNITS[] = { { "s", DECIMAL_S }, { "ms", DECIMAL_MS }, { "us", DECIMAL_US }, { "ns", DECIMAL_NS } };

	for (size_t i = 0; unit && i < sizeof(UNITS) / sizeof(UNITS[0]); i++)
		if (strcmp(unit, UNITS[i].unit) == 0)
			return UNITS[i].number;
	return DECIMAL_NO_TIME;
}

/* nvprof's KB has 1024 bytes. */
static double size_of(const char *unit)
{
	static const char *const UNITS[] = { "B", "KB", "MB", "GB" };

	for (size_t i = 0; unit && i < sizeof(UNITS) / sizeof(UNITS[0]); i++)
		if (strcmp(unit, UNITS[i]) == 0)
			return ldexp(1, 10 * (int)i);
	return 0;
}

static void take_units(struct nvprof_csv *file, const struct csv_value *values)
{
	for (unsigned int i = 0; i < COLUMNS; i++)
		file->units[i] = unit_of(values[i].text);
	file->size = size_of(values[C_SIZE].text);
}

static bool ns_of(const struct nvprof_csv *file, const struct csv_value *values, enum column column,
		  uint64_t *ns)
{
	int64_t value;

	if (file->units[column] == DECIMAL_NO_TIME || !values[column].text ||
	    !decimal_scaled(values[column].text, values[column].length, file->units[column] - 1,
			    &value) ||
	    value < 0)
		return false;
	*ns = (uint64_t)value;
	return true;
}

/* Removes a number after a name: "kernel(int) [112]", "Tesla K40c (0)". Returns true if there was one. */
static bool cut_number(char *text, char open, uint64_t *number)
{
	char *at = strrchr(text, open), *end;

	if (!at || at == text || at[-1] != ' ')
		return false;
	*number = strtoull(at + 1, &end, 10);
	if (end == at + 1 || strlen(end) != 1)
		return false;
	at[-1] = '\0';
	return true;
}

static int add_task(struct nvprof_csv *file, const struct csv_value *values)
{
	struct model *model = file->import->model;
	struct device_task task = { .thread = INDEX_NONE, .call = INDEX_NONE };
	char *name = strdup(values[C_NAME].text);
	char *device = strdup(values[C_DEVICE].text ? values[C_DEVICE].text : "");
	uint64_t start, length, number = 0;
	bool copy, fill, usable;
	int64_t stream;
	double size;

	if (!name || !device) {
		free(name);
		free(device);
		return -ENOMEM;
	}
	copy = strncmp(name, "[CUDA memcpy", 12) == 0;
	fill = strncmp(name, "[CUDA memset", 12) == 0;
	task.kind = copy			  ? PROFBPF__DEVICE_TASKS__KIND__COPY :
		    fill			  ? PROFBPF__DEVICE_TASKS__KIND__FILL :
		    is_communication_name(name) ? PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION :
						  PROFBPF__DEVICE_TASKS__KIND__KERNEL;
	if (!copy && !fill)
		cut_number(name, '[', &task.correlation);
	task.name = model_string(model, name);
	/* 0 stands for "not reported". */
	usable = ns_of(file, values, C_START, &start) &&
		 ns_of(file, values, C_DURATION, &length) &&
		 import_instants_of((int64_t)start, (int64_t)length, 1, &task.start_ns, &task.end_ns);
	if (values[C_STREAM].text &&
	    decimal_scaled(values[C_STREAM].text, values[C_STREAM].length, 0, &stream))
		task.stream = stream < 0 ? UINT64_MAX : (uint64_t)stream;
	if (file->size > 0 && values[C_SIZE].text &&
	    decimal_real(values[C_SIZE].text, values[C_SIZE].length, &size) &&
	    size * file->size < SIZE_LIMIT)
		task.bytes = (uint64_t)(size * file->size + 0.5);
	cut_number(device, '(', &number);
	if (usable)
		task.device = import_device(&file->rows, number, INDEX_NONE,
					    *device ? device : "GPU", "gpu", "nvprof", CLOCK);
	free(name);
	free(device);
	if (task.name == INDEX_NONE || task.device == INDEX_NONE)
		return -ENOMEM;
	if (!usable)
		return import_finding(file->import, "tasks without usable times: the end is missing or "
						    "before the start", values[C_NAME].text);
	return import_task(&file->rows, &task);
}

/* Is it a call of the host? A column says so; in files without it the name does: "cudaMalloc", "cuInit". */
static bool is_call(const struct csv_value *values)
{
	const char *name = values[C_NAME].text;

	if (values[C_TYPE].text)
		return strcmp(values[C_TYPE].text, "API calls") == 0;
	return strncmp(name, "cu", 2) == 0 && !strpbrk(name, "(<: ") &&
	       (strncmp(name, "cuda", 4) == 0 || (name[2] >= 'A' && name[2] <= 'Z'));
}

static int add_sum(struct nvprof_csv *file, const struct csv_value *values)
{
	struct model *model = file->import->model;
	struct operator_sum sum = { .name = model_string(model, values[C_NAME].text),
				    .min_ns = UINT64_MAX,
				    .max_ns = UINT64_MAX,
				    .self_ns = UINT64_MAX,
				    .host_ns = UINT64_MAX,
				    .host_self_ns = UINT64_MAX,
				    .device = INDEX_NONE,
				    .file = file->import->file };
	struct api_statistic call = { .level = model_string(model, "CUDA"),
				      .name = sum.name,
				      .file = file->import->file,
				      .variance = -1 };
	int64_t count;

	if (!values[C_CALLS].text ||
	    !decimal_scaled(values[C_CALLS].text, values[C_CALLS].length, 0, &count) || count < 1 ||
	    !ns_of(file, values, C_TIME, &sum.total_ns))
		return import_finding(file->import, "sums without usable figures: count or time is missing "
						    "or no number (export the table again)",
				      values[C_NAME].text);
	sum.count = (uint64_t)count;
	ns_of(file, values, C_MIN, &sum.min_ns);
	ns_of(file, values, C_MAX, &sum.max_ns);
	if (is_call(values)) {
		call.count = sum.count;
		call.total_ns = sum.total_ns;
		call.min_ns = sum.min_ns;
		call.max_ns = sum.max_ns;
		return call.name != INDEX_NONE && call.level != INDEX_NONE &&
				       MODEL_PUSH(&model->api_statistics, call)
			       ? 0
			       : -ENOMEM;
	}
	sum.type = model_string(
		model, strncmp(values[C_NAME].text, "[CUDA mem", 9) == 0 ? "copy" : "kernel");
	return sum.name != INDEX_NONE && sum.type != INDEX_NONE &&
			       MODEL_PUSH(&model->operator_sums, sum)
		       ? 0
		       : -ENOMEM;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct nvprof_csv *file = context;
	const char *name = values[C_NAME].text;

	/* The row of units has no name; the second table's header has the column's name. */
	if (!name || !*name) {
		take_units(file, values);
		return 0;
	}
	if (strcmp(name, "Name") == 0)
		return 0;
	if (!values[C_START].text)
		return add_sum(file, values);
	/* With --print-api-trace the rows also contain calls. */
	if (!values[C_DEVICE].text || !*values[C_DEVICE].text)
		return import_finding(file->import, "calls of the host, whose threads are not told", name);
	return add_task(file, values);
}

static int import(struct import *import)
{
	struct nvprof_csv file = { .import = import };
	const struct csv_reader reader = {
		.columns = NAMES,     .message = MESSAGE,	    .row = on_row,		.context = &file,
		.units = file.units, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	const struct model *model = import->model;
	uint32_t before =
		model->operator_sums.count + model->api_statistics.count + model->tasks.count;
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	err = csv_table_read(import->path, &reader, damage, sizeof(damage));
	import_rows_free(&file.rows);
	return import_end_reading(
		import, err,
		model->operator_sums.count + model->api_statistics.count + model->tasks.count >
			before,
		damage);
}

const struct importer import_nvprof_csv = {
	.name = "nvprof",
	.what = "a table of nvprof (--csv)",
	.detect = detect,
	.import = import,
};
