/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of `nsys stats --format csv`: cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_api_sum, osrt_sum, nvtx_sum,
 * ...
 *
 * Each is a table of sums. The columns identify its kind: "Instances" and "Name" are kernels, "Operation" copies
 * and fills, "Num Calls" calls, "Range" ranges of NVTX. Numbers may contain commas. Device, process and thread are
 * not in them; names of columns changed in 2022 ("Total Time (ns)" was "Total Time", "Min (ns)" "Minimum").
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/csv_table.h"

enum column { C_TOTAL, C_CALLS, C_INSTANCES, C_MIN, C_MAX, C_DEVIATION, C_NAME, C_OPERATION, C_RANGE, COLUMNS };

static const char *const NAMES[] = { "Total Time (ns)|Total Time",
				     "Num Calls|Calls",
				     "Instances|Count|Operations",
				     "Min (ns)|Minimum (ns)|Minimum",
				     "Max (ns)|Maximum (ns)|Maximum",
				     "StdDev (ns)|StdDev",
				     "Name",
				     "Operation",
				     "Range",
				     NULL };

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

static const uint8_t UNITS[COLUMNS] = {
	[C_TOTAL] = DECIMAL_NS, [C_MIN] = DECIMAL_NS, [C_MAX] = DECIMAL_NS,
};

static int detect(const struct import_sample *sample)
{
	static const char *const NEEDED[] = { "Time (%)|Time(%)", "Total Time (ns)|Total Time",
					      "Min (ns)|Minimum (ns)|Minimum", NULL };

	return !sample->directory && csv_has_columns(sample->text, NEEDED) ? 80 : 0;
}

/* "5,000,000", "500000.5" */
static bool real_of(const struct csv_value *value, double *number)
{
	char text[64], *end;
	size_t used = 0;

	if (!value->text || !*value->text || value->length >= sizeof(text))
		return false;
	for (const char *at = value->text; *at; at++)
		if (*at != ',')
			text[used++] = *at;
	text[used] = '\0';
	*number = strtod(text, &end);
	return end != text && !*end && *number >= 0 && *number < 1e18;
}

static bool number_of(const struct csv_value *value, uint64_t *number)
{
	double real;

	if (!real_of(value, &real))
		return false;
	*number = (uint64_t)(real + 0.5);
	return true;
}

static int add_call(struct import *import, const struct csv_value *values,
		    const struct operator_sum *sum)
{
	struct model *model = import->model;
	const char *name = model_text(model, sum->name);
	struct api_statistic row = {
		.level = model_string(model, strncmp(name, "cu", 2) ? "OS runtime" : "CUDA"),
		.name = sum->name,
		.file = import->file,
		.total_ns = sum->total_ns,
		.count = sum->count,
		.min_ns = sum->min_ns,
		.max_ns = sum->max_ns,
		.variance = -1
	};
	double deviation;

	/* A rounded deviation is unknown; it makes no other figure of the row wrong. */
	if (values[C_DEVIATION].text &&
	    !decimal_is_rounded(values[C_DEVIATION].text, values[C_DEVIATION].length, DECIMAL_NS - 1) &&
	    real_of(&values[C_DEVIATION], &deviation))
		row.variance = deviation / 1e3 * (deviation / 1e3);
	return row.level != INDEX_NONE && MODEL_PUSH(&model->api_statistics, row) ? 0 : -ENOMEM;
}

static int add_sum(struct import *import, const struct csv_value *values, struct operator_sum *sum)
{
	const char *type = values[C_OPERATION].text ? "copy" : "kernel";

	if (values[C_RANGE].text) {
		type = "range";
		sum->host_ns = sum->total_ns;
		sum->total_ns = sum->min_ns = sum->max_ns = UINT64_MAX;
	}
	sum->type = model_string(import->model, type);
	return sum->type != INDEX_NONE && MODEL_PUSH(&import->model->operator_sums, *sum)
		       ? 0
		       : -ENOMEM;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct import *import = context;
	const struct csv_value *name = &values[C_NAME];
	struct operator_sum sum = { .min_ns = UINT64_MAX,
				    .max_ns = UINT64_MAX,
				    .self_ns = UINT64_MAX,
				    .host_ns = UINT64_MAX,
				    .host_self_ns = UINT64_MAX,
				    .device = INDEX_NONE,
				    .file = import->file };
	bool call = values[C_CALLS].text;

	if (values[C_RANGE].text)
		name = &values[C_RANGE];
	else if (!name->text)
		name = &values[C_OPERATION];
	sum.name = model_string(import->model, name->text);
	if (sum.name == INDEX_NONE)
		return -ENOMEM;
	if (!sum.name || !number_of(&values[call ? C_CALLS : C_INSTANCES], &sum.count) ||
	    !sum.count || !number_of(&values[C_TOTAL], &sum.total_ns))
		return import_finding(import, "sums without usable figures: count or time is missing or no "
					      "number (export the table again)", name->text);
	number_of(&values[C_MIN], &sum.min_ns);
	number_of(&values[C_MAX], &sum.max_ns);
	return call ? add_call(import, values, &sum) : add_sum(import, values, &sum);
}

static int import(struct import *import)
{
	const struct csv_reader reader = {
		.columns = NAMES, .row = on_row, .context = import,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	uint32_t before = import->model->operator_sums.count + import->model->api_statistics.count;
	char damage[256] = "";
	int err = csv_table_read(import->path, &reader, damage, sizeof(damage));

	return import_end_reading(
		import, err,
		import->model->operator_sums.count + import->model->api_statistics.count > before,
		damage);
}

const struct importer import_nsys_stats = {
	.name = "nsys",
	.what = "a table of sums of Nsight Systems (nsys stats --format csv)",
	.detect = detect,
	.import = import,
};
