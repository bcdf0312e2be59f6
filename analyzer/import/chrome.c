/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any Chrome trace: a device for each process, a stream for each thread.
 *
 * Complete events ("X") and pairs of begin and end ("B", "E", innermost first) are tasks; "ts"
 * and "dur" are microseconds of a clock that the format does not name. slices.h tells which of
 * them are taken. Format: "Trace Event Format", Google.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/json_objects.h"
#include "analyzer/import/slices.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED

enum field { F_PH, F_NAME, F_CAT, F_PID, F_TID, F_TS, F_DUR, F_LABEL, FIELDS };

static const char *const KEYS[] = { "ph", "name", "cat",       "pid", "tid",
				    "ts", "dur",  "args.name", NULL };

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

struct chrome {
	struct import *import;
	struct slices slices;
	struct map tracks; /* pid string << 32 | tid string -> track */
	struct map process_names; /* pid string -> name string */
	MODEL_ARRAY(uint32_t) pids; /* of each track: string, because ids may be words */
};

static int detect(const struct import_sample *sample)
{
	if (sample->directory)
		return 0;
	if (strstr(sample->text, "\"traceEvents\""))
		return 20;
	return strstr(sample->text, "\"ph\"") && strstr(sample->text, "\"ts\"") ? 10 : 0;
}

static uint32_t string_of(struct chrome *file, const struct json_value *value)
{
	return value->text ? model_string(file->import->model, value->text) : 0;
}

/* Words get a number that no file would use. */
static uint64_t number_of(const struct chrome *file, uint32_t id)
{
	const char *text = model_text(file->import->model, id);
	uint64_t number;

	return decimal_unsigned(text, strlen(text), &number) ? number : UINT64_MAX - id;
}

/* The row of the event's track; INDEX_NONE without memory. */
static uint32_t track_of(struct chrome *file, const struct json_value *values)
{
	uint32_t pid = string_of(file, &values[F_PID]), tid = string_of(file, &values[F_TID]);
	uint64_t key = (uint64_t)pid << 32 | tid;
	uint32_t row = map_get(&file->tracks, key);

	if (row != MAP_NONE)
		return row;
	if (pid == INDEX_NONE || tid == INDEX_NONE)
		return INDEX_NONE;
	row = slices_track(&file->slices);
	if (row == INDEX_NONE || !MODEL_PUSH(&file->pids, pid) || !map_put(&file->tracks, key, row))
		return INDEX_NONE;
	file->slices.tracks.row[row].device = number_of(file, pid);
	file->slices.tracks.row[row].stream = number_of(file, tid);
	return row;
}

static int name_track(struct chrome *file, const struct json_value *values)
{
	const char *what = values[F_NAME].text ? values[F_NAME].text : "";
	uint32_t name = string_of(file, &values[F_LABEL]);
	uint32_t track;

	if (name == INDEX_NONE)
		return -ENOMEM;
	if (!name)
		return 0;
	if (strcmp(what, "process_name") == 0) {
		uint32_t pid = string_of(file, &values[F_PID]);

		return pid != INDEX_NONE && map_put(&file->process_names, pid, name) ? 0 : -ENOMEM;
	}
	if (strcmp(what, "thread_name") != 0)
		return 0;
	track = track_of(file, values);
	if (track == INDEX_NONE)
		return -ENOMEM;
	file->slices.tracks.row[track].name = name;
	return 0;
}

static bool time_of(const struct json_value *value, int64_t *ns)
{
	return value->text && decimal_scaled(value->text, value->length, 3, ns);
}

/* An event with a track and a time: complete with @dur_ns, or 'B', or 'E'. */
static int add_event(struct chrome *file, const struct json_value *values, char phase,
		     int64_t dur_ns)
{
	uint32_t track = track_of(file, values), name = string_of(file, &values[F_NAME]);
	int64_t ts_ns;

	if (!time_of(&values[F_TS], &ts_ns))
		return import_finding(file->import, "events without a usable time",
				      values[F_NAME].text);
	if (track == INDEX_NONE || name == INDEX_NONE)
		return -ENOMEM;
	if (phase == 'X')
		return slices_add(&file->slices, track, ts_ns, dur_ns, name);
	return phase == 'B' ? slices_begin(&file->slices, track, ts_ns, name)
			    : slices_end(&file->slices, track, ts_ns);
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	struct chrome *file = context;
	const char *phase = values[F_PH].text ? values[F_PH].text : "";
	int64_t dur_ns;

	if (list[0] && strcmp(list, "traceEvents") != 0)
		return 0;
	switch (phase[0]) {
	case 'X':
		if (!time_of(&values[F_DUR], &dur_ns) || dur_ns < 0)
			return import_finding(file->import, "complete events without a duration",
					      values[F_NAME].text);
		return add_event(file, values, 'X', dur_ns);
	case 'B':
	case 'E': return add_event(file, values, phase[0], 0);
	case 'M': return name_track(file, values);
	default: return 0;
	}
}

static void name_processes(struct chrome *file)
{
	for (uint32_t i = 0; i < file->slices.tracks.count; i++) {
		uint32_t name = map_get(&file->process_names, file->pids.row[i]);

		file->slices.tracks.row[i].process = name == MAP_NONE ? file->pids.row[i] : name;
	}
}

static int import(struct import *import)
{
	struct chrome file = { .import = import };
	const struct json_reader reader = { .keys = KEYS, .object = on_object, .context = &file };
	char damage[256] = "";
	int err;

	slices_open(&file.slices, import, "chrome", CLOCK);
	err = json_objects_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, file.slices.slices.count, damage);
	if (!err && !file.slices.slices.count)
		err = import_finding(import, "no events with a duration", NULL);
	name_processes(&file);
	if (!err)
		err = slices_finish(&file.slices);
	slices_free(&file.slices);
	map_free(&file.tracks);
	map_free(&file.process_names);
	free(file.pids.row);
	return err;
}

const struct importer import_chrome = {
	.name = "chrome",
	.what = "a Chrome trace",
	.detect = detect,
	.import = import,
};
