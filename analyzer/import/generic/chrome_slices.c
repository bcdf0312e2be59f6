/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any Chrome trace: a device for each process, a stream for each thread.
 *
 * Complete events ("X") and pairs of begin and end ("B", "E", innermost first) are tasks; "ts" and "dur" are
 * microseconds of a clock that the format does not name. Events may be in any order: begins and ends are paired in
 * the order of their times, at the end of the file. slices.h decides which are tasks of devices. Categories
 * are evidence, too: "gpu_memcpy", or "Kernel" with a stream or a grid; args.provider of ONNX Runtime's nodes
 * (onnxruntime.c; here in files merged from several) names only the launching provider: the time is the host's.
 * Intel's unitrace has processes "HOST<node1>" and "RANK 3 DEVICE<node1>[Intel(R) ...] 0:3a:0:0 #0", whose numbers and
 * those of their threads count down from 2^32; "gpu_op" is what the device did, "cpu_op" a call of Level Zero, MPI or
 * the job's own range. Triton's proton (data="trace") has a text of JSON for each stream, one after the other, or, in
 * newer versions, one for all; its kernels are of category "kernel" and have args.call_stack. What it recorded of warps
 * inside of kernels is refused (unknown_file.c): its times are cycles.
 * Format: "Trace Event Format", Google.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_objects.h"
#include "analyzer/import/generic/slices.h"
#include "analyzer/import/generic/unitrace_flows.h"
#include "analyzer/import/tensorflow/xplane.h"
#include "lib/base/sort_rows.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED

enum field {
	F_PH,
	F_NAME,
	F_CAT,
	F_PID,
	F_TID,
	F_TS,
	F_DUR,
	F_LABEL,
	F_STREAM,
	F_DEVICE,
	F_CORRELATION,
	F_GRID,
	F_PROVIDER,
	F_CATEGORY,
	F_OPERATION,
	F_STEP,
	F_CALL,
	F_CALL_STACK,
	FIELDS
};

static const char *const KEYS[] = { "ph",
				    "name",
				    "cat",
				    "pid",
				    "tid",
				    "ts",
				    "dur",
				    "args.name",
				    "args.stream",
				    "args.device",
				    "args.correlation",
				    "args.grid_x",
				    "args.provider",
				    "args.hlo_category",
				    "args.hlo_op",
				    "args.step_num",
				    "args.correlation_id",
				    "args.call_stack[]",
				    NULL };

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

static const uint8_t UNITS[FIELDS] = { [F_TS] = DECIMAL_US, [F_DUR] = DECIMAL_US };

/* A begin or an end. */
struct edge {
	int64_t ns;
	uint32_t track;
	uint32_t name; /* of a begin */
	bool ends;
};

struct chrome {
	struct import *import;
	struct slices slices;
	struct map tracks; /* pid string << 32 | tid string -> track */
	struct map streams; /* device string << 32 | stream string -> track */
	struct map process_names; /* pid string -> name string */
	MODEL_ARRAY(uint32_t) pids; /* per track: string, because ids may be words */
	MODEL_ARRAY(struct edge) edges; /* in the file's order */
	struct unitrace_flows flows;
};

#define UNITRACE_DEVICE "DEVICE<"

/* Names the first event the host as unitrace does? Its categories are also those of Kineto. */
static bool is_unitrace(const char *text)
{
	static const char NAME[] = "\"process_name\"";
	const char *first = strstr(text, NAME), *host = strstr(text, "HOST<");

	return first && host > first && !memchr(first, '}', (size_t)(host - first)) &&
	       strstr(text, "\"traceEvents\"");
}

#define PROTON_WARPS "\"Finalization Time (ns)\"" /* proton's times within kernels */

static int detect_proton(const struct import_sample *sample)
{
	if (sample->directory || strstr(sample->text, PROTON_WARPS))
		return 0;
	return strstr(sample->text, "\"traceEvents\"") && strstr(sample->text, "\"call_stack\"") &&
			       strstr(sample->text, "\"cat\":\"kernel\"")
		       ? 50
		       : 0;
}

static int detect(const struct import_sample *sample)
{
	if (sample->directory || strstr(sample->text, PROTON_WARPS))
		return 0;
	if (is_unitrace(sample->text))
		return 95;
	if (strstr(sample->text, "\"traceEvents\""))
		return 20;
	return strstr(sample->text, "\"ph\"") && strstr(sample->text, "\"ts\"") ? 10 : 0;
}

static uint32_t string_of(struct chrome *file, const struct json_value *value)
{
	bool told = value->text && (value->quoted || strcmp(value->text, "null") != 0);

	return told ? model_string(file->import->model, value->text) : 0;
}

/* Numbers that are reserved for words, such as -2 as an unsigned number, are words themselves; -1 is no number. */
static uint64_t number_of(const struct chrome *file, uint32_t id)
{
	const char *text = model_text(file->import->model, id);
	uint64_t number;

	if (!decimal_unsigned(text, strlen(text), &number) || slices_word_of(number))
		return slices_word(id);
	return number;
}

