/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of a framework, call by call but without instants: operator_details.csv of torch_npu, and of MindSpore,
 * which has only names and shapes (mindspore/profiler/analysis/viewer/ms_operator_details_viewer.py).
 *
 * Times are microseconds; the "total" of a call includes the operators that it called, on the device their
 * launches. Stacks of calls, which contain newlines in quotes, and the device time on AI cores are not imported.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/operator_calls.h"

#define MICROSECONDS 3

enum column { C_NAME, C_SHAPES, C_HOST_SELF, C_HOST, C_SELF, C_TOTAL, COLUMNS };

static const char *const NAMES[] = {
	"Name",
	"Input Shapes",
	"Host Self Duration(us)",
	"Host Total Duration(us)",
	"Device Self Duration(us)",
	"Device Total Duration(us)",
	NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

static const uint8_t UNITS[COLUMNS] = {
	[C_HOST_SELF] = DECIMAL_US, [C_HOST] = DECIMAL_US, [C_SELF] = DECIMAL_US,
	[C_TOTAL] = DECIMAL_US,
};

static int detect(const struct import_sample *sample)
{
	static const char *const TIMES[] = { "Name", "Input Shapes", "Host Total Duration(us)", NULL };
	static const char *const SHAPES[] = { "Name", "Input Shapes", NULL };
	const char *name = strrchr(sample->path, '/');

	if (sample->directory)
		return 0;
	if (csv_has_columns(sample->text, TIMES))
		return 85;
	return strncmp(name ? name + 1 : sample->path, "operator_details", 16) == 0 &&
			       csv_has_columns(sample->text, SHAPES)
		       ? 85
		       : 0;
}

static uint64_t time_of(const struct csv_value *value)
{
	int64_t ns;

	return value->text && decimal_scaled(value->text, value->length, MICROSECONDS, &ns) && ns >= 0
		       ? (uint64_t)ns
		       : UINT64_MAX;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct operator_calls *calls = context;
	struct model *model = calls->import->model;
	const char *shapes = values[C_SHAPES].text;
	struct operator_sum call = OPERATOR_CALL_UNKNOWN;

	if (!values[C_NAME].text || !*values[C_NAME].text)
		return import_finding(calls->import, "operators without a name", shapes);
	call.name = model_string(model, values[C_NAME].text);
	call.shapes = shapes && strcmp(shapes, "N/A") != 0 ? model_string(model, shapes) : 0;
	call.host_self_ns = time_of(&values[C_HOST_SELF]);
	call.host_ns = time_of(&values[C_HOST]);
	call.self_ns = time_of(&values[C_SELF]);
	call.total_ns = time_of(&values[C_TOTAL]);
	return operator_calls_add(calls, &call);
}

/* The device of a result with one device; no column has it. */
static uint32_t device_of(const struct import *import)
{
	return import->shared && import->model->devices.count == import->first_device + 1
		       ? import->first_device
		       : INDEX_NONE;
}

static int import(struct import *import)
{
	struct operator_calls calls = { .import = import, .device = device_of(import) };
	const struct csv_reader reader = {
		.columns = NAMES, .row = on_row, .context = &calls,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	uint32_t sums = import->model->operator_sums.count;
	char damage[256] = "";
	int err = csv_table_read(import->path, &reader, damage, sizeof(damage));

	operator_calls_free(&calls);
	return import_end_reading(import, err, import->model->operator_sums.count > sums, damage);
}

const struct importer import_operator_details = {
	.name = "details",
	.what = "a table of a framework's operators (operator_details)",
	.detect = detect,
	.import = import,
};
