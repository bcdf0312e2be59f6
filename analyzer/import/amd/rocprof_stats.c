/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums that ROCm's profilers write beside their traces: results.stats.csv, results.hip_stats.csv, ... of rocprof
 * and RUN_kernel_stats.csv, RUN_hip_api_stats.csv, ... of rocprofv3.
 *
 * All have the same columns; the file's name, or else the names of the rows, distinguish calls from device work.
 * The device is not in them. The sums of all domains in one file (RUN_domain_stats.csv) add nothing to the others.
 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"

enum column { C_NAME, C_CALLS, C_TOTAL, C_MIN, C_MAX, COLUMNS };

static const char *const NAMES[] = { "Name", "Calls", "TotalDurationNs", "MinNs", "MaxNs", NULL };

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

static const uint8_t UNITS[COLUMNS] = {
	[C_TOTAL] = DECIMAL_NS, [C_MIN] = DECIMAL_NS, [C_MAX] = DECIMAL_NS,
};

struct stats_file {
	struct import *import;
	bool calls; /* by the file's name, as the next */
	bool tasks;
};

static int detect(const struct import_sample *sample)
{
	static const char *const NEEDED[] = { "Name", "Calls", "TotalDurationNs", "AverageNs",
					      NULL };

	return !sample->directory && csv_has_columns(sample->text, NEEDED) ? 80 : 0;
}

static bool number_of(const struct csv_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

static int add_call(struct stats_file *file, const char *name, const struct operator_sum *sum)
{
	struct model *model = file->import->model;
	struct api_statistic row = { .level = model_string(model,
							   strncmp(name, "hsa", 3) ? "HIP" : "HSA"),
				     .name = sum->name,
				     .file = file->import->file,
				     .total_ns = sum->total_ns,
				     .count = sum->count,
				     .min_ns = sum->min_ns,
				     .max_ns = sum->max_ns,
				     .variance = -1 };

	return row.level != INDEX_NONE && MODEL_PUSH(&model->api_statistics, row) ? 0 : -ENOMEM;
}

static int add_task(struct stats_file *file, const char *name, struct operator_sum *sum)
{
	struct model *model = file->import->model;

	sum->type = model_string(
		model, strcasestr(name, "memcpy") || strstr(name, "COPY") ? "copy" : "kernel");
	sum->device = INDEX_NONE;
	return sum->type != INDEX_NONE && MODEL_PUSH(&model->operator_sums, *sum) ? 0 : -ENOMEM;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct stats_file *file = context;
	const char *name = values[C_NAME].text ? values[C_NAME].text : "";
	struct operator_sum sum = {
		.min_ns = UINT64_MAX,
		.max_ns = UINT64_MAX,
		.self_ns = UINT64_MAX,
		.host_ns = UINT64_MAX,
		.host_self_ns = UINT64_MAX,
		.file = file->import->file,
		.name = model_string(file->import->model, name),
	};

	if (sum.name == INDEX_NONE)
		return -ENOMEM;
	if (!*name || !number_of(&values[C_CALLS], &sum.count) || !sum.count ||
	    !number_of(&values[C_TOTAL], &sum.total_ns))
		return import_finding(file->import, "sums without usable figures: count or time is missing "
						    "or no number (export the table again)", name);
	number_of(&values[C_MIN], &sum.min_ns);
	number_of(&values[C_MAX], &sum.max_ns);
	if (file->calls ||
	    (!file->tasks && (strncmp(name, "hip", 3) == 0 || strncmp(name, "hsa_", 4) == 0)))
		return add_call(file, name, &sum);
	return add_task(file, name, &sum);
}

static int import(struct import *import)
{
	const char *name = strrchr(import->path, '/') ? strrchr(import->path, '/') + 1
						      : import->path;
	struct stats_file file = { .import = import };
	const struct csv_reader reader = {
		.columns = NAMES, .row = on_row, .context = &file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	uint32_t before = import->model->operator_sums.count + import->model->api_statistics.count;
	char damage[256] = "";
	int err;

	if (fnmatch("*domain_stats.csv*", name, 0) == 0)
		return import_finding(import, "sums of whole domains: left out", name);
	file.calls = fnmatch("*@(hip|hsa|kfd|api)_stats.csv*", name, FNM_EXTMATCH) == 0;
	file.tasks = fnmatch("*@(kernel|copy)_stats.csv*", name, FNM_EXTMATCH) == 0;
	err = csv_table_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(
		import, err,
		import->model->operator_sums.count + import->model->api_statistics.count > before,
		damage);
	return err;
}

const struct importer import_rocprof_stats = {
	.name = "rocprof",
	.what = "a table of sums of ROCm's profilers (*stats.csv)",
	.detect = detect,
	.import = import,
};
