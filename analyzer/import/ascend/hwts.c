/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw log of an Ascend's hardware task scheduler, hwts.log.data.* in a "JOB*" folder of 2020, hwts.data.* in
 * "PROF_*" folders of later years: in slices; a task may begin in one and end in the next.
 *
 * Records of 64 bytes, little-endian: byte 0 has the kind in its low 3 bits (0 a task's start, 1 its end) and a
 * rolling counter in its high 4, bytes 2 and 3 are 0xd3 0x6b; 16 bits of task at 6, 64 of the device's counter (10
 * ns) at 8, 16 of stream at 16. The last start of a stream's task is used. Names are not in the log, but in a file
 * of the framework (ascend_raw_name()).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_raw.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"

#define RECORD 64
#define MAGIC_0 0xd3
#define MAGIC_1 0x6b

enum { KIND_START = 0, KIND_END = 1 };

struct hwts {
	struct import *import;
	struct import_rows rows;
	struct map started; /* stream << 16 | task -> row of starts */
	MODEL_ARRAY(uint64_t) starts; /* counter; UINT64_MAX = the task has ended */
	uint64_t device;
	bool read; /* records were read now, not before with another slice */
};

static bool is_record(const uint8_t *record)
{
	return record[2] == MAGIC_0 && record[3] == MAGIC_1 && (record[0] & 7) <= 3;
}

static int detect(const struct import_sample *sample)
{
	const uint8_t *text = (const uint8_t *)sample->text;

	if (sample->directory)
		return 0;
	if (ascend_raw_is_part(sample->path, "hwts."))
		return 60;
	if (sample->size < 4 * RECORD)
		return 0;
	for (size_t i = 0; i < 4; i++) {
		if (!is_record(text + i * RECORD))
			return 0;
	}
	return 60;
}

static int on_start(struct hwts *file, uint64_t key, uint64_t tick)
{
	uint32_t row = map_get(&file->started, key);

	if (row != MAP_NONE) {
		file->starts.row[row] = tick;
		return 0;
	}
	return MODEL_PUSH(&file->starts, tick) &&
			       map_put(&file->started, key, file->starts.count - 1)
		       ? 0
		       : -ENOMEM;
}

static int on_end(struct hwts *file, uint64_t key, uint64_t tick)
{
	struct model *model = file->import->model;
	uint32_t row = map_get(&file->started, key);
	struct device_task task = { .stream = key >> 16,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL };
	struct task_detail detail = { .task_id = key & 0xffff,
				      .context_id = MODEL_ID_NONE,
				      .model_id = MODEL_ID_NONE,
				      .step = MODEL_ID_NONE,
				      .blocks = INDEX_NONE,
				      .mix_blocks = INDEX_NONE };
	char name[48];

	if (row == MAP_NONE || file->starts.row[row] == UINT64_MAX)
		return import_finding(file->import, "ends of tasks that never started: the recording began "
						    "inside them", NULL);
	if (!file->starts.row[row] || tick < file->starts.row[row] ||
	    tick > INT64_MAX / ASCEND_RAW_TICK_NS)
		return import_finding(file->import, "tasks without usable times: the end is missing or "
						    "before the start", NULL);
	task.start_ns = file->starts.row[row] * ASCEND_RAW_TICK_NS;
	task.end_ns = tick * ASCEND_RAW_TICK_NS;
	file->starts.row[row] = UINT64_MAX;
	snprintf(name, sizeof(name), "stream %u task %u", (unsigned int)(key >> 16),
		 (unsigned int)(key & 0xffff));
	task.name = model_string(model, name);
	task.device = import_device(&file->rows, file->device, INDEX_NONE, "Ascend", "npu",
				    ASCEND_RAW_SOURCE, ASCEND_RAW_CLOCK);
	if (task.name == INDEX_NONE || task.device == INDEX_NONE ||
	    !MODEL_PUSH(&model->task_details, detail))
		return -ENOMEM;
	task.detail = model->task_details.count;
	return MODEL_PUSH(&model->tasks, task) ? 0 : -ENOMEM;
}

static int on_record(void *context, const uint8_t *record)
{
	struct hwts *file = context;
	uint64_t key = ascend_raw_number(record + 16, 2) << 16 | ascend_raw_number(record + 6, 2);
	uint64_t tick = ascend_raw_number(record + 8, 8);

	file->read = true;
	/* The log may be padded with zeros. */
	if (!is_record(record))
		return ascend_raw_number(record, 8) || tick
			       ? import_finding(file->import, "records of no known form: a newer profiler "
							      "may have written them; the others count", NULL)
			       : 0;
	switch (record[0] & 7) {
	case KIND_START: return on_start(file, key, tick);
	case KIND_END: return on_end(file, key, tick);
	default: return 0; /* parts of a task */
	}
}

static int import(struct import *import)
{
	struct hwts file = { .import = import, .device = ascend_raw_device(import->path) };
	uint32_t tasks = import->model->tasks.count;
	int err;

	import_rows_begin(&file.rows, import);
	err = ascend_raw_read(import, RECORD, on_record, &file);
	if (!err && import->model->tasks.count == tasks && file.read)
		err = import_finding(import, "no tasks: nothing is known of any device", NULL);
	if (!err)
		err = ascend_raw_name(import, file.device, tasks);
	import_rows_free(&file.rows);
	map_free(&file.started);
	free(file.starts.row);
	return err;
}

const struct importer import_hwts = {
	.name = "hwts",
	.what = "a raw task log of an Ascend (hwts.log.data.*, hwts.data.*)",
	.detect = detect,
	.import = import,
};