/* The row of the event's track; INDEX_NONE if out of memory. */
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

static bool is_word(const struct json_value *value, const char *word)
{
	return value->text && strcasecmp(value->text, word) == 0;
}

static enum slice_evidence evidence_of(const struct json_value *values, bool proton)
{
	static const char *const SURE[] = { "gpu_memcpy", "gpu_memset", "gpu_kernel", "gpu_op",
					    "gpu" };
	static const char *const LIKELY[] = { "kernel", "memcpy", "memset", "concurrent_kernel" };
	const struct json_value *category = &values[F_CAT];

	if (proton)
		return is_word(category, "kernel") && values[F_CALL_STACK].text ? SLICE_ON_DEVICE : SLICE_ON_HOST;
	for (size_t i = 0; i < sizeof(SURE) / sizeof(SURE[0]); i++) {
		if (is_word(category, SURE[i]))
			return SLICE_ON_DEVICE;
	}
	for (size_t i = 0; i < sizeof(LIKELY) / sizeof(LIKELY[0]); i++) {
		if (is_word(category, LIKELY[i]) &&
		    (values[F_STREAM].text || values[F_DEVICE].text || values[F_CORRELATION].text ||
		     values[F_GRID].text))
			return SLICE_ON_DEVICE;
	}
	return values[F_PROVIDER].text ? SLICE_ON_HOST : SLICE_UNTOLD;
}

/* The track of a slice with evidence that it is a device's; its process and thread may be the host's. */
static uint32_t stream_of(struct chrome *file, const struct json_value *values)
{
	uint32_t device = string_of(file, &values[values[F_DEVICE].text ? F_DEVICE : F_PID]);
	uint32_t stream = string_of(file, &values[values[F_STREAM].text ? F_STREAM : F_TID]);
	uint64_t key = (uint64_t)device << 32 | stream;
	uint32_t row = map_get(&file->streams, key), name;
	struct slice_track *track;

	if (row != MAP_NONE)
		return row;
	row = slices_track(&file->slices);
	name = model_string(file->import->model, "GPU");
	if (device == INDEX_NONE || stream == INDEX_NONE || name == INDEX_NONE ||
	    row == INDEX_NONE || !MODEL_PUSH(&file->pids, name) ||
	    !map_put(&file->streams, key, row))
		return INDEX_NONE;
	track = &file->slices.tracks.row[row];
	/* ONNX Runtime's kernels have process -1: there is one device then. */
	track->device =
		values[F_DEVICE].text || values[F_PID].text[0] != '-' ? number_of(file, device) : 0;
	track->stream = number_of(file, stream);
	track->told = true;
	return row;
}

/* The name that the file gave to the event's process so far. */
static const char *process_of(struct chrome *file, const struct json_value *values)
{
	uint32_t name = map_get(&file->process_names, string_of(file, &values[F_PID]));

	return name == MAP_NONE ? "" : model_text(file->import->model, name);
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

/* Adds figures of TensorFlow and JAX to an event, as to those of an XSpace (xplane.c). */
static bool add_figures(struct chrome *file, const struct json_value *values, struct slice *slice)
{
	const char *name = model_text(file->import->model, slice->name);
	uint64_t step;

	slice->type = string_of(file, &values[F_CATEGORY]);
	slice->operation = values[F_OPERATION].text != NULL;
	if (values[F_STEP].text &&
	    decimal_unsigned(values[F_STEP].text, values[F_STEP].length, &step))
		slice->step = step + 1;
	if (values[F_CALL].text && !slice->runtime && xplane_is_call(name))
		slice->runtime = model_string(file->import->model,
					      strncmp(name, "hip", 3) ? "cuda" : "hip");
	if (!slice->runtime && is_word(&values[F_CAT], "cuda_api") && xplane_is_call(name))
		slice->runtime = model_string(file->import->model, "cuda");
	if (!slice->runtime && is_word(&values[F_CAT], "cpu_op") && strncmp(name, "ze", 2) == 0)
		slice->runtime = model_string(file->import->model, "level_zero");
	return slice->type != INDEX_NONE && slice->runtime != INDEX_NONE;
}

/* Adds an event with a track and a time: complete with @dur_ns, or 'B', or 'E'. */
static int add_event(struct chrome *file, const struct json_value *values, char phase,
		     int64_t dur_ns)
{
	struct slice slice = { .dur_ns = dur_ns,
			       .name = string_of(file, &values[F_NAME]),
			       .runtime = string_of(file, &values[F_PROVIDER]) };
	uint32_t track, name = slice.name;
	struct edge edge;
	int64_t ts_ns;

	if (phase == 'X')
		slice.evidence = evidence_of(values, file->slices.proton);
	track = slice.evidence == SLICE_ON_DEVICE && values[F_PID].text && !file->slices.proton &&
				!strstr(process_of(file, values), UNITRACE_DEVICE)
			? stream_of(file, values)
			: track_of(file, values);
	if (!time_of(&values[F_TS], &ts_ns))
		return import_finding(file->import, "events without a usable time",
				      values[F_NAME].text);
	if (track == INDEX_NONE || name == INDEX_NONE || slice.runtime == INDEX_NONE ||
	    !add_figures(file, values, &slice))
		return -ENOMEM;
	slice.start_ns = ts_ns;
	slice.track = track;
	if (file->slices.proton && slice.evidence == SLICE_ON_DEVICE)
		file->slices.tracks.row[track].told = true;
	if (phase == 'X')
		return slices_add(&file->slices, &slice);
	edge = (struct edge){ .ns = ts_ns, .track = track, .name = name, .ends = phase == 'E' };
	return MODEL_PUSH(&file->edges, edge) ? 0 : -ENOMEM;
}

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Pairs begins and ends. Sorting keeps the file's order of those at the same instant. */
static int pair_edges(struct chrome *file)
{
	int err = 0;

	SORT_ARRAY(&file->edges, by_time);
	for (uint32_t i = 0; i < file->edges.count && !err; i++) {
		const struct edge *edge = &file->edges.row[i];

		err = edge->ends ? slices_end(&file->slices, edge->track, edge->ns)
				 : slices_begin(&file->slices, edge->track, edge->ns, edge->name);
	}
	return err;
}

/* Only unitrace's arrows from calls to devices are known; other flows may be of anything. */
static int add_flow(struct chrome *file, const struct json_value *values, bool starts)
{
	uint32_t category, track;
	int64_t ns;

	if (!values[F_CAT].text || !unitrace_is_flow(values[F_CAT].text) ||
	    !time_of(&values[F_TS], &ns))
		return 0;
	category = string_of(file, &values[F_CAT]);
	track = track_of(file, values);
	return category != INDEX_NONE && track != INDEX_NONE &&
			       unitrace_flow_add(&file->flows, &file->slices, track, ns, category, starts)
		       ? 0
		       : -ENOMEM;
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
	case 's':
	case 't': return add_flow(file, values, phase[0] == 's');
	default: return 0;
	}
}

