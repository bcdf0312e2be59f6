/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kineto's JSON, as torch.profiler exports it.
 *
 * Device tasks are the complete events of categories kernel, gpu_memcpy and gpu_memset ("Kernel", ... in 2021;
 * mtia_ccp_events on MTIA); calls are cuda_runtime and cuda_driver, also on AMD, xpu_runtime and xpu_driver on
 * Intel, and the like. args.correlation joins them. "ts" and "dur" are microseconds: since 1970, or, from 2023 on,
 * since baseTimeNanoseconds, which is at the end of the file. User annotations, "Trace" and overhead rows are no
 * device tasks; ProfilerStep#3 marks a step, also if its category is "Operator". Operators (cpu_op), functions of
 * Python and modules (python_function) and user annotations are the host's timeline. An operator that launched a
 * task has the same args."External id", and its shapes if they were recorded. Instants called "[memory]" are
 * actions of the framework's allocator; args."Device Type" 0 is the host.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/readers/json_objects.h"
#include "analyzer/import/pipeline_stage.h"
#include "analyzer/import/pytorch/pytorch.h"

#define GROUPS "distributedInfo.pg_config"
#define SHAPES_MAX 4096 /* bytes of an operator's shapes as text */

enum field {
	F_PH,
	F_CAT,
	F_NAME,
	F_PID,
	F_TID,
	F_TS,
	F_DUR,
	F_DEVICE,
	F_STREAM,
	F_CORRELATION,
	F_BYTES,
	F_LABEL,
	F_ID,
	F_ADDRESS,
	F_ALLOCATED,
	F_RESERVED,
	F_DEVICE_ID,
	F_DEVICE_TYPE,
	F_MEMORY_BYTES,
	F_GROUP,
	F_EXTERNAL,
	F_EXTERNAL_2021,
	F_SHAPES,
	F_TYPES,
	F_GROUP_KIND,
	F_GROUP_MEMBERS,
	F_COLLECTIVE,
	F_ELEMENTS_IN,
	F_ELEMENTS_OUT,
	F_ELEMENT,
	F_GROUP_SIZE,
	F_GRID,
	F_BLOCK,
	F_REGISTERS, /* figures of a launch, from here to the last */
	F_SHARED_MEMORY,
	F_BLOCKS_PER_SM,
	F_WARPS_PER_SM,
	F_OCCUPANCY,
	FIELDS
};

static const char *const KEYS[] = { "ph",
				    "cat",
				    "name",
				    "pid",
				    "tid",
				    "ts",
				    "dur",
				    "args.device",
				    "args.stream",
				    "args.correlation",
				    "args.bytes",
				    "args.name",
				    "id",
				    "args.Addr",
				    "args.Total Allocated",
				    "args.Total Reserved",
				    "args.Device Id",
				    "args.Device Type",
				    "args.Bytes",
				    "args.Process Group Ranks",
				    "args.External id",
				    "args.external id",
				    "args.Input Dims[]",
				    "args.Input type[]",
				    "pg_desc",
				    "ranks[]",
				    "args.Collective name",
				    "args.In msg nelems",
				    "args.Out msg nelems",
				    "args.dtype",
				    "args.Group size",
				    "args.grid[]",
				    "args.block[]",
				    "args.registers per thread",
				    "args.shared memory",
				    "args.blocks per SM",
				    "args.warps per SM",
				    "args.est. achieved occupancy %",
				    NULL };

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

static const uint8_t UNITS[FIELDS] = { [F_TS] = DECIMAL_US, [F_DUR] = DECIMAL_US };

static int detect(const struct import_sample *sample)
{
	if (sample->directory || !strstr(sample->text, "\"traceEvents\""))
		return 0;
	if (strstr(sample->text, "\"schemaVersion\"") || strstr(sample->text, "\"cpu_op\"") ||
	    strstr(sample->text, "\"cuda_runtime\""))
		return 90;
	/* Traces of 2021, and parts of traces that tools have extracted, may have kernels only. */
	return strcasestr(sample->text, "\"kernel\"") && strstr(sample->text, "\"correlation\"")
		       ? 85
		       : 0;
}

static const char *text_of(const struct json_value *value)
{
	return value->text ? value->text : "";
}

