/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines of msprof (msprof_*.json) and torch_npu (trace_view.json): Chrome traces, a root array.
 *
 * process_name gives the kind of a process: "Ascend Hardware" has the device's tasks, "CANN" the host's calls
 * ("AscendCL@aclrtMemcpy", "Node@launch"), "Communication" (formerly "HCCL") collectives: an operation ("hcom_...",
 * or on a track "Communication ...") and its parts by plane, which are also under "Ascend Hardware" and would be
 * counted twice. "Overlap Analysis" and the like are sums, not tasks, as are the rows of "Step Trace", which in
 * 2023 are under "Ascend Hardware": they contain the steps. connection_id joins calls and tasks; if calls lack it,
 * flows "HostToDevice" do, whose id is connection_id or connection_id << 32 and more. ascend_counters.h reads the
 * counters ("C"). torch_npu's operators, functions of Python and the queue between them and the runtime (cpu_op,
 * python_function, enqueue, dequeue) are the host's timeline. Times are microseconds as numbers or strings, of
 * CLOCK_REALTIME or, in 2023 and before, of CLOCK_MONOTONIC_RAW.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_clock.h"
#include "analyzer/import/ascend/ascend_json.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/readers/json_objects.h"

#define THREADS 1 /* a kind of tracks; tracks of tasks are kind 0 */
#define NANOSECONDS_2001 1000000000000000000 /* later than any CLOCK_MONOTONIC_RAW */
enum field {
	F_PH,
	F_NAME,
	F_PID,
	F_TID,
	F_TS,
	F_DUR,
	F_LABEL,
	F_CONNECTION,
	F_TYPE,
	F_STREAM,
	F_OLD_STREAM,
	F_SIZE,
	F_CATEGORY,
	F_ID,
	F_TASK,
	F_PART_STREAM,
	F_PART_TASK,
	F_ITERATION,
	F_FP_START,
	F_BP_END,
	F_ITERATION_END,
	F_COUNTERS, /* ASCEND_COUNTER_KEYS */
	FIELDS = F_COUNTERS + ASCEND_COUNTER_COUNT
};

static const char *const KEYS[] = { "ph",
				    "name",
				    "pid",
				    "tid",
				    "ts",
				    "dur",
				    "args.name",
				    "args.connection_id",
				    "args.Task Type",
				    "args.Physic Stream Id",
				    "args.Stream Id",
				    "args.size(B)",
				    "cat",
				    "id",
				    "args.Task Id",
				    "args.stream id",
				    "args.task id",
				    "args.Iteration ID",
				    "args.FP Start",
				    "args.BP End",
				    "args.Iteration End",
				    ASCEND_COUNTER_KEYS,
				    NULL };

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

static const uint8_t UNITS[FIELDS] = {
	[F_TS] = DECIMAL_US, [F_DUR] = DECIMAL_US, [F_FP_START] = DECIMAL_US,
	[F_BP_END] = DECIMAL_US, [F_ITERATION_END] = DECIMAL_US,
};

static int detect(const struct import_sample *sample)
{
	static const char *const WORDS[] = { "\"Ascend Hardware\"", "\"AscendCL@",	 "\"Node@",
					     "\"Runtime@",	    "\"Fwd thread id\"", "\"HCCL\"",
					     "\"Step Trace\"" };
	const char *text = sample->text + strspn(sample->text, " \t\r\n");

	if (sample->directory || *text != '[')
		return 0;
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
		if (strstr(text, WORDS[i]))
			return 70;
	}
	return 0;
}

