/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports of TensorRT's trtexec: --exportProfile, times of layers, and --exportTimes, times of inferences. Root
 * arrays.
 *
 * For layers each object has the name, and sum and mean over all runs ("timeMs", "averageMs"); the number of runs
 * is an object of its own, {"count": 625}. For inferences each object has the times of enqueueing, copying inputs,
 * computing and copying outputs ("startH2dMs"; until TensorRT 8.5 "startInMs" and "startOutMs"), in milliseconds
 * since the start of the measurement. Device and streams are not named: copies of inputs, computing and copies of
 * outputs have one stream each. Computing is one task here, as its kernels are unknown. Format:
 * samples/common/sampleReporting.cpp, prn_utils.py.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/readers/json_objects.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED
#define MS 6 /* digits of nanoseconds in a millisecond */

enum field {
	F_NAME,
	F_SUM,
	F_MEDIAN,
	F_COUNT,
	F_ENQUEUE, /* start and end of each stage, up to the last */
	F_ENQUEUED,
	F_IN,
	F_IN_END,
	F_COMPUTE,
	F_COMPUTE_END,
	F_OUT,
	F_OUT_END,
	F_OLD_IN,
	F_OLD_IN_END,
	F_OLD_OUT,
	F_OLD_OUT_END,
	FIELDS
};

static const char *const KEYS[] = { "name",	      "timeMs",	     "medianMs",   "count",
				    "startEnqMs",     "endEnqMs",    "startH2dMs", "endH2dMs",
				    "startComputeMs", "endComputeMs", "startD2hMs", "endD2hMs",
				    "startInMs",      "endInMs",     "startOutMs", "endOutMs",
				    NULL };

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

static const uint8_t UNITS[FIELDS] = {
	[F_SUM] = DECIMAL_MS, [F_MEDIAN] = DECIMAL_MS,
	[F_ENQUEUE ... F_OLD_OUT_END] = DECIMAL_MS,
};

struct interval {
	int64_t start_ns;
	int64_t end_ns;
};

enum stage { STAGE_ENQUEUE, STAGE_IN, STAGE_COMPUTE, STAGE_OUT, STAGES };

struct inference {
	struct interval stages[STAGES]; /* end before start = unknown */
};

struct tensorrt {
	struct import *import;
	struct import_rows rows;
	uint64_t runs; /* number of runs in the sums of layers; 0 = unknown */
	uint32_t first_sum;
	bool medians;
	MODEL_ARRAY(struct inference) inferences;
};

static int detect(const struct import_sample *sample)
{
	const char *text = sample->text + strspn(sample->text, " \t\r\n");

	if (sample->directory || *text != '[')
		return 0;
	if (strstr(text, "\"startComputeMs\"") && strstr(text, "\"endComputeMs\""))
		return 60;
	return strstr(text, "\"timeMs\"") && strstr(text, "\"averageMs\"") &&
			       strstr(text, "\"percentage\"")
		       ? 60
		       : 0;
}

static bool time_of(const struct json_value *value, int64_t *ns)
{
	return value->text && decimal_scaled(value->text, value->length, MS, ns);
}

static int add_layer(struct tensorrt *file, const struct json_value *values)
{
	struct model *model = file->import->model;
	struct operator_sum sum = { .min_ns = UINT64_MAX,
				    .max_ns = UINT64_MAX,
				    .self_ns = UINT64_MAX,
				    .host_ns = UINT64_MAX,
				    .host_self_ns = UINT64_MAX,
				    .device = INDEX_NONE,
				    .file = file->import->file };
	int64_t total_ns;

	if (!time_of(&values[F_SUM], &total_ns) || total_ns < 0)
		return import_finding(file->import, "layers without a usable time: timeMs is missing or no "
						    "number (export the profile again)",
				      values[F_NAME].text);
	sum.total_ns = (uint64_t)total_ns;
	file->medians |= values[F_MEDIAN].text != NULL;
	sum.name = model_string(model, values[F_NAME].text);
	if (!sum.name)
		sum.name = model_string(model, "unnamed");
	return sum.name != INDEX_NONE && MODEL_PUSH(&model->operator_sums, sum) ? 0 : -ENOMEM;
}

static struct interval interval_of(const struct json_value *values, enum field start,
				   enum field old)
{
	struct interval interval;

	if (time_of(&values[start], &interval.start_ns) &&
	    time_of(&values[start + 1], &interval.end_ns))
		return interval;
	if (old != FIELDS && time_of(&values[old], &interval.start_ns) &&
	    time_of(&values[old + 1], &interval.end_ns))
		return interval;
	return (struct interval){ 0, -1 };
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	struct tensorrt *file = context;
	struct inference inference;

	if (list[0])
		return 0;
	if (values[F_NAME].text)
		return add_layer(file, values);
	if (values[F_COUNT].text) {
		decimal_unsigned(values[F_COUNT].text, values[F_COUNT].length, &file->runs);
		return 0;
	}
	inference.stages[STAGE_ENQUEUE] = interval_of(values, F_ENQUEUE, FIELDS);
	inference.stages[STAGE_IN] = interval_of(values, F_IN, F_OLD_IN);
	inference.stages[STAGE_COMPUTE] = interval_of(values, F_COMPUTE, FIELDS);
	inference.stages[STAGE_OUT] = interval_of(values, F_OUT, F_OLD_OUT);
	if (inference.stages[STAGE_COMPUTE].end_ns < inference.stages[STAGE_COMPUTE].start_ns)
		return import_finding(file->import, "inferences without usable times: a stage is missing, or "
						    "ends before it begins", NULL);
	return MODEL_PUSH(&file->inferences, inference) ? 0 : -ENOMEM;
}

