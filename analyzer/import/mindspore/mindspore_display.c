/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines that MindSpore's profiler writes for display: ascend_timeline_display_<device>.json (timeline_display_*
 * in r0.7), gpu_timeline_display_<device>.json.
 *
 * A root array of complete events. On Ascend a process's number identifies the unit: 9000 AI CPU, 10000
 * communication, 11000 the host's CPU, from 12000 on sums, others AI cores; threads from 100000 on are names of
 * scopes and steps. Times are microseconds since the first event. On GPUs they are since 1970, and threads whose id
 * is not a number are the host's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_objects.h"

#define NANOSECONDS_2001 1000000000000000000
#define PID_AI_CPU 9000
#define PID_COMMUNICATION 10000
#define PID_HOST_CPU 11000
#define PID_SUMS 12000
#define TID_SCOPES 100000

enum field { F_PH, F_NAME, F_PID, F_TID, F_TS, F_DUR, F_TYPE, F_FULL_NAME, F_GPU_NAME, FIELDS };

static const char *const KEYS[] = {
	"ph", "name", "pid", "tid", "ts", "dur", "args.type", "args.fullname", "args.op_full_name",
	NULL
};

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

static const uint8_t UNITS[FIELDS] = { [F_TS] = DECIMAL_US, [F_DUR] = DECIMAL_US };

struct display {
	struct import *import;
	struct import_rows rows;
	uint64_t device;
	bool gpu;
	MODEL_ARRAY(struct device_task)
	tasks; /* times start at 0; the clock is known after reading */
};

static int detect(const struct import_sample *sample)
{
	const char *text = sample->text + strspn(sample->text, " \t\r\n");

	if (sample->directory || *text != '[')
		return 0;
	return strstr(text, "\"fullname\"") || strstr(text, "\"op_full_name\"") ? 60 : 0;
}

static const char *text_of(const struct json_value *value)
{
	return value->text ? value->text : "";
}

static bool number_of(const struct json_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

/* The unit that ran the event; NULL if it is not an event of the device. */
static const char *core_of(const struct json_value *values, uint64_t pid, bool gpu)
{
	uint64_t tid;

	if (gpu)
		return number_of(&values[F_TID], &tid) ? "GPU" : NULL;
	if (pid == PID_AI_CPU)
		return "AI_CPU";
	if (pid == PID_COMMUNICATION)
		return "COMMUNICATION";
	if (pid == PID_HOST_CPU || pid >= PID_SUMS ||
	    (number_of(&values[F_TID], &tid) && tid >= TID_SCOPES))
		return NULL;
	return "AI_CORE";
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	struct display *file = context;
	struct model *model = file->import->model;
	struct device_task task = { .stream = UINT64_MAX,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL };
	const char *name = text_of(&values[F_FULL_NAME]), *core;
	int64_t start_ns, dur_ns;
	uint64_t pid = 0;

	if (strcmp(text_of(&values[F_PH]), "X") != 0)
		return 0;
	number_of(&values[F_PID], &pid);
	core = core_of(values, pid, file->gpu);
	if (!core)
		return 0;
	if (!values[F_TS].text || !values[F_DUR].text ||
	    !decimal_scaled(values[F_TS].text, values[F_TS].length, 3, &start_ns) ||
	    !decimal_scaled(values[F_DUR].text, values[F_DUR].length, 3, &dur_ns) || start_ns < 0 ||
	    dur_ns < 0 || start_ns > INT64_MAX - 1 - dur_ns)
		return import_finding(file->import, "events without usable times",
				      values[F_NAME].text);
	task.start_ns = (uint64_t)start_ns;
	task.end_ns = (uint64_t)(start_ns + dur_ns);
	number_of(&values[F_TID], &task.stream);
	task.name = model_string(model, *name ? name : text_of(&values[F_NAME]));
	task.core = model_string(model, core);
	/* In files of a GPU this is the launching call. */
	task.type = file->gpu ? 0 : model_string(model, values[F_TYPE].text);
	if (pid == PID_COMMUNICATION || is_communication_name(text_of(&values[F_NAME])))
		task.kind = PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	if (task.name == INDEX_NONE || task.core == INDEX_NONE || task.type == INDEX_NONE ||
	    !MODEL_PUSH(&file->tasks, task))
		return -ENOMEM;
	return 0;
}

/* The device of "ascend_timeline_display_3.json" is 3. */
static uint64_t device_of_path(const char *path)
{
	const char *name = strstr(path, "timeline_display_"), *next;
	unsigned int device;

	while (name && (next = strstr(name + 1, "timeline_display_")))
		name = next;
	return name && sscanf(name, "timeline_display_%u", &device) == 1 ? device : 0;
}

static int put_tasks(struct display *file)
{
	uint64_t first_ns = UINT64_MAX;
	uint8_t clock;
	int err;

	IMPORT_EARLIEST(&file->tasks, &first_ns);
	clock = first_ns > NANOSECONDS_2001 ? PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
					    : PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
	for (uint32_t i = 0; i < file->tasks.count; i++) {
		struct device_task task = file->tasks.row[i];

		/* 0 stands for "not reported". */
		task.start_ns += first_ns == 0;
		task.end_ns += first_ns == 0;
		task.device = import_same_device(&file->rows, file->device,
						 file->gpu ? "unnamed" : "Ascend",
						 file->gpu ? "gpu" : "npu", "mindspore", clock);
		err = task.device == INDEX_NONE ? -ENOMEM : import_task(&file->rows, &task);
		if (err)
			return err;
	}
	return file->tasks.count
		       ? 0
		       : import_finding(file->import,
					"no events of a device: nothing is known of any", NULL);
}

static int import(struct import *import)
{
	struct display file = { .import = import,
				.device = device_of_path(import->path),
				.gpu = strstr(import->path, "gpu_timeline_display_") != NULL };
	const struct json_reader reader = {
		.keys = KEYS, .object = on_object, .context = &file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	err = json_objects_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, file.tasks.count, damage);
	if (!err)
		err = put_tasks(&file);
	import_rows_free(&file.rows);
	free(file.tasks.row);
	return err;
}

const struct importer import_mindspore_display = {
	.name = "mindspore",
	.what = "a timeline of MindSpore (ascend_timeline_display_*, gpu_timeline_display_*)",
	.detect = detect,
	.import = import,
};
