/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory records of Ascend's profilers: memory_record.csv (memory of allocators), npu_module_mem.csv (of components
 * of CANN), npu_mem.csv (of the device and the job's process on it) and operator_memory.csv (each allocation with
 * its duration).
 *
 * Sizes are kilobytes or megabytes of 1,024, as the column's name says; times are microseconds, of CLOCK_REALTIME
 * or, until 2023, CLOCK_MONOTONIC_RAW. A device is "NPU:0". The totals in the operators' table are also in
 * memory_record: only its changes are imported.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_clock.h"
#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"

#define NANOSECONDS_2001 1000000000000000000
#define KILO 1024ull
#define MEGA (1024ull * 1024)
#define PARTS 1000 /* sizes are read with three decimals */

enum column {
	C_COMPONENT,
	C_TIME,
	C_ALLOCATED_KB,
	C_ALLOCATED_MB,
	C_RESERVED_KB,
	C_RESERVED_MB,
	C_DEVICE,
	C_NAME,
	C_SIZE_KB,
	C_ALLOCATION,
	C_DURATION,
	C_NUMBER,
	COLUMNS
};

static const char *const NAMES[] = {
	"Component|event|Event",
	"Timestamp(us)|timestamp(us)",
	"Total Allocated(KB)",
	"Total Allocated(MB)",
	"Total Reserved(KB)|memory(KB)",
	"Total Reserved(MB)",
	"Device Type|Device",
	"Name",
	"Size(KB)",
	"Allocation Time(us)",
	"Duration(us)",
	"Device_id",
	NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

static const uint8_t UNITS[COLUMNS] = {
	[C_TIME] = DECIMAL_US, [C_ALLOCATION] = DECIMAL_US, [C_DURATION] = DECIMAL_US,
};

struct memory_file {
	struct import *import;
	struct import_rows rows;
	int64_t shift_ns; /* shift of wall-clock times against CLOCK_MONOTONIC_RAW; 0 = unknown */
	bool operators;
};

static int detect(const struct import_sample *sample)
{
	static const char *const RECORDS[] = { "Component", "Timestamp(us)",
					       "Total Reserved(KB)|Total Reserved(MB)", NULL };
	static const char *const DEVICES[] = { "event|Event", "memory(KB)",
					       "Timestamp(us)|timestamp(us)", NULL };
	static const char *const OPERATORS[] = { "Name", "Size(KB)", "Allocation Time(us)", NULL };

	return !sample->directory && (csv_has_columns(sample->text, RECORDS) ||
				      csv_has_columns(sample->text, DEVICES) ||
				      csv_has_columns(sample->text, OPERATORS))
		       ? 85
		       : 0;
}

static int on_header(void *context, const bool *found)
{
	struct memory_file *file = context;

	file->operators = found[C_ALLOCATION] && found[C_SIZE_KB];
	return 0;
}

/* The instant in CLOCK_MONOTONIC, or in the file's own clock; 0 = unknown. */
static uint64_t instant_of(const struct memory_file *file, int64_t ns)
{
	if (ns < 1)
		return 0;
	if (ns > NANOSECONDS_2001 && ns > file->shift_ns)
		ns -= file->shift_ns;
	return import_host_time(&file->rows,
				ns > NANOSECONDS_2001 ? PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
						      : PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW,
				(uint64_t)ns);
}

static bool time_of(const struct csv_value *value, int64_t *ns)
{
	return value->text && decimal_scaled(value->text, value->length, 3, ns);
}

/* Converts a size in units of @unit to bytes; sizes of releases are negative. */
static bool size_of(const struct csv_value *value, uint64_t unit, int64_t *bytes)
{
	int64_t parts;

	if (!value->text || !decimal_scaled(value->text, value->length, 3, &parts) ||
	    __builtin_mul_overflow(parts, (int64_t)unit, bytes))
		return false;
	*bytes = (*bytes + (*bytes < 0 ? -PARTS / 2 : PARTS / 2)) / PARTS;
	return true;
}

static bool total_of(const struct csv_value *kilo, const struct csv_value *mega, uint64_t *bytes)
{
	int64_t size;

	if ((!size_of(kilo, KILO, &size) && !size_of(mega, MEGA, &size)) || size < 0)
		return false;
	*bytes = (uint64_t)size;
	return true;
}

/* The device's number: from "NPU:3", or else from another column. */
static uint32_t device_of(const struct csv_value *value, const struct csv_value *number)
{
	const char *digits = value->text ? strchr(value->text, ':') : NULL;
	uint64_t device;

	if (digits ? !decimal_unsigned(digits + 1, strlen(digits + 1), &device)
		   : !number->text || !decimal_unsigned(number->text, number->length, &device))
		return 0;
	return device < INDEX_NONE ? (uint32_t)device : 0;
}

static int put(const struct memory_file *file, const struct memory_record *record)
{
	return MODEL_PUSH(&file->import->model->memory_records, *record) ? 0 : -ENOMEM;
}

static int put_total(const struct memory_file *file, const struct csv_value *values,
		     struct memory_record *record)
{
	int64_t ns;

	if (!time_of(&values[C_TIME], &ns))
		return import_finding(file->import, "memory records without a usable time",
				      values[C_TIME].text);
	record->ts_ns = instant_of(file, ns);
	record->component = model_string(file->import->model, values[C_COMPONENT].text);
	if (total_of(&values[C_ALLOCATED_KB], &values[C_ALLOCATED_MB], &record->allocated))
		record->flags |= MODEL_MEMORY_ALLOCATED;
	if (total_of(&values[C_RESERVED_KB], &values[C_RESERVED_MB], &record->reserved))
		record->flags |= MODEL_MEMORY_RESERVED;
	if (record->component == INDEX_NONE)
		return -ENOMEM;
	return record->ts_ns
		       ? put(file, record)
		       : import_finding(file->import, "memory records outside of the trace: no clock "
						      "snapshot of the recording reaches them (give the "
						      "device file of the same run)", NULL);
}

/* Adds an allocation and, if its duration is known, its release. */
static int put_operator(const struct memory_file *file, const struct csv_value *values,
			struct memory_record *record)
{
	int64_t ns, dur_ns, end_ns;
	int err;

	if (!time_of(&values[C_ALLOCATION], &ns) ||
	    !size_of(&values[C_SIZE_KB], KILO, &record->bytes))
		return import_finding(file->import, "allocations without a usable time or size",
				      values[C_NAME].text);
	record->ts_ns = instant_of(file, ns);
	record->flags = MODEL_MEMORY_CHANGE;
	record->component = model_string(file->import->model, "operators");
	if (record->component == INDEX_NONE)
		return -ENOMEM;
	if (!record->ts_ns)
		return import_finding(file->import, "memory records outside of the trace: no clock snapshot "
						    "of the recording reaches them (give the device file of "
						    "the same run)", NULL);
	err = put(file, record);
	if (err || !time_of(&values[C_DURATION], &dur_ns) || dur_ns < 0 ||
	    __builtin_add_overflow(ns, dur_ns, &end_ns))
		return err;
	record->ts_ns = instant_of(file, end_ns);
	record->bytes = -record->bytes;
	return record->ts_ns ? put(file, record) : 0;
}

static int on_row(void *context, const struct csv_value *values)
{
	const struct memory_file *file = context;
	struct memory_record record = { .device = device_of(&values[C_DEVICE], &values[C_NUMBER]),
					.process = INDEX_NONE,
					.file = file->import->file };

	if (file->operators)
		return put_operator(file, values, &record);
	return put_total(file, values, &record);
}

static int import(struct import *import)
{
	struct memory_file file = { .import = import,
				    .shift_ns = import->alone ? 0
							      : ascend_clock_shift(import->path) };
	const struct csv_reader reader = {
		.columns = NAMES, .header = on_header, .row = on_row, .context = &file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	uint32_t records = import->model->memory_records.count;
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	err = csv_table_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, import->model->memory_records.count > records, damage);
	import_rows_free(&file.rows);
	return err;
}

const struct importer import_ascend_memory = {
	.name = "msprof",
	.what = "a table of Ascend memory (memory_record, npu_module_mem, npu_mem, operator_memory)",
	.detect = detect,
	.import = import,
};
