/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MegEngine's dynamic profile, PID.chrome_timeline.json.
 *
 * A Chrome trace in which threads named as a device ("gpu0:0") have its tasks: events of category Kernel,
 * HostToDevice and copies; other events there are the program's scopes. A flow KernelLaunch leads from an operator
 * on the host's thread "worker" to its kernel; inside of the operator "Input 3" and "Output 4" have shapes and data
 * types. Counters "gpu0:0_alloc_mem" are a device's memory in use. "ts" is microseconds since metadata.localTime,
 * which is nanoseconds since 1970. Source: imperative/src/impl/profiler/chrome_timeline.cpp of MegEngine.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_objects.h"
#include "analyzer/import/task_find.h"

#define NANOSECONDS_2001 1000000000000000000
#define OPEN_MAX 256 /* maximum number of open events per thread */

#define SHAPES_MAX 4096 /* bytes of an operator's shapes as text */
#define MEMORY_COUNTER "_alloc_mem"

enum field {
	F_PH,
	F_NAME,
	F_CAT,
	F_PID,
	F_TID,
	F_TS,
	F_ID,
	F_LABEL,
	F_BYTES,
	F_SHAPE,
	F_TYPE,
	F_ELEMENTS,
	F_VALUE,
	FIELDS
};

static const char *const KEYS[] = { "ph",	  "name",	"cat",	      "pid",
				    "tid",	  "ts",		"id",	      "args.name",
				    "args.bytes", "args.shape", "args.dtype", "args.nr_elements",
				    "args.value", NULL };

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

static const uint8_t UNITS[FIELDS] = { [F_TS] = DECIMAL_US };

/* An event; it has ended if end_ns is set. */
struct mge_event {
	int64_t start_ns;
	int64_t end_ns; /* -1 = not yet */
	uint64_t launch; /* id of the flow; 0 = none */
	uint64_t bytes;
	uint32_t thread; /* row of threads */
	uint32_t name;
	uint32_t outer; /* enclosing event, MAP_NONE = none */
	uint32_t shapes[2]; /* strings: of inputs, outputs */
	uint32_t types[2];
	bool kernel; /* of a kind that a device runs */
	bool copy;
	bool launches;
};

struct mge_thread {
	uint64_t tid;
	uint32_t name;
	uint32_t open; /* innermost open event of a kernel, MAP_NONE = none */
	uint32_t open_other; /* the same for other events */
	uint32_t depth;
};

struct megengine {
	struct import *import;
	struct import_rows rows;
	struct map thread_rows; /* tid -> row */
	struct map launches; /* id of a flow -> launching event */
	MODEL_ARRAY(struct mge_thread) threads;
	MODEL_ARRAY(struct mge_event) events;
	MODEL_ARRAY(struct memory_record) memory; /* times are the file's */
	int64_t base_ns;
	uint32_t pid;
	uint8_t clock;
};

static int detect(const struct import_sample *sample)
{
	if (sample->directory || !strstr(sample->text, "\"traceEvents\""))
		return 0;
	return strstr(sample->text, "\"OpDispatch\"") || strstr(sample->text, "\"gpu_usgae_ratio\"")
		       ? 80
		       : 0;
}

static const char *text_of(const struct json_value *value)
{
	return value->text ? value->text : "";
}

static uint64_t number_of(const struct json_value *value)
{
	uint64_t number = 0;

	if (value->text && !decimal_unsigned(value->text, value->length, &number))
		number = 0;
	return number;
}

static struct mge_thread *thread_of(struct megengine *file, uint64_t tid, uint32_t *row)
{
	struct mge_thread new = { .tid = tid, .open = MAP_NONE, .open_other = MAP_NONE };

	*row = map_get(&file->thread_rows, tid);
	if (*row == MAP_NONE) {
		if (file->threads.count >= IMPORT_TRACKS_MAX) {
			import_too_many_tracks(file->import);
			return NULL;
		}
		*row = file->threads.count;
		if (!MODEL_PUSH(&file->threads, new) || !map_put(&file->thread_rows, tid, *row))
			return NULL;
	}
	return &file->threads.row[*row];
}

static int name_thread(struct megengine *file, const struct json_value *values)
{
	uint32_t name = model_string(file->import->model, values[F_LABEL].text), row;
	struct mge_thread *thread;

	if (strcmp(text_of(&values[F_NAME]), "thread_name") != 0 || !values[F_TID].text)
		return 0;
	thread = thread_of(file, number_of(&values[F_TID]), &row);
	if (!thread || name == INDEX_NONE)
		return -ENOMEM;
	thread->name = name;
	return 0;
}

static bool is_kernel(const struct json_value *values, bool *copy)
{
	const char *name = text_of(&values[F_NAME]);

	*copy = strcmp(name, "HostToDevice") == 0;
	return *copy || strcmp(text_of(&values[F_CAT]), "Kernel") == 0;
}