static bool number_of(const struct json_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

static uint8_t role_of(const char *process)
{
	if (strcmp(process, "Ascend Hardware") == 0)
		return ROLE_HARDWARE;
	if (strcmp(process, "CANN") == 0)
		return ROLE_CANN;
	if (strcmp(process, "Communication") == 0 || strcmp(process, "HCCL") == 0)
		return ROLE_COMMUNICATION;
	return ROLE_NONE;
}

/* The kind of a thread's track, by its name; 0 = none of them. */
static uint32_t track_of(const char *thread)
{
	const char *number = strstr(thread, "Model ID:");
	uint64_t id;

	if (number && (strncmp(thread, "Step Trace", 10) == 0 || number == thread)) {
		number += strlen("Model ID:");
		/* 4294967295 is no model. */
		if (!decimal_unsigned(number, strspn(number, "0123456789"), &id) || id >= INT32_MAX)
			return 0;
		return TRACK_STEPS + (uint32_t)id;
	}
	return strstr(thread, "Communication") ? TRACK_OPERATIONS : 0;
}

static int on_metadata(struct timeline_file *file, const struct json_value *values)
{
	const char *what = values[F_NAME].text ? values[F_NAME].text : "";
	uint64_t pid, tid;
	uint32_t track;

	if (!values[F_LABEL].text || !number_of(&values[F_PID], &pid))
		return 0;
	if (file->roles.count >= IMPORT_TRACKS_MAX || file->tracks.count >= IMPORT_TRACKS_MAX)
		return import_too_many_tracks(file->import);
	if (strcmp(what, "process_name") == 0)
		return map_put(&file->roles, pid, role_of(values[F_LABEL].text)) ? 0 : -ENOMEM;
	if (strcmp(what, "thread_name") != 0 || !number_of(&values[F_TID], &tid))
		return 0;
	track = track_of(values[F_LABEL].text);
	return !track || map_put(&file->tracks, track_key(pid, tid), track) ? 0 : -ENOMEM;
}

/* Converts wall-clock times to the raw times from which they were computed, if the shift is known. */
static int64_t unshifted(const struct timeline_file *file, int64_t ns)
{
	return ns > NANOSECONDS_2001 && ns > file->shift_ns ? ns - file->shift_ns : ns;
}

/* Adds an end of an arrow from the forward to the backward pass. */
static int on_arrow(struct timeline_file *file, const struct json_value *values, bool begins)
{
	struct pass_arrow_end end = { .begins = begins };
	uint64_t pid;

	if (!number_of(&values[F_ID], &end.id) || !number_of(&values[F_PID], &pid) ||
	    !number_of(&values[F_TID], &end.tid) || !values[F_TS].text ||
	    !decimal_scaled(values[F_TS].text, values[F_TS].length, 3, &end.ns))
		return import_finding(file->import, "arrows between passes from or to nowhere", NULL);
	end.pid = (uint32_t)pid;
	end.ns = unshifted(file, end.ns);
	return MODEL_PUSH(&file->arrows.list, end) ? 0 : -ENOMEM;
}

static int on_flow(struct timeline_file *file, const struct json_value *values)
{
	struct event event = { 0 };
	uint64_t id;

	if (values[F_CATEGORY].text && strcmp(values[F_CATEGORY].text, PASS_ARROW_CATEGORY) == 0)
		return on_arrow(file, values, true);
	if (!values[F_CATEGORY].text || strcmp(values[F_CATEGORY].text, "HostToDevice") != 0 ||
	    !number_of(&values[F_ID], &id) || !number_of(&values[F_PID], &event.pid) ||
	    !number_of(&values[F_TID], &event.tid) || !values[F_TS].text ||
	    !decimal_scaled(values[F_TS].text, values[F_TS].length, 3, &event.start_ns) ||
	    event.start_ns < 1)
		return 0;
	event.connection = id >> 32 ? id >> 32 : id;
	event.start_ns = unshifted(file, event.start_ns);
	if (!MODEL_PUSH(&file->flow_starts, event) ||
	    !map_put(&file->flows, event.connection, file->flow_starts.count - 1))
		return -ENOMEM;
	return 0;
}

static int64_t time_of(const struct timeline_file *file, const struct json_value *value)
{
	int64_t ns;

	return value->text && decimal_scaled(value->text, value->length, 3, &ns) && ns > 0
		       ? unshifted(file, ns)
		       : 0;
}

/* Is the event a sum of a step, by its category? */
static bool is_step_row(const struct json_value *values)
{
	static const char *const CATEGORIES[] = { "Iteration Time", "FP_BP Time",
						  "Iteration Refresh", "Reduce", "Data_aug Bound" };
	const char *category = values[F_CATEGORY].text;

	for (size_t i = 0; category && i < sizeof(CATEGORIES) / sizeof(CATEGORIES[0]); i++) {
		if (strcmp(category, CATEGORIES[i]) == 0)
			return true;
	}
	return false;
}

/* Stores steps and the reductions in them; other sums are dropped. */
static int on_step_row(struct timeline_file *file, const struct json_value *values,
		       const struct event *event)
{
	struct step_row row = { .start_ns = event->start_ns, .pid = event->pid, .tid = event->tid };
	bool pushed = true;

	if (__builtin_add_overflow(event->start_ns, event->dur_ns, &row.end_ns))
		return import_finding(file->import, "events without usable times",
				      values[F_NAME].text);
	number_of(&values[F_ITERATION], &row.number);
	if (strcmp(values[F_CATEGORY].text, "Reduce") == 0) {
		pushed = MODEL_PUSH(&file->reduces, row);
	} else if (strcmp(values[F_CATEGORY].text, "Iteration Time") == 0) {
		row.fp_start_ns = time_of(file, &values[F_FP_START]);
		row.bp_end_ns = time_of(file, &values[F_BP_END]);
		if (values[F_ITERATION_END].text)
			row.end_ns = time_of(file, &values[F_ITERATION_END]);
		pushed = MODEL_PUSH(&file->steps, row);
	}
	return pushed ? 0 : -ENOMEM;
}

/*
 * The scope of torch_npu's host categories. Putting work into the runtime's queue, and taking it out, is work of
 * operators.
 */
static uint8_t scope_of(const char *category, const char *name)
{
	if (!category || !name)
		return SCOPE_NONE;
	if (strcmp(category, "python_function") == 0)
		return scope_of_python(name);
	if (strcmp(category, "cpu_op") == 0)
		return scope_of_operator(name);
	if (strcmp(category, "user_annotation") == 0)
		return scope_of_range(name);
	return strcmp(category, "enqueue") == 0 || strcmp(category, "dequeue") == 0 ? SCOPE_OPERATOR
										  : SCOPE_NONE;
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	struct timeline_file *file = context;
	struct model *model = file->import->model;
	const char *phase = values[F_PH].text ? values[F_PH].text : "";
	struct event event = { .stream = UINT64_MAX, .task = UINT64_MAX };
	int err;

	if (phase[0] == 'M')
		return on_metadata(file, values);
	if (phase[0] == 's')
		return on_flow(file, values);
	if (phase[0] == 'f' && values[F_CATEGORY].text &&
	    strcmp(values[F_CATEGORY].text, PASS_ARROW_CATEGORY) == 0)
		return on_arrow(file, values, false);
	if (!number_of(&values[F_PID], &event.pid))
		return 0;
	if (phase[0] == 'C' && values[F_NAME].text)
		return ascend_counters_add(file->import, &file->counters, event.pid,
					   values[F_NAME].text, &values[F_COUNTERS]);
	if (phase[0] != 'X')
		return 0;
	if (!values[F_TS].text || !values[F_DUR].text ||
	    !decimal_scaled(values[F_TS].text, values[F_TS].length, 3, &event.start_ns) ||
	    !decimal_scaled(values[F_DUR].text, values[F_DUR].length, 3, &event.dur_ns) ||
	    event.start_ns < 1 || event.dur_ns < 0)
		return import_finding(file->import, "events without usable times",
				      values[F_NAME].text);
	event.start_ns = unshifted(file, event.start_ns);
	number_of(&values[F_TID], &event.tid);
	if (is_step_row(values))
		return on_step_row(file, values, &event);
	number_of(&values[F_CONNECTION], &event.connection);
	number_of(&values[F_SIZE], &event.bytes);
	if (!number_of(&values[F_STREAM], &event.stream) &&
	    !number_of(&values[F_OLD_STREAM], &event.stream))
		number_of(&values[F_PART_STREAM], &event.stream);
	if (!number_of(&values[F_TASK], &event.task))
		number_of(&values[F_PART_TASK], &event.task);
	err = import_track(file->import, &file->rows.streams, THREADS, event.pid, event.tid);
	if (err)
		return err;
	event.name = model_string(model, values[F_NAME].text);
	event.type = model_string(model, values[F_TYPE].text);
	event.scope = scope_of(values[F_CATEGORY].text, values[F_NAME].text);
	if (event.name == INDEX_NONE || event.type == INDEX_NONE ||
	    !MODEL_PUSH(&file->events, event))
		return -ENOMEM;
	return 0;
}

static int import(struct import *import)
{
	struct timeline_file file = {
		.import = import, .shift_ns = import->alone ? 0 : ascend_clock_shift(import->path)
	};
	const struct json_reader reader = {
		.keys = KEYS, .object = on_object, .context = &file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	uint32_t tasks = import->model->tasks.count;
	uint32_t first_device = import->model->devices.count;
	uint32_t first_mark = import->model->step_marks.count;
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	err = json_objects_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err,
				 file.events.count + file.steps.count + file.counters.list.count, damage);
	if (!err)
		err = ascend_json_put_rows(&file);
	if (!err)
		err = pass_arrows_put(&file.rows, &file.arrows, 0);
	if (!err)
		err = ascend_counters_put(import, &file.counters,
					  import->shared ? import->first_device : first_device,
					  ascend_json_numbered(&file));
	if (!err && import->model->tasks.count == tasks)
		err = import_finding(
			import, "no process \"Ascend Hardware\": nothing is known of any device",
			NULL);
	import_marks_of_device(import->model, first_device, first_mark);
	import_rows_free(&file.rows);
	map_free(&file.roles);
	map_free(&file.tracks);
	map_free(&file.operations);
	map_free(&file.parts);
	map_free(&file.launches);
	map_free(&file.flows);
	free(file.events.row);
	free(file.flow_starts.row);
	free(file.steps.row);
	free(file.reduces.row);
	free(file.arrows.list.row);
	ascend_counters_free(&file.counters);
	return err;
}

const struct importer import_ascend_json = {
	.name = "msprof",
	.what = "an Ascend timeline (msprof, torch_npu)",
	.detect = detect,
	.import = import,
};
