/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of operators by several profilers: op_statistic and communication_statistic of msprof and torch_npu; of
 * MindSpore aicore_intermediate_<n>_type and _detail, pynative_op_intermediate_*, cpu_op_type_info,
 * cpu_op_detail_info, gpu_op_type_info and gpu_op_detail_info.
 *
 * _detail of 0.7 has no count: it is refused, because sums cannot be computed from it. Units are in the names of
 * columns, except for total_time (ms; us in gpu_op), execution_time (ms, the mean) and total_compute_time (ms).
 * Some files have the total, some the mean. The kernels' column is misspelt in files of 2020 ("full_kernel_time").
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/device_facts.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"

#define MILLISECONDS 6
#define MICROSECONDS 3

enum column {
	C_DEVICE,
	C_NAME,
	C_TYPE,
	C_CORE,
	C_COUNT,
	C_TOTAL_US,
	C_TOTAL_MS,
	C_TOTAL,
	C_MEAN_US,
	C_MEAN_MS,
	C_MIN,
	C_MAX,
	COLUMNS
};

static const char *const NAMES[] = {
	"Device_id|Device ID",
	"full_kernel_name|full_kernel_time|full_op_name|op_full_name|op_name",
	"OP Type|kernel_type|op_type",
	"Core Type|op_side",
	"Count|execution_frequency|type_occurrences|op_occurrences|occurrences",
	"Total Time(us)|total_time(us)|op_total_time(us)",
	"total_compute_time|op_total_time(ms)|total_time(ms)",
	"total_time",
	"Avg Time(us)|avg_time(us)|op_avg_time(us)",
	"execution_time|execution_time(ms)|avg_time(ms)|op_avg_time(ms)",
	"Min Time(us)",
	"Max Time(us)",
	NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

static const uint8_t UNITS[COLUMNS] = {
	[C_TOTAL_US] = DECIMAL_US, [C_TOTAL_MS] = DECIMAL_MS, [C_TOTAL] = DECIMAL_US,
	[C_MEAN_US] = DECIMAL_US, [C_MEAN_MS] = DECIMAL_MS, [C_MIN] = DECIMAL_US,
	[C_MAX] = DECIMAL_US,
};

struct sums_file {
	struct import *import;
	struct import_rows rows;
	uint64_t number; /* the device's number, from the file's name, if there is no column of it */
	const char *name, *kind, *source; /* of the device */
	const char *core; /* "" = a column has it, or unknown */
	uint8_t clock;
};

/*
 * Tables of intervals have starts, and the rows of aicpu_intermediate, with a serial_number, are single runs:
 * neither is a table of sums. All tables of sums have a count of occurrences.
 */
static int detect(const struct import_sample *sample)
{
	static const char *const STATISTIC[] = { "OP Type", "Count", "Total Time(us)", NULL };
	static const char *const TYPES[] = { "kernel_type|op_type",
					     "execution_frequency|type_occurrences|occurrences",
					     "total_time|total_time(ms)|total_compute_time|"
					     "total_time(us)|execution_time",
					     NULL };
	static const char *const KERNELS[] = { "full_kernel_name|full_kernel_time|full_op_name",
					       "execution_time|execution_time(ms)", NULL };
	static const char *const DETAILS[] = { "op_side", "op_type", "op_occurrences", NULL };

	if (sample->directory)
		return 0;
	return csv_has_columns(sample->text, STATISTIC) || csv_has_columns(sample->text, TYPES) ||
			       csv_has_columns(sample->text, KERNELS) ||
			       csv_has_columns(sample->text, DETAILS)
		       ? 80
		       : 0;
}

static bool number_of(const struct csv_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

static bool time_of(const struct csv_value *value, int power, uint64_t *ns)
{
	int64_t number;

	if (!value->text || !decimal_scaled(value->text, value->length, power, &number) || number < 0)
		return false;
	*ns = (uint64_t)number;
	return true;
}

static bool total_of(const struct sums_file *file, const struct csv_value *values, uint64_t count,
		     uint64_t *ns)
{
	int power = strcmp(file->kind, "gpu") == 0 ? MICROSECONDS : MILLISECONDS;

	if (time_of(&values[C_TOTAL_US], MICROSECONDS, ns) ||
	    time_of(&values[C_TOTAL_MS], MILLISECONDS, ns) ||
	    time_of(&values[C_TOTAL], power, ns))
		return true;
	return (time_of(&values[C_MEAN_US], MICROSECONDS, ns) ||
		time_of(&values[C_MEAN_MS], MILLISECONDS, ns)) &&
	       !__builtin_mul_overflow(*ns, count, ns);
}

static int on_row(void *context, const struct csv_value *values)
{
	struct sums_file *file = context;
	struct model *model = file->import->model;
	struct operator_sum sum = {
		.min_ns = UINT64_MAX,
		.max_ns = UINT64_MAX,
		.self_ns = UINT64_MAX,
		.host_ns = UINT64_MAX,
		.host_self_ns = UINT64_MAX,
		.file = file->import->file,
		.name = model_string(model, values[C_NAME].text),
		.type = model_string(model, values[C_TYPE].text),
		.core = model_string(model, *file->core ? file->core : values[C_CORE].text),
	};
	uint64_t number = file->number;

	if (sum.name == INDEX_NONE || sum.type == INDEX_NONE || sum.core == INDEX_NONE)
		return -ENOMEM;
	if ((!sum.name && !sum.type) || !number_of(&values[C_COUNT], &sum.count) || !sum.count ||
	    !total_of(file, values, sum.count, &sum.total_ns))
		return import_finding(file->import, "sums of operators without usable figures: count or time "
						    "is missing or no number (export the table again)",
				      values[C_TYPE].text ? values[C_TYPE].text
							  : values[C_NAME].text);
	time_of(&values[C_MIN], MICROSECONDS, &sum.min_ns);
	time_of(&values[C_MAX], MICROSECONDS, &sum.max_ns);
	number_of(&values[C_DEVICE], &number);
	sum.device = import_same_device(&file->rows, number, file->name, file->kind, file->source,
					file->clock);
	return sum.device != INDEX_NONE && MODEL_PUSH(&model->operator_sums, sum) ? 0 : -ENOMEM;
}

/* The device of "aicore_intermediate_1_type.csv" and of "cpu_op_type_info_1.csv" is 1. */
static uint64_t device_of_name(const char *path)
{
	const char *name = strrchr(path, '/'), *number;
	unsigned int device;

	name = name ? name + 1 : path;
	number = strstr(name, "intermediate_");
	return number && sscanf(number, "intermediate_%u_", &device) == 1 ? device
									  : device_of_file(path);
}

/* Sets core and device by the file's name, if there are no columns of them. */
static void read_name(struct sums_file *file, const bool *found)
{
	const char *name = strrchr(file->import->path, '/');

	name = name ? name + 1 : file->import->path;
	*file = (struct sums_file){ .import = file->import,
				    .rows = file->rows,
				    .name = "Ascend",
				    .kind = "npu",
				    .source = "mindspore",
				    .core = "",
				    .clock = PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED };
	if (found[C_DEVICE]) {
		file->source = "msprof";
		file->clock = PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME;
		file->core = found[C_CORE] ? "" : "COMMUNICATION";
		return;
	}
	file->number = device_of_name(file->import->path);
	if (strncmp(name, "aicore", 6) == 0)
		file->core = "AI_CORE";
	if (strncmp(name, "gpu", 3) == 0) {
		file->name = "unnamed";
		file->kind = "gpu";
		file->core = "GPU";
	} else if (strncmp(name, "cpu", 3) == 0) {
		/* If other files describe that device, these operators ran on its host. */
		file->name = "CPU";
		file->kind = "cpu";
		file->core = "HOSTCPU";
	}
}

/* Files of 0.7, and of PyNative mode, have only the mean time of a run of each operator. */
static int on_header(void *context, const bool *found)
{
	struct sums_file *file = context;

	read_name(file, found);
	if (found[C_COUNT])
		return 0;
	return import_fail(file->import, -EBADMSG,
			   "it has the mean time of each operator, and not how often it ran: take the file that "
			   "ends in _type.csv beside it, or output_timeline_data_*.txt");
}

static int import(struct import *import)
{
	struct sums_file file = { .import = import };
	const struct csv_reader reader = {
		.columns = NAMES, .header = on_header, .row = on_row, .context = &file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	uint32_t sums = import->model->operator_sums.count;
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	err = csv_table_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, import->model->operator_sums.count > sums, damage);
	import_rows_free(&file.rows);
	return err;
}

const struct importer import_operator_sums = {
	.name = "sums",
	.what = "a table of summed-up operators (op_statistic, aicore_intermediate_*, cpu_op_*, "
		"gpu_op_*)",
	.detect = detect,
	.import = import,
};
