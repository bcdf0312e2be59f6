/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of calls by msprof: api_statistic_*.csv, and os_runtime_statistic_*.csv, which has calls of the C library by
 * thread and no levels: their level is "OS Runtime". Times are microseconds, variances square microseconds. Names
 * of levels changed over the years: "acl", "AscendCL".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"

enum column { C_LEVEL, C_NAME, C_TIME, C_COUNT, C_MIN, C_MAX, C_VARIANCE, COLUMNS };

static const char *const NAMES[] = {
	"Level", "API Name|Name", "Time(us)", "Count", "Min(us)", "Max(us)", "Variance", NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

static const uint8_t UNITS[COLUMNS] = {
	[C_TIME] = DECIMAL_US, [C_MIN] = DECIMAL_US, [C_MAX] = DECIMAL_US,
};

static int detect(const struct import_sample *sample)
{
	static const char *const CALLS[] = { "Level", "API Name", "Time(us)", "Count", NULL };
	static const char *const THREADS[] = { "Process ID", "Thread ID", "Name",
					       "Time(us)",   "Count",	  NULL };

	return !sample->directory && (csv_has_columns(sample->text, CALLS) ||
				      csv_has_columns(sample->text, THREADS))
		       ? 85
		       : 0;
}

static const char *level_name(const char *text)
{
	static const char *const LEVELS[][2] = {
		{ "acl", "AscendCL" }, { "runtime", "Runtime" },    { "node", "Node" },
		{ "model", "Model" },  { "hccl", "Communication" },
	};

	for (size_t i = 0; i < sizeof(LEVELS) / sizeof(LEVELS[0]); i++) {
		if (strcasecmp(text, LEVELS[i][0]) == 0)
			return LEVELS[i][1];
	}
	return text;
}

static bool time_of(const struct csv_value *value, uint64_t *ns)
{
	int64_t number;

	if (!value->text || !decimal_scaled(value->text, value->length, 3, &number) || number < 0)
		return false;
	*ns = (uint64_t)number;
	return true;
}

/* The vendor's statistic, in floating point as it was computed. */
static double variance_of(const struct csv_value *value)
{
	char *end;
	double variance;

	if (!value->text)
		return -1;
	variance = strtod(value->text, &end);
	return end == value->text || !(variance >= 0) ? -1 : variance;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct import *import = context;
	struct model *model = import->model;
	struct api_statistic row = {
		.level = model_string(model, values[C_LEVEL].text ? level_name(values[C_LEVEL].text)
								  : "OS Runtime"),
		.name = model_string(model, values[C_NAME].text),
		.file = import->file,
		.variance = variance_of(&values[C_VARIANCE]),
	};

	if (row.level == INDEX_NONE || row.name == INDEX_NONE)
		return -ENOMEM;
	if (!time_of(&values[C_TIME], &row.total_ns) || !values[C_COUNT].text ||
	    !decimal_unsigned(values[C_COUNT].text, values[C_COUNT].length, &row.count) ||
	    !row.count || !time_of(&values[C_MIN], &row.min_ns) ||
	    !time_of(&values[C_MAX], &row.max_ns))
		return import_finding(import, "sums of calls without usable figures: count or time is "
					      "missing or no number (export the table again)",
				      values[C_NAME].text);
	return MODEL_PUSH(&model->api_statistics, row) ? 0 : -ENOMEM;
}

static int import(struct import *import)
{
	const struct csv_reader reader = {
		.columns = NAMES, .row = on_row, .context = import,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	uint32_t rows = import->model->api_statistics.count;
	char damage[256] = "";
	int err = csv_table_read(import->path, &reader, damage, sizeof(damage));

	return import_end_reading(import, err, import->model->api_statistics.count > rows, damage);
}

const struct importer import_ascend_api = {
	.name = "msprof",
	.what = "a table of calls (api_statistic, os_runtime_statistic)",
	.detect = detect,
	.import = import,
};