static bool number_of(const struct json_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

/* Threads of the profiler itself have negative numbers. */
static bool thread_of(const struct json_value *value, uint64_t *number)
{
	int64_t negative;

	if (number_of(value, number))
		return true;
	if (!value->text || !decimal_scaled(value->text, value->length, 0, &negative))
		return false;
	*number = (uint64_t)negative;
	return true;
}

/* Streams are numbers, or a word and a number: "stream 7". */
static bool track_of(const struct json_value *value, uint64_t *number)
{
	const char *digits = value->text;

	if (!digits)
		return false;
	if (value->quoted && strncmp(digits, "stream ", 7) == 0)
		digits += 7;
	return decimal_unsigned(digits, strlen(digits), number);
}

static bool times_of(const struct json_value *values, int64_t *start_ns, int64_t *dur_ns)
{
	return values[F_TS].text && values[F_DUR].text &&
	       decimal_scaled(values[F_TS].text, values[F_TS].length, 3, start_ns) &&
	       decimal_scaled(values[F_DUR].text, values[F_DUR].length, 3, dur_ns) && *dur_ns >= 0;
}

enum event {
	EVENT_OTHER,
	EVENT_KERNEL,
	EVENT_COPY,
	EVENT_FILL,
	EVENT_CALL,
	EVENT_OPERATOR,
	EVENT_PYTHON,
	EVENT_RANGE,
};

static enum event event_of(const struct json_value *category)
{
	static const struct {
		const char *name;
		enum event event;
	} EVENTS[] = {
		{ "cpu_op", EVENT_OPERATOR },	{ "kernel", EVENT_KERNEL },
		{ "cuda_runtime", EVENT_CALL }, { "cuda_driver", EVENT_CALL },
		{ "gpu_memcpy", EVENT_COPY },	{ "gpu_memset", EVENT_FILL },
		{ "operator", EVENT_OPERATOR }, { "runtime", EVENT_CALL },
		{ "memcpy", EVENT_COPY },	{ "memset", EVENT_FILL },
		{ "mtia_runtime", EVENT_CALL }, { "mtia_ccp_events", EVENT_KERNEL },
		{ "xpu_runtime", EVENT_CALL },	{ "xpu_driver", EVENT_CALL },
		{ "hpu_op", EVENT_CALL },	{ "privateuse1_runtime", EVENT_CALL },
		{ "privateuse1_driver", EVENT_CALL },
		{ "python_function", EVENT_PYTHON }, { "user_annotation", EVENT_RANGE },
	};

	for (size_t i = 0; category->text && i < sizeof(EVENTS) / sizeof(EVENTS[0]); i++)
		if (tolower((unsigned char)category->text[0]) == EVENTS[i].name[0] &&
		    strcasecmp(category->text, EVENTS[i].name) == 0)
			return EVENTS[i].event;
	return EVENT_OTHER;
}

static uint8_t kind_of_task(enum event event, const char *name)
{
	if (event == EVENT_COPY)
		return PROFBPF__DEVICE_TASKS__KIND__COPY;
	if (event == EVENT_FILL)
		return PROFBPF__DEVICE_TASKS__KIND__FILL;
	return is_communication_name(name) ? PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION
					   : PROFBPF__DEVICE_TASKS__KIND__KERNEL;
}

enum { TRACK_STREAM, TRACK_THREAD };

static int add_gpu_task(struct pytorch *file, const struct json_value *values, enum event event)
{
	struct model *model = file->import->model;
	struct pytorch_common common = { .kind = kind_of_task(event, text_of(&values[F_NAME])) };
	struct gpu_task task = { 0 };
	int err;

	if (!times_of(values, &task.start_ns, &task.dur_ns))
		return import_finding(file->import, "device tasks without usable times: start or duration is "
						    "missing or no number (if there are many, the profiler "
						    "lost events: record less at a time)",
				      text_of(&values[F_NAME]));
	if (!number_of(&values[F_DEVICE], &common.place) && !number_of(&values[F_PID], &common.place))
		return import_finding(file->import, "device tasks of no device",
				      text_of(&values[F_NAME]));
	if (!track_of(&values[F_STREAM], &common.track))
		track_of(&values[F_TID], &common.track);
	number_of(&values[F_CORRELATION], &task.correlation);
	number_of(&values[F_BYTES], &task.bytes);
	if (!number_of(&values[F_EXTERNAL], &task.external))
		number_of(&values[F_EXTERNAL_2021], &task.external);
	err = import_track(file->import, &file->tracks, TRACK_STREAM, common.place, common.track);
	if (err)
		return err;
	common.name = model_string(model, text_of(&values[F_NAME]));
	if (common.kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION)
		pytorch_collective(file, &values[F_COLLECTIVE], &values[F_GROUP], &common, &task);
	if (event == EVENT_KERNEL &&
	    pytorch_launch_figures(file, &values[F_GRID], KEYS + F_GRID, &common, &task) != 0)
		return -ENOMEM;
	if (common.name == INDEX_NONE || common.group == INDEX_NONE || common.collective == INDEX_NONE ||
	    common.type == INDEX_NONE)
		return -ENOMEM;
	task.common = pytorch_common_of(file, &common);
	return task.common != INDEX_NONE && MODEL_PUSH(&file->tasks, task) ? 0 : -ENOMEM;
}

/* Converts "[[8,16],[],[2]]" to "8,16;;2", "[\"float\",\"\"]" to "float;". */
static uint32_t list_text(struct model *model, const struct json_value *value)
{
	char text[SHAPES_MAX];
	unsigned int depth = 0;
	size_t used = 0;

	if (!value->text || value->length >= sizeof(text))
		return 0;
	for (const char *at = value->text; *at; at++) {
		if (*at == '[')
			depth++;
		else if (*at == ']')
			depth -= depth > 0;
		else if (*at == ',')
			text[used++] = depth == 1 || at[-1] == ']' ? ';' : ',';
		else if (*at != '"')
			text[used++] = *at;
	}
	text[used] = '\0';
	return model_string(model, text);
}

#define STEP_NAME "ProfilerStep#"

/* Is the event a step, of any category: in 2021 it is an operator's. */
static bool is_step(const struct json_value *values)
{
	return strncmp(text_of(&values[F_NAME]), STEP_NAME, strlen(STEP_NAME)) == 0;
}

static int add_operator(struct pytorch *file, const struct json_value *values,
			const struct pytorch_scope *scope)
{
	struct model *model = file->import->model;
	struct pytorch_operator row = { .number = scope->number,
					.name = scope->name,
					.shapes = scope->shapes };

	row.types = list_text(model, &values[F_TYPES]);
	return row.types != INDEX_NONE && (!row.number || MODEL_PUSH(&file->operators, row))
		       ? 0
		       : -ENOMEM;
}

static uint8_t scope_of(enum event event, const char *name)
{
	if (event == EVENT_PYTHON)
		return scope_of_python(name);
	return event == EVENT_OPERATOR ? scope_of_operator(name) : scope_of_range(name);
}

static int add_scope(struct pytorch *file, const struct json_value *values, enum event event)
{
	struct model *model = file->import->model;
	const char *name = text_of(&values[F_NAME]);
	struct pytorch_scope scope = { .scope = scope_of(event, name) };
	uint64_t pid;
	int err;

	if (!number_of(&values[F_EXTERNAL], &scope.number))
		number_of(&values[F_EXTERNAL_2021], &scope.number);
	scope.name = model_string(model, name);
	if (event == EVENT_OPERATOR)
		scope.shapes = list_text(model, &values[F_SHAPES]);
	if (scope.name == INDEX_NONE || scope.shapes == INDEX_NONE)
		return -ENOMEM;
	err = event == EVENT_OPERATOR && !is_step(values) ? add_operator(file, values, &scope) : 0;
	if (err)
		return err;
	/* Some tools that cut traces drop the times of operators. */
	if (!times_of(values, &scope.start_ns, &scope.dur_ns) || !number_of(&values[F_PID], &pid) ||
	    pid > UINT32_MAX || !thread_of(&values[F_TID], &scope.tid))
		return import_finding(file->import,
				      "operators and ranges without usable times or threads: start or "
				      "duration is missing or no number (if there are many, the profiler "
				      "lost events: record less at a time)", name);
	scope.pid = (uint32_t)pid;
	err = import_track(file->import, &file->tracks, TRACK_THREAD, pid, scope.tid);
	if (err)
		return err;
	return MODEL_PUSH(&file->scopes, scope) ? 0 : -ENOMEM;
}

/* AMD's calls have CUDA's category. */
static const char *runtime_of(const char *category, const char *name)
{
	static const char *const RUNTIMES[] = { "mtia", "hpu", "privateuse1" };

	if (strncmp(category, "xpu", 3) == 0)
		return strncmp(name, "ze", 2) ? "unified_runtime" : "level_zero";
	for (size_t i = 0; i < sizeof(RUNTIMES) / sizeof(RUNTIMES[0]); i++)
		if (strncmp(category, RUNTIMES[i], strlen(RUNTIMES[i])) == 0)
			return RUNTIMES[i];
	return strncmp(name, "hip", 3) ? "cuda" : "hip";
}

static int add_host_call(struct pytorch *file, const struct json_value *values)
{
	struct model *model = file->import->model;
	struct pytorch_common common = { .runtime = runtime_of(text_of(&values[F_CAT]), text_of(&values[F_NAME])) };
	struct host_call call = { 0 };
	int err;

	if (!times_of(values, &call.start_ns, &call.dur_ns))
		return import_finding(file->import, "runtime calls without usable times: start or duration "
						    "is missing or no number (if there are many, the "
						    "profiler lost events: record less at a time)",
				      text_of(&values[F_NAME]));
	if (!number_of(&values[F_PID], &common.place) || common.place > UINT32_MAX ||
	    !thread_of(&values[F_TID], &common.track))
		return import_finding(file->import, "runtime calls of no process or thread",
				      text_of(&values[F_NAME]));
	err = import_track(file->import, &file->tracks, TRACK_THREAD, common.place, common.track);
	if (err)
		return err;
	number_of(&values[F_CORRELATION], &call.correlation);
	common.name = model_string(model, text_of(&values[F_NAME]));
	call.common = common.name == INDEX_NONE ? INDEX_NONE : pytorch_common_of(file, &common);
	return call.common != INDEX_NONE && MODEL_PUSH(&file->calls, call) ? 0 : -ENOMEM;
}

/* Adds a step, ProfilerStep#3, of the host; the same on a device ("gpu_user_annotation") is skipped. */
static int add_mark(struct pytorch *file, const struct json_value *values)
{
	const char *text = text_of(&values[F_NAME]);
	struct pytorch_mark mark;
	uint64_t pid;

	if (!is_step(values) || strncasecmp(text_of(&values[F_CAT]), "gpu_", 4) == 0 ||
	    !decimal_unsigned(text + strlen(STEP_NAME), strlen(text) - strlen(STEP_NAME),
			      &mark.number) ||
	    !times_of(values, &mark.start_ns, &mark.dur_ns) || !number_of(&values[F_PID], &pid) ||
	    pid > UINT32_MAX)
		return 0;
	mark.pid = (uint32_t)pid;
	return MODEL_PUSH(&file->marks, mark) ? 0 : -ENOMEM;
}

static int add_memory(struct pytorch *file, const struct json_value *values)
{
	struct pytorch_memory memory = { .record = { .file = file->import->file } };
	struct memory_record *record = &memory.record;
	uint64_t pid, number;

	if (!values[F_TS].text ||
	    !decimal_scaled(values[F_TS].text, values[F_TS].length, 3, &memory.start_ns))
		return import_finding(file->import, "memory records without a usable time", NULL);
	if (values[F_MEMORY_BYTES].text &&
	    decimal_scaled(values[F_MEMORY_BYTES].text, values[F_MEMORY_BYTES].length, 0,
			   &record->bytes))
		record->flags |= MODEL_MEMORY_CHANGE;
	if (number_of(&values[F_ALLOCATED], &record->allocated))
		record->flags |= MODEL_MEMORY_ALLOCATED;
	if (number_of(&values[F_RESERVED], &record->reserved))
		record->flags |= MODEL_MEMORY_RESERVED;
	number_of(&values[F_ADDRESS], &record->address);
	if (number_of(&values[F_DEVICE_TYPE], &number) && number == 0)
		record->flags |= MODEL_MEMORY_HOST;
	if (number_of(&values[F_DEVICE_ID], &number) && number <= UINT32_MAX)
		record->device = (uint32_t)number;
	memory.pid = number_of(&values[F_PID], &pid) && pid <= UINT32_MAX ? (uint32_t)pid : 0;
	return MODEL_PUSH(&file->memory, memory) ? 0 : -ENOMEM;
}

static int add_device_name(struct pytorch *file, const struct json_value *values)
{
	uint32_t name = model_string(file->import->model, text_of(&values[F_NAME]));
	uint64_t number;

	if (name == INDEX_NONE)
		return -ENOMEM;
	if (!name || !number_of(&values[F_ID], &number))
		return 0;
	return map_put(&file->device_names, number, name) ? 0 : -ENOMEM;
}

/* Only arrows between passes are stored: the events at the ends of other arrows have ids that join them. */
static int add_arrow(struct pytorch *file, const struct json_value *values, char phase)
{
	struct pass_arrow_end end = { .begins = phase == 's' };
	uint64_t pid;

	if (strcmp(text_of(&values[F_CAT]), PASS_ARROW_CATEGORY) != 0)
		return 0;
	if (!number_of(&values[F_ID], &end.id) || !number_of(&values[F_PID], &pid) || pid > UINT32_MAX ||
	    !thread_of(&values[F_TID], &end.tid) || !values[F_TS].text ||
	    !decimal_scaled(values[F_TS].text, values[F_TS].length, 3, &end.ns))
		return import_finding(file->import, "arrows between passes from or to nowhere", NULL);
	end.pid = (uint32_t)pid;
	return MODEL_PUSH(&file->arrows.list, end) ? 0 : -ENOMEM;
}

static int add_group(struct pytorch *file, const struct json_value *values)
{
	uint32_t ranks = model_string(file->import->model, text_of(&values[F_GROUP_MEMBERS]));

	if (!is_pipeline_group(text_of(&values[F_GROUP_KIND])))
		return 0;
	return ranks != INDEX_NONE && MODEL_PUSH(&file->pipelines, ranks) ? 0 : -ENOMEM;
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	struct pytorch *file = context;
	enum event event;

	if (strcmp(list, "deviceProperties") == 0)
		return add_device_name(file, values);
	if (strcmp(list, GROUPS) == 0)
		return add_group(file, values);
	if (strcmp(list, "traceEvents") != 0)
		return 0;
	if (strcmp(text_of(&values[F_NAME]), "[memory]") == 0)
		return add_memory(file, values);
	if (strcmp(text_of(&values[F_PH]), "s") == 0 || strcmp(text_of(&values[F_PH]), "f") == 0)
		return add_arrow(file, values, *values[F_PH].text);
	if (strcmp(text_of(&values[F_PH]), "X") != 0)
		return 0;
	event = event_of(&values[F_CAT]);
	if (event == EVENT_CALL)
		return add_host_call(file, values);
	if (event == EVENT_OPERATOR || event == EVENT_PYTHON || event == EVENT_RANGE) {
		int err = add_scope(file, values, event);

		return err ? err : add_mark(file, values);
	}
	return event == EVENT_OTHER ? add_mark(file, values) : add_gpu_task(file, values, event);
}

static int on_scalar(void *context, const char *key, const struct json_value *value)
{
	struct pytorch *file = context;
	uint64_t rank;

	if (strcmp(key, "distributedInfo.rank") == 0 && number_of(value, &rank) &&
	    rank < INDEX_NONE) {
		file->has_rank = true;
		file->rank = (uint32_t)rank;
	}
	if (strcmp(key, "baseTimeNanoseconds") == 0 && value->text &&
	    decimal_is_rounded(value->text, value->length, 0))
		return import_damage(file->import,
				     "a baseTimeNanoseconds that lost digits, as spreadsheets save them: the file's "
				     "times are relative to an unknown time (export the file again)",
				     value->text);
	if (strcmp(key, "baseTimeNanoseconds") == 0 &&
	    !decimal_scaled(value->text, value->length, 0, &file->base_ns))
		return import_finding(file->import, "a baseTimeNanoseconds that is no number",
				      value->text);
	return 0;
}

static int import(struct import *import)
{
	struct pytorch file = { .import = import };
	static const char *const LISTS[] = { "traceEvents", "deviceProperties", GROUPS, NULL };
	const struct json_reader reader = { .keys = KEYS,
					    .lists = LISTS,
					    .object = on_object,
					    .scalar = on_scalar,
					    .context = &file,
					    .units = UNITS,
					    .rounded = import_rounded,
					    .rounded_context = import,
					    .place = &import->place };
	char damage[256] = "";
	int err = json_objects_read(import->path, &reader, damage, sizeof(damage));

	import_rows_begin(&file.rows, import);
	/* Data before the damage is valid. */
	err = import_end_reading(import, err, file.tasks.count + file.calls.count + file.scopes.count,
				 damage);
	if (!err)
		err = pytorch_put_rows(&file);
	import_rows_free(&file.rows);
	map_free(&file.device_names);
	map_free(&file.common_map);
	free(file.commons.row);
	import_tracks_free(&file.tracks);
	free(file.calls.row);
	free(file.tasks.row);
	free(file.marks.row);
	free(file.memory.row);
	free(file.operators.row);
	free(file.scopes.row);
	free(file.metrics.row);
	free(file.pipelines.row);
	free(file.arrows.list.row);
	return err;
}

const struct importer import_pytorch = {
	.name = "pytorch",
	.what = "a PyTorch profiler (Kineto) trace",
	.detect = detect,
	.import = import,
};