/* @list with one more element: "1,3;64". Returns INDEX_NONE if out of memory. */
static uint32_t append(struct megengine *file, uint32_t list, const char *text, size_t length)
{
	struct model *model = file->import->model;
	const char *before = model_text(model, list);
	char whole[SHAPES_MAX];

	if (strlen(before) + length + 2 > sizeof(whole))
		return list;
	snprintf(whole, sizeof(whole), "%s%s%.*s", before, list ? ";" : "", (int)length, text);
	return model_string(model, whole);
}

/* Adds a tensor to the open operator: "{2,3,32,32}" of "Float32". */
static int add_tensor(struct megengine *file, const struct json_value *values,
		      struct mge_event *event, bool output)
{
	const char *shape = text_of(&values[F_SHAPE]);
	uint32_t *shapes = &event->shapes[output], *types = &event->types[output];

	if (*shape != '{' || !*text_of(&values[F_TYPE]))
		return 0;
	*shapes = append(file, *shapes, shape + 1, strcspn(shape + 1, "}"));
	*types = append(file, *types, values[F_TYPE].text, values[F_TYPE].length);
	return *shapes != INDEX_NONE && *types != INDEX_NONE ? 0 : -ENOMEM;
}

/* Size of a tensor that is copied to a device; 0 = unknown. */
static uint64_t tensor_bytes(const struct json_value *values)
{
	static const struct {
		const char *type;
		uint64_t bytes;
	} SIZES[] = { { "Float32", 4 }, { "Float16", 2 }, { "BFloat16", 2 }, { "Int32", 4 },
		      { "Int16", 2 },	{ "Uint16", 2 },  { "Int8", 1 },     { "Uint8", 1 },
		      { "Bool", 1 } };
	uint64_t elements = number_of(&values[F_ELEMENTS]);

	for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
		if (strcmp(text_of(&values[F_TYPE]), SIZES[i].type) == 0)
			return elements < INT64_MAX / 4 ? elements * SIZES[i].bytes : 0;
	}
	return 0;
}

/* Adds a sample of the counter "gpu0:0_alloc_mem". */
static int add_memory(struct megengine *file, const struct json_value *values, int64_t ts_ns)
{
	const char *name = text_of(&values[F_NAME]), *digits = name + strcspn(name, "0123456789:");
	size_t length = strlen(name);
	struct memory_record record = { .ts_ns = (uint64_t)ts_ns,
					.file = file->import->file,
					.flags = MODEL_MEMORY_ALLOCATED };
	uint64_t device;
	int64_t bytes;

	if (length < strlen(MEMORY_COUNTER) ||
	    strcmp(name + length - strlen(MEMORY_COUNTER), MEMORY_COUNTER) != 0)
		return 0;
	if (!values[F_VALUE].text ||
	    !decimal_scaled(values[F_VALUE].text, values[F_VALUE].length, 0, &bytes) || bytes < 0)
		return import_finding(file->import, "memory counters without a value", name);
	record.allocated = (uint64_t)bytes;
	if (decimal_unsigned(digits, strspn(digits, "0123456789"), &device) && device < INDEX_NONE)
		record.device = (uint32_t)device;
	if (strncmp(name, "cpu", 3) == 0)
		record.flags |= MODEL_MEMORY_HOST;
	return MODEL_PUSH(&file->memory, record) ? 0 : -ENOMEM;
}

static int begin_event(struct megengine *file, const struct json_value *values, int64_t ts_ns)
{
	struct mge_event event = { .start_ns = ts_ns,
				   .end_ns = -1,
				   .bytes = number_of(&values[F_BYTES]),
				   .name = model_string(file->import->model, values[F_NAME].text) };
	struct mge_thread *thread = thread_of(file, number_of(&values[F_TID]), &event.thread);
	const char *name = text_of(&values[F_NAME]);
	bool output = strncmp(name, "Output ", 7) == 0;
	uint32_t *open;

	if (!thread || event.name == INDEX_NONE)
		return -ENOMEM;
	if (thread->depth == OPEN_MAX)
		return import_finding(file->import, "events begun inside too many others",
				      values[F_NAME].text);
	event.kernel = is_kernel(values, &event.copy);
	open = event.kernel ? &thread->open : &thread->open_other;
	event.outer = *open;
	if (!event.kernel && event.outer != MAP_NONE &&
	    (output || strncmp(name, "Input ", 6) == 0) &&
	    add_tensor(file, values, &file->events.row[event.outer], output) < 0)
		return -ENOMEM;
	*open = file->events.count;
	thread->depth++;
	return MODEL_PUSH(&file->events, event) ? 0 : -ENOMEM;
}