/*
 * Gives a device of unitrace the number at its name's end; part of a device, "#0.1", and streams are counted. So are
 * devices whose number another one of the file has, on another node. @named: number -> name of its process.
 */
static int number_unitrace(struct chrome *file, uint32_t row, struct map *named)
{
	struct slice_track *track = &file->slices.tracks.row[row];
	const char *name = model_text(file->import->model, track->process);
	const char *number = strrchr(name, '#');
	uint32_t other;

	if (!strstr(name, UNITRACE_DEVICE))
		return 0;
	if (track->name)
		track->stream = slices_word(track->name);
	if (!number || !decimal_unsigned(number + 1, strlen(number + 1), &track->device)) {
		track->device = slices_word(track->process);
		return 0;
	}
	other = map_get(named, track->device);
	if (other == MAP_NONE)
		return map_put(named, track->device, track->process) ? 0 : -ENOMEM;
	if (other != track->process)
		track->device = slices_word(track->process);
	return 0;
}

static int name_processes(struct chrome *file)
{
	struct map named = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < file->slices.tracks.count && !err; i++) {
		uint32_t name = map_get(&file->process_names, file->pids.row[i]);

		file->slices.tracks.row[i].process = name == MAP_NONE ? file->pids.row[i] : name;
		err = number_unitrace(file, i, &named);
	}
	map_free(&named);
	return err;
}

static int import_trace(struct import *import, bool proton)
{
	struct chrome file = { .import = import };
	const struct json_reader reader = {
		.keys = KEYS, .documents = proton, .object = on_object, .context = &file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	char damage[256] = "";
	int err;

	slices_open(&file.slices, import, proton ? "proton" : "chrome", CLOCK);
	file.slices.proton = proton;
	err = json_objects_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, file.slices.slices.count || file.edges.count, damage);
	if (!err)
		err = pair_edges(&file);
	if (!err && !file.slices.slices.count)
		err = import_finding(import, "no events with a duration: there is neither a complete event "
					     "(X) nor a pair of begin and end (B, E)", NULL);
	if (!err)
		err = name_processes(&file);
	unitrace_flows_join(&file.flows, &file.slices);
	if (!err)
		err = slices_finish(&file.slices);
	slices_free(&file.slices);
	map_free(&file.tracks);
	map_free(&file.streams);
	map_free(&file.process_names);
	unitrace_flows_free(&file.flows);
	free(file.pids.row);
	free(file.edges.row);
	return err;
}

static int import_any(struct import *import)
{
	return import_trace(import, false);
}

static int import_proton_kernels(struct import *import)
{
	return import_trace(import, true);
}

const struct importer import_chrome = {
	.name = "chrome",
	.what = "a Chrome trace",
	.detect = detect,
	.import = import_any,
};

const struct importer import_proton_trace = {
	.name = "proton_trace",
	.what = "a Chrome trace of Triton's proton",
	.detect = detect_proton,
	.import = import_proton_kernels,
};
