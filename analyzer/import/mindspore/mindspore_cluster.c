/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps split into parts by MindSpore's profiler to compare ranks (r1.2 to 2.3):
 * ascend_cluster_analyse_<mode>_<stages>_<ranks>_<rank>.csv, gpu_cluster_analyse_*.
 *
 * There is a row for each step; if there are several, the last row has the means without the first step. In the
 * modes model-parallel and pipeline-parallel values are milliseconds: computation (the step without exposed
 * communication, so including idle time), exposed communication; with stages, a stage's own time (the step without
 * waiting to receive), exposed receiving, exposed collectives. In mode data-parallel they are the device's counter,
 * 100 ticks per microsecond: the gap before the step, its forward and backward pass, its tail.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/device_facts.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"

#define TICK_NS 10
#define MILLISECONDS 6

enum column {
	C_COMPUTATION,
	C_COMMUNICATION,
	C_STAGE,
	C_RECEIVE,
	C_COLLECTIVE,
	C_GAP,
	C_FP_BP,
	C_TAIL,
	COLUMNS
};

static const char *const NAMES[] = {
	"computation_time|computation",
	"communication_alone_time|communication_alone",
	"stage_time|stage",
	"receive_alone_time|receive_alone",
	"collective_communication_alone_time|collective_communication_time|"
	"collective_communication_alone",
	"iteration_interval",
	"fp_and_bp",
	"tail",
	NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

#define TICKS 2 /* enum decimal_unit: tens of nanoseconds */
static const uint8_t UNITS[COLUMNS] = {
	[C_COMPUTATION] = DECIMAL_MS, [C_COMMUNICATION] = DECIMAL_MS, [C_STAGE] = DECIMAL_MS,
	[C_RECEIVE] = DECIMAL_MS, [C_COLLECTIVE] = DECIMAL_MS, [C_GAP] = TICKS,
	[C_FP_BP] = TICKS, [C_TAIL] = TICKS,
};

struct cluster_file {
	struct import *import;
	struct import_rows rows;
	uint32_t device;
	uint32_t count; /* number of rows so far */
};

static int detect(const struct import_sample *sample)
{
	static const char *const PARTS[] = { "computation_time|computation",
					     "communication_alone_time|communication_alone", NULL };
	static const char *const STEPS[] = { "iteration_interval", "fp_and_bp", "tail", NULL };
	static const char *const RAW[] = { "step_num", NULL };

	if (sample->directory || csv_has_columns(sample->text, RAW))
		return 0;
	return csv_has_columns(sample->text, PARTS) || csv_has_columns(sample->text, STEPS) ? 80 : 0;
}

static uint64_t time_of(const struct csv_value *value)
{
	int64_t ns;

	return value->text && decimal_scaled(value->text, value->length, MILLISECONDS, &ns) && ns >= 0
		       ? (uint64_t)ns
		       : UINT64_MAX;
}

static uint64_t ticks_of(const struct csv_value *value)
{
	uint64_t ticks;

	return value->text && decimal_unsigned(value->text, value->length, &ticks) &&
			       ticks < UINT64_MAX / TICK_NS
		       ? ticks * TICK_NS
		       : UINT64_MAX;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct cluster_file *file = context;
	const struct cluster_step step = {
		.gap_ns = ticks_of(&values[C_GAP]),
		.computation_ns = time_of(&values[C_COMPUTATION]),
		.communication_ns = time_of(&values[C_COMMUNICATION]),
		.stage_ns = time_of(&values[C_STAGE]),
		.receive_ns = time_of(&values[C_RECEIVE]),
		.collective_ns = time_of(&values[C_COLLECTIVE]),
		.device = file->device,
		.number = file->count + 1,
	};

	if (step.computation_ns == UINT64_MAX && step.gap_ns == UINT64_MAX)
		return import_finding(file->import, "steps without usable times: an end is missing or before "
						    "the start, as in steps that a recording cuts", NULL);
	file->count++;
	return MODEL_PUSH(&file->import->model->cluster_steps, step) ? 0 : -ENOMEM;
}

/*
 * Adds rank and facts of the job by the file's name: "..._pipeline-parallel_2_4_3.csv" is two stages, four ranks,
 * rank 3.
 */
static int put_job(struct cluster_file *file)
{
	struct import *import = file->import;
	const char *name = strstr(import->path, "_cluster_analyse_"), *next;
	struct device *device = &import->model->devices.row[file->device];
	unsigned int stages, ranks, rank;
	char mode[64];
	int err;

	while (name && (next = strstr(name + 1, "_cluster_analyse_")))
		name = next;
	if (!name || sscanf(name, "_cluster_analyse_%63[^_]_%u_%u_%u.csv", mode, &stages, &ranks,
			    &rank) != 4)
		return 0;
	if (!device->has_rank) {
		device->has_rank = true;
		device->rank = rank;
	}
	err = device_fact_text(import, file->device, "job", "parallel mode", mode);
	if (!err)
		err = device_fact_number(import, file->device, "job", "pipeline stages", "", stages);
	if (!err)
		err = device_fact_number(import, file->device, "job", "ranks", "", ranks);
	if (!err && stages && ranks / stages && rank < ranks)
		err = device_fact_number(import, file->device, "job", "stage, from 0 on", "",
					 rank / (ranks / stages));
	return err;
}

static int import(struct import *import)
{
	struct cluster_file file = { .import = import };
	const struct csv_reader reader = {
		.columns = NAMES, .row = on_row, .context = &file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	bool gpu = strstr(import->path, "gpu_cluster_analyse_") != NULL;
	struct model *model = import->model;
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	file.device = import_same_device(&file.rows, device_of_file(import->path),
					 gpu ? "unnamed" : "Ascend", gpu ? "gpu" : "npu", "mindspore",
					 PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	err = file.device == INDEX_NONE
		      ? -ENOMEM
		      : csv_table_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, file.count, damage);
	/* The last row has the means of the others; two rows are impossible, a step and its mean are one row. */
	if (!err && file.count > 1)
		model->cluster_steps.count--;
	if (!err)
		err = put_job(&file);
	import_rows_free(&file.rows);
	return err;
}

const struct importer import_mindspore_cluster = {
	.name = "mindspore",
	.what = "a table of a rank's steps by MindSpore (ascend_cluster_analyse_*)",
	.detect = detect,
	.import = import,
};
