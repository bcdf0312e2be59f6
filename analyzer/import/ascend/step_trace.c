/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of Ascend's profilers: step_trace_*.csv of msprof and step_trace_raw_<device>_detail_time.csv of MindSpore.
 *
 * msprof's times are microseconds of CLOCK_REALTIME or, until 2023, CLOCK_MONOTONIC_RAW; the size of the number
 * tells which. MindSpore's are the device's counter, 100 ticks per microsecond; its last row, number "-", holds
 * means, and columns stream_<stream>_<n>_<operator>_start_point and _end_point are reductions. msprof's reductions
 * are not imported, as they are also tasks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_clock.h"
#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"

#define NANOSECONDS_2001 1000000000000000000
#define TICK_NS 10
#define REDUCES_MAX (CSV_COLUMNS - COLUMNS) /* maximum number of columns of a step's reductions */
#define NO_ID UINT32_MAX /* the files' value for "none" */

enum column { C_DEVICE, C_NUMBER, C_FP, C_BP, C_END, C_MODEL, C_RAW, C_START, COLUMNS };

static const char *const NAMES[] = {
	"Device_id|Device ID",
	"Iteration ID",
	"FP Start(us)|FP Start|fp_point",
	"BP End(us)|BP End|bp_point",
	"Iteration End(us)|Iteration End|end_point",
	"Model ID",
	"step_num",
	"start_point",
	NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

/* A column with the start or end of a reduction. */
struct reduce_column {
	uint64_t stream;
	bool end;
};

struct steps_file {
	struct import *import;
	struct import_rows rows;
	bool raw; /* MindSpore's */
	uint64_t device; /* device of MindSpore's file, from its name */
	int64_t shift_ns; /* shift of wall-clock times against CLOCK_MONOTONIC_RAW; 0 = unknown */
	struct reduce_column reduces[REDUCES_MAX];
	uint32_t reduce_count;
	uint8_t units[COLUMNS]; /* enum decimal_unit of times */
};

static int detect(const struct import_sample *sample)
{
	static const char *const NEEDED[] = { "Iteration ID|step_num",
					      "FP Start(us)|FP Start|fp_point",
					      "Iteration End(us)|Iteration End|end_point", NULL };

	return !sample->directory && csv_has_columns(sample->text, NEEDED) ? 85 : 0;
}

static int on_header(void *context, const bool *found)
{
	static const enum column TIMES[] = { C_FP, C_BP, C_END, C_START };
	struct steps_file *file = context;

	file->raw = found[C_RAW];
	for (size_t i = 0; i < sizeof(TIMES) / sizeof(TIMES[0]); i++)
		file->units[TIMES[i]] = file->raw ? DECIMAL_NS + 1 : DECIMAL_US; /* tens of nanoseconds */
	return 0;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length >= size && memcmp(text + length - size, end, size) == 0;
}

static bool on_more(void *context, uint32_t index, const char *text, size_t length)
{
	struct steps_file *file = context;
	static const char start[] = "stream_";
	struct reduce_column *column;
	size_t digits;

	if (index >= REDUCES_MAX || length < sizeof(start) ||
	    strncmp(text, start, sizeof(start) - 1) != 0 ||
	    (!ends_with(text, length, "_start_point") && !ends_with(text, length, "_end_point")))
		return false;
	column = &file->reduces[index];
	for (digits = 0; sizeof(start) - 1 + digits < length; digits++)
		if (text[sizeof(start) - 1 + digits] == '_')
			break;
	if (!decimal_unsigned(text + sizeof(start) - 1, digits, &column->stream))
		return false;
	column->end = ends_with(text, length, "_end_point");
	file->reduce_count = index + 1;
	return true;
}

/* The device of "step_trace_raw_3_detail_time.csv" is 3. */
static uint64_t device_of_name(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int device;

	return sscanf(name ? name + 1 : path, "step_trace_raw_%u_", &device) == 1 ? device : 0;
}

static bool number_of(const struct csv_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

/* The instant in a column; 0 = unknown. */
static uint64_t instant_of(const struct steps_file *file, const struct csv_value *value)
{
	uint64_t ticks;
	int64_t ns;

	if (file->raw)
		return number_of(value, &ticks) && ticks < INT64_MAX / TICK_NS ? ticks * TICK_NS
									       : 0;
	if (!value->text || !decimal_scaled(value->text, value->length, 3, &ns) || ns <= 0 ||
	    ns == INT64_MAX)
		return 0;
	return (uint64_t)(ns > NANOSECONDS_2001 && ns > file->shift_ns ? ns - file->shift_ns : ns);
}

static uint8_t clock_of(const struct steps_file *file, uint64_t ns)
{
	if (file->raw)
		return PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
	return ns > NANOSECONDS_2001 ? PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
				     : PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW;
}

static uint64_t host_time(const struct steps_file *file, uint8_t clock, uint64_t ns)
{
	return ns ? import_host_time(&file->rows, clock, ns) : 0;
}

/* Adds reductions: columns of start and end are adjacent. */
static bool add_reduces(struct steps_file *file, const struct csv_value *values,
			struct device_step *step)
{
	struct model *model = file->import->model;

	step->first_reduce = model->device_reduces.count;
	for (uint32_t i = 0; i + 1 < file->reduce_count; i++) {
		const struct reduce_column *begin = &file->reduces[i], *end = begin + 1;
		uint64_t from = instant_of(file, &values[COLUMNS + i]);
		uint64_t to = instant_of(file, &values[COLUMNS + i + 1]);
		struct device_reduce reduce = { .stream = begin->stream };

		if (begin->end || !end->end || begin->stream != end->stream || !from || to < from)
			continue;
		reduce.start_ns = host_time(file, clock_of(file, from), from);
		reduce.end_ns = host_time(file, clock_of(file, to), to);
		if (!MODEL_PUSH(&model->device_reduces, reduce))
			return false;
	}
	step->reduce_count = model->device_reduces.count - step->first_reduce;
	return true;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct steps_file *file = context;
	uint64_t fp_ns = instant_of(file, &values[C_FP]), end_ns = instant_of(file, &values[C_END]);
	uint8_t clock = clock_of(file, end_ns);
	struct device_step step = { .model_id = MODEL_ID_NONE };
	const struct csv_value *number = &values[file->raw ? C_RAW : C_NUMBER];
	uint64_t device = file->device;

	if (!number_of(number, &step.number))
		return 0; /* means */
	if (step.number == MODEL_ID_NONE)
		return import_finding(file->import, "steps without a number", number->text);
	/*
	 * Inference has no backward pass, and some rows have no forward pass either. In MindSpore's tables steps have a
	 * start, and no forward pass begins before it.
	 */
	if (!fp_ns || end_ns < fp_ns || clock_of(file, fp_ns) != clock ||
	    fp_ns < instant_of(file, &values[C_START]))
		return import_finding(file->import, "steps without usable times: an end is missing or before "
						    "the start, as in steps that a recording cuts", number->text);
	step.fp_start_ns = host_time(file, clock, fp_ns);
	step.bp_end_ns = host_time(file, clock, instant_of(file, &values[C_BP]));
	step.end_ns = host_time(file, clock, end_ns);
	if (!step.fp_start_ns || !step.end_ns)
		return import_finding(file->import,
				      "steps on a clock that cannot be put on the trace's (record the host "
				      "and the device at the same time)",
				      number->text);
	if (!number_of(&values[C_MODEL], &step.model_id) || step.model_id == NO_ID)
		step.model_id = MODEL_ID_NONE;
	number_of(&values[C_DEVICE], &device);
	step.device = import_same_device(&file->rows, device, "Ascend", "npu",
					 file->raw ? "mindspore" : "msprof", clock);
	if (step.device == INDEX_NONE || !add_reduces(file, values, &step))
		return -ENOMEM;
	return import_device_step(file->import, &step);
}

static int import(struct import *import)
{
	struct steps_file file = { .import = import,
				   .device = device_of_name(import->path),
				   .shift_ns = import->alone ? 0
							     : ascend_clock_shift(import->path) };
	const struct csv_reader reader = { .columns = NAMES,
					   .header = on_header,
					   .more = on_more,
					   .row = on_row,
					   .context = &file,
					   .units = file.units,
					   .rounded = import_rounded,
					   .rounded_context = import,
					   .place = &import->place };
	uint32_t steps = import->model->device_steps.count;
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	err = csv_table_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, import->model->device_steps.count > steps, damage);
	import_rows_free(&file.rows);
	return err;
}

const struct importer import_step_trace = {
	.name = "msprof",
	.what = "a table of steps (step_trace_*.csv of msprof, step_trace_raw_* of MindSpore)",
	.detect = detect,
	.import = import,
};