/* If the number of runs is unknown, each layer's sum counts as one run. */
static int finish_layers(struct tensorrt *file)
{
	struct model *model = file->import->model;
	uint32_t layers = model->operator_sums.count - file->first_sum;
	int err = 0;

	for (uint32_t i = file->first_sum; i < model->operator_sums.count; i++)
		model->operator_sums.row[i].count = file->runs ? file->runs : 1;
	if (layers && !file->runs)
		err = import_finding(file->import, "how many runs there were is not told: times are of all of them", NULL);
	if (!err && file->medians)
		err = import_finding(file->import, "medians of layers are not taken", NULL);
	return err;
}

/* 0 stands for "not reported". */
static int64_t move_of(const struct tensorrt *file)
{
	int64_t first_ns = INT64_MAX;

	for (uint32_t i = 0; i < file->inferences.count; i++) {
		for (int stage = 0; stage < STAGES; stage++) {
			const struct interval *one = &file->inferences.row[i].stages[stage];

			if (one->end_ns >= one->start_ns && one->start_ns < first_ns)
				first_ns = one->start_ns;
		}
	}
	return import_move_of(first_ns);
}

/* Adds the host's call; its process and thread are unknown. */
static int put_call(struct tensorrt *file, uint64_t start_ns, uint64_t end_ns, uint64_t number)
{
	struct model *model = file->import->model;
	struct call call = {
		.start_ns = start_ns, .end_ns = end_ns, .args = { number }, .task = INDEX_NONE
	};

	if (!file->import->alone)
		return 0;
	call.thread = import_thread(&file->rows, 0, 0, start_ns);
	call.function = import_function(&file->rows, "tensorrt", "enqueue",
					PROFBPF__FUNCTION__KIND__LAUNCH);
	if (call.thread == INDEX_NONE || call.function == INDEX_NONE ||
	    !MODEL_PUSH(&model->calls, call))
		return -ENOMEM;
	if (end_ns > model->threads.row[call.thread].last_ns)
		model->threads.row[call.thread].last_ns = end_ns;
	return 0;
}

static int put_task(struct tensorrt *file, enum stage stage, const struct device_task *times)
{
	static const char *const NAMES[STAGES] = { "", "inputs to the device", "inference",
						   "outputs to the host" };
	struct model *model = file->import->model;
	struct device_task task = *times;

	task.stream = stage - STAGE_IN;
	task.name = model_string(model, NAMES[stage]);
	task.kind = stage == STAGE_COMPUTE ? PROFBPF__DEVICE_TASKS__KIND__KERNEL
					   : PROFBPF__DEVICE_TASKS__KIND__COPY;
	task.device = import_device(&file->rows, 0, INDEX_NONE, "GPU", "gpu", "tensorrt", CLOCK);
	if (task.device == INDEX_NONE || task.name == INDEX_NONE)
		return -ENOMEM;
	model->devices.row[task.device].whole = true;
	return import_task(&file->rows, &task);
}

static int put_inference(struct tensorrt *file, const struct inference *from, uint64_t number,
			 int64_t move_ns)
{
	const struct interval *enqueue = &from->stages[STAGE_ENQUEUE];
	struct device_task launch = { .thread = INDEX_NONE, .call = INDEX_NONE };
	uint64_t start_ns, end_ns;
	int err = 0;

	if (import_instants(enqueue->start_ns, enqueue->end_ns, move_ns, &start_ns, &end_ns)) {
		err = put_call(file, start_ns, end_ns, number);
		launch.correlation = number;
		launch.enqueue_ns = import_host_time(&file->rows, CLOCK, start_ns);
		launch.enqueue_dur_ns = launch.enqueue_ns ? end_ns - start_ns : 0;
		launch.thread = import_thread(&file->rows, 0, 0, launch.enqueue_ns);
	}
	for (enum stage stage = STAGE_IN; stage < STAGES && !err; stage++) {
		/* The host enqueued the computing. */
		struct device_task task = stage == STAGE_COMPUTE
						  ? launch
						  : (struct device_task){ .thread = INDEX_NONE,
									  .call = INDEX_NONE };

		/* Without transfers start and end of a copy are equal. */
		if (import_instants(from->stages[stage].start_ns, from->stages[stage].end_ns, move_ns,
				    &task.start_ns, &task.end_ns) &&
		    (stage == STAGE_COMPUTE || task.end_ns > task.start_ns))
			err = put_task(file, stage, &task);
	}
	return err;
}

static int import(struct import *import)
{
	struct tensorrt file = { .import = import,
				 .first_sum = import->model->operator_sums.count };
	const struct json_reader reader = {
		.keys = KEYS, .object = on_object, .context = &file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	char damage[256] = "";
	int64_t move_ns;
	int err;

	import_rows_begin(&file.rows, import);
	err = json_objects_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(
		import, err,
		file.inferences.count + (import->model->operator_sums.count > file.first_sum),
		damage);
	if (!err)
		err = finish_layers(&file);
	move_ns = move_of(&file);
	for (uint32_t i = 0; i < file.inferences.count && !err; i++)
		err = put_inference(&file, &file.inferences.row[i], (uint64_t)i + 1, move_ns);
	if (!err && file.inferences.count)
		err = import_finding(import,
				     "kernels of an inference are not told: how busy the device is is not known",
				     NULL);
	import_rows_free(&file.rows);
	free(file.inferences.row);
	return err;
}

const struct importer import_tensorrt = {
	.name = "tensorrt",
	.what = "a profile or times of TensorRT (trtexec)",
	.detect = detect,
	.import = import,
};