static int end_event(struct megengine *file, const struct json_value *values, int64_t ts_ns)
{
	bool copy, kernel = is_kernel(values, &copy);
	struct mge_thread *thread;
	struct mge_event *event;
	uint32_t row, *open;

	thread = thread_of(file, number_of(&values[F_TID]), &row);
	if (!thread)
		return -ENOMEM;
	open = kernel ? &thread->open : &thread->open_other;
	if (*open == MAP_NONE)
		return import_finding(file->import, "ends of events that never began: the recording began "
						    "inside them",
				      values[F_NAME].text);
	event = &file->events.row[*open];
	event->end_ns = ts_ns;
	*open = event->outer;
	thread->depth--;
	if (!copy)
		return 0;
	if (!event->bytes)
		event->bytes = tensor_bytes(values);
	return add_tensor(file, values, event, false);
}

/* Joins the open operator of the host's thread with the open kernel of the device's. */
static int on_flow(struct megengine *file, const struct json_value *values, char phase)
{
	uint64_t id = number_of(&values[F_ID]);
	struct mge_thread *thread;
	uint32_t row;

	if (strcmp(text_of(&values[F_CAT]), "KernelLaunch") != 0)
		return 0;
	thread = thread_of(file, number_of(&values[F_TID]), &row);
	if (!thread)
		return -ENOMEM;
	/* Ids start at 0, which means "none" in launch. */
	if (phase == 'f' && thread->open != MAP_NONE)
		file->events.row[thread->open].launch = id + 1;
	if (phase != 's' || thread->open_other == MAP_NONE)
		return 0;
	if (!file->events.row[thread->open_other].launches)
		file->events.row[thread->open_other].launch = id + 1;
	file->events.row[thread->open_other].launches = true;
	return map_put(&file->launches, id + 1, thread->open_other) ? 0 : -ENOMEM;
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	struct megengine *file = context;
	const char *phase = text_of(&values[F_PH]);
	int64_t ts_ns;

	if (phase[0] == 'M')
		return name_thread(file, values);
	if (!phase[0] || !strchr("BEsfC", phase[0]))
		return 0;
	if (!values[F_TS].text ||
	    !decimal_scaled(values[F_TS].text, values[F_TS].length, 3, &ts_ns) || ts_ns < 0)
		return import_finding(file->import, "events without a usable time",
				      values[F_NAME].text);
	file->pid = (uint32_t)number_of(&values[F_PID]);
	if (phase[0] == 'C')
		return add_memory(file, values, ts_ns);
	if (phase[0] == 'B')
		return begin_event(file, values, ts_ns);
	return phase[0] == 'E' ? end_event(file, values, ts_ns) : on_flow(file, values, phase[0]);
}

static int on_scalar(void *context, const char *key, const struct json_value *value)
{
	struct megengine *file = context;

	if (strcmp(key, "metadata.localTime") == 0 &&
	    (!decimal_scaled(value->text, value->length, 0, &file->base_ns) || file->base_ns < 0))
		file->base_ns = 0;
	return 0;
}

/* Sets the number of the device of a thread named "gpu0:0", "cpu0:0", ...; returns false for other threads. */
static bool is_device(const struct megengine *file, const struct mge_thread *thread,
		      uint64_t *number)
{
	const char *name = model_text(file->import->model, thread->name);
	size_t word = strcspn(name, "0123456789:");

	*number = 0;
	if (!word || !strchr(name, ':'))
		return false;
	if (!decimal_unsigned(name + word, strspn(name + word, "0123456789"), number))
		*number = 0;
	return true;
}

static bool instants(const struct megengine *file, const struct mge_event *event, uint64_t *from,
		     uint64_t *to)
{
	int64_t start_ns, end_ns;

	if (event->end_ns < event->start_ns ||
	    __builtin_add_overflow(event->start_ns, file->base_ns, &start_ns) ||
	    __builtin_add_overflow(event->end_ns, file->base_ns, &end_ns))
		return false;
	*from = (uint64_t)start_ns;
	*to = (uint64_t)end_ns;
	return true;
}

static int put_call(struct megengine *file, const struct mge_event *event)
{
	struct model *model = file->import->model;
	struct call call = { .args = { event->launch }, .task = INDEX_NONE };

	if (!instants(file, event, &call.start_ns, &call.end_ns))
		return 0;
	call.thread = import_thread(&file->rows, file->pid, file->threads.row[event->thread].tid,
				    call.start_ns);
	call.function = import_function(&file->rows, "megengine", model_text(model, event->name),
					PROFBPF__FUNCTION__KIND__LAUNCH);
	if (call.thread == INDEX_NONE || call.function == INDEX_NONE ||
	    !MODEL_PUSH(&model->calls, call))
		return -ENOMEM;
	return 0;
}

/* Adds shapes and types: a copy has its own tensor, a kernel those of the operator that launched it. */
static bool describe(struct megengine *file, const struct mge_event *event,
		     struct device_task *task)
{
	struct model *model = file->import->model;
	struct task_detail detail = task_detail_unknown();

	detail.input_shapes = event->shapes[0];
	detail.input_types = event->types[0];
	detail.output_shapes = event->shapes[1];
	detail.output_types = event->types[1];
	if (!detail.input_types && !detail.output_types)
		return true;
	if (!MODEL_PUSH(&model->task_details, detail))
		return false;
	task->detail = model->task_details.count;
	return true;
}

static int put_task(struct megengine *file, const struct mge_event *event, uint64_t device)
{
	struct model *model = file->import->model;
	const struct mge_thread *thread = &file->threads.row[event->thread];
	uint32_t launch = event->launch ? map_get(&file->launches, event->launch) : MAP_NONE;
	struct device_task task = { .stream = thread->tid,
				    .bytes = event->bytes,
				    .correlation = event->launch,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .name = event->name,
				    .kind = event->copy ? PROFBPF__DEVICE_TASKS__KIND__COPY
							: PROFBPF__DEVICE_TASKS__KIND__KERNEL };
	uint64_t start_ns, end_ns;

	if (!instants(file, event, &task.start_ns, &task.end_ns))
		return import_finding(file->import, "events that never end: the recording ended inside them",
				      model_text(model, event->name));
	task.device =
		import_device(&file->rows, device, import_process(&file->rows, file->pid),
			      model_text(model, thread->name),
			      strncmp(model_text(model, thread->name), "cpu", 3) ? "gpu" : "cpu",
			      "megengine", file->clock);
	if (task.device == INDEX_NONE)
		return -ENOMEM;
	if (launch != MAP_NONE && instants(file, &file->events.row[launch], &start_ns, &end_ns)) {
		task.enqueue_ns = import_host_time(&file->rows, file->clock, start_ns);
		task.enqueue_dur_ns = end_ns - start_ns;
		task.thread = import_thread(&file->rows, file->pid,
					    file->threads.row[file->events.row[launch].thread].tid,
					    task.enqueue_ns);
	}
	if (!describe(file, launch == MAP_NONE ? event : &file->events.row[launch], &task))
		return -ENOMEM;
	return import_task(&file->rows, &task);
}

static int put_memory(struct megengine *file, struct memory_record record)
{
	int64_t ts_ns;

	if (__builtin_add_overflow((int64_t)record.ts_ns, file->base_ns, &ts_ns))
		return import_finding(file->import, "memory counters outside of any time", NULL);
	record.ts_ns = import_host_time(&file->rows, file->clock, (uint64_t)ts_ns);
	record.process = import_process(&file->rows, file->pid);
	if (!record.ts_ns)
		return import_finding(file->import, "memory records outside of the trace: no clock snapshot "
						    "of the recording reaches them (give the device file of "
						    "the same run)", NULL);
	return MODEL_PUSH(&file->import->model->memory_records, record) ? 0 : -ENOMEM;
}

static int put_rows(struct megengine *file)
{
	uint32_t tasks = file->import->model->tasks.count;
	uint64_t device;
	int err = 0;

	/* 0 stands for "not reported". */
	if (!file->base_ns)
		file->base_ns = 1;
	file->clock = file->base_ns > NANOSECONDS_2001 ? PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
						       : PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
	for (uint32_t i = 0; i < file->events.count && !err; i++) {
		const struct mge_event *event = &file->events.row[i];

		if (event->kernel && is_device(file, &file->threads.row[event->thread], &device))
			err = put_task(file, event, device);
		else if (event->launches && file->import->alone)
			err = put_call(file, event);
	}
	for (uint32_t i = 0; i < file->memory.count && !err; i++)
		err = put_memory(file, file->memory.row[i]);
	if (!err && file->import->model->tasks.count == tasks)
		err = import_finding(file->import,
				     "no kernels: nothing is known of any device (profile_device)",
				     NULL);
	return err;
}

static int import(struct import *import)
{
	static const char *const LISTS[] = { "traceEvents", NULL };
	struct megengine file = { .import = import };
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
	int err;

	import_rows_begin(&file.rows, import);
	err = json_objects_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, file.events.count, damage);
	if (!err)
		err = put_rows(&file);
	import_rows_free(&file.rows);
	map_free(&file.thread_rows);
	map_free(&file.launches);
	free(file.threads.row);
	free(file.events.row);
	free(file.memory.row);
	return err;
}

const struct importer import_megengine = {
	.name = "megengine",
	.what = "a MegEngine timeline (*.chrome_timeline.json)",
	.detect = detect,
	.import = import,
};
