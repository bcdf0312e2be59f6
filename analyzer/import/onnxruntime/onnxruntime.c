/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile of a session of ONNX Runtime (SessionOptions.enable_profiling): a root array of complete events.
 *
 * Category Session are steps of a session; its "model_run" is one inference (step_names.h). Category Node with
 * args.provider is the execution of an operator, "NAME_kernel_time": its time is that of the thread that ran or
 * launched it, for any provider. Until 1.14 "_fence_before" and "_fence_after" are beside it. Category Kernel is a
 * GPU's work, of process -1; it follows the event that launched it, whose name is its args.parent_name, unless ONNX
 * Runtime did not find that event. Category Api are calls of HIP. "ts" and "dur" are whole microseconds since the
 * start of the profile. Sessions have one device, which is not named. Format: onnxruntime/core/common/profiler.cc,
 * include/onnxruntime/core/common/gpu_profiler_common.h.
 */
#include "analyzer/import/onnxruntime/onnxruntime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/readers/json_objects.h"

#define SHAPES_MAX 4096 /* bytes of an operator's shapes as text */
#define EXECUTION "_kernel_time"

enum field {
	F_CAT,
	F_NAME,
	F_PH,
	F_PID,
	F_TID,
	F_TS,
	F_DUR,
	F_PROVIDER,
	F_TYPE,
	F_SHAPES,
	F_PARENT,
	F_STREAM,
	F_GRID,
	F_GRID_Y,
	F_GRID_Z,
	F_BLOCK,
	F_BLOCK_Y,
	F_BLOCK_Z,
	F_IN_USE,
	F_HELD,
	F_SIZE,
	FIELDS
};

static const char *const KEYS[] = { "cat",
				    "name",
				    "ph",
				    "pid",
				    "tid",
				    "ts",
				    "dur",
				    "args.provider",
				    "args.op_name",
				    "args.input_type_shape[{}]",
				    "args.parent_name",
				    "args.stream",
				    "args.grid_x",
				    "args.grid_y",
				    "args.grid_z",
				    "args.block_x",
				    "args.block_y",
				    "args.block_z",
				    "args.mem_bytes_in_use",
				    "args.mem_arena_held",
				    "args.output_size",
				    NULL };

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

static const uint8_t UNITS[FIELDS] = { [F_TS] = DECIMAL_US, [F_DUR] = DECIMAL_US };

static int detect(const struct import_sample *sample)
{
	const char *text = sample->text + strspn(sample->text, " \t\r\n");

	if (sample->directory || *text != '[' || !strstr(text, "\"cat\""))
		return 0;
	if (strstr(text, "\"Session\"") &&
	    (strstr(text, "\"session_initialization\"") || strstr(text, "\"model_run\"")))
		return 60;
	return strstr(text, EXECUTION "\"") && strstr(text, "\"op_name\"") ? 60 : 0;
}

static const char *text_of(const struct json_value *value)
{
	return value->text ? value->text : "";
}

static bool number_of(const struct json_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

static bool times_of(const struct json_value *values, int64_t *start_ns, int64_t *dur_ns)
{
	return values[F_TS].text && values[F_DUR].text &&
	       decimal_scaled(values[F_TS].text, values[F_TS].length, 3, start_ns) &&
	       decimal_scaled(values[F_DUR].text, values[F_DUR].length, 3, dur_ns) && *dur_ns >= 0;
}

struct list_text {
	char text[SHAPES_MAX];
	size_t used;
	bool full;
};

static void append(struct list_text *list, const char *from, const char *end)
{
	size_t length = (size_t)(end - from);

	if (list->used + length + 1 > sizeof(list->text)) {
		list->full = true;
		return;
	}
	memcpy(list->text + list->used, from, length);
	list->used += length;
}

/*
 * Converts [{"float":[4,3]},{"int64":[]}] to "4,3;" and "float;int64". Texts of another form, or too long ones, are
 * ignored.
 */
static bool split_shapes(struct model *model, const char *from, struct ort_span *span)
{
	struct list_text shapes = { .used = 0 }, types = { .used = 0 };
	const char *separator = ";", *at = from;

	while ((at = strstr(at, "{\""))) {
		const char *type = at + 2, *type_end = strstr(type, "\":[");
		const char *shape = type_end ? type_end + 3 : NULL;
		const char *end = shape ? strstr(shape, "]}") : NULL;

		if (!end)
			return true;
		if (at > from + 1) {
			append(&types, separator, separator + 1);
			append(&shapes, separator, separator + 1);
		}
		append(&types, type, type_end);
		append(&shapes, shape, end);
		at = end;
	}
	if (shapes.full || types.full)
		return true;
	span->shapes = string_table_add(model->strings, shapes.text, shapes.used);
	span->types = string_table_add(model->strings, types.text, types.used);
	return span->shapes != STRING_NONE && span->types != STRING_NONE;
}

static bool is_execution(const struct json_value *name)
{
	size_t suffix = strlen(EXECUTION);

	return name->length > suffix &&
	       strcmp(name->text + name->length - suffix, EXECUTION) == 0;
}

/* Adds the values that only an executed operator has. */
static int add_operator(struct ort *file, const struct json_value *values, struct ort_span *span)
{
	struct model *model = file->import->model;
	const char *provider = values[F_PROVIDER].text;

	span->provider = model_string(model, provider);
	span->type = model_string(model, values[F_TYPE].text);
	span->name = string_table_add(model->strings, values[F_NAME].text,
				      values[F_NAME].length -
					      (is_execution(&values[F_NAME]) ? strlen(EXECUTION) : 0));
	if (span->provider == INDEX_NONE || span->type == INDEX_NONE || span->name == STRING_NONE ||
	    !split_shapes(model, text_of(&values[F_SHAPES]), span))
		return -ENOMEM;
	/* Whether the arena is the host's is unknown for other providers. */
	if (strcmp(provider, "CPUExecutionProvider") == 0) {
		if (!number_of(&values[F_IN_USE], &span->in_use))
			span->in_use = UINT64_MAX;
		if (!number_of(&values[F_HELD], &span->held))
			span->held = UINT64_MAX;
	} else if (strstr(provider, "CUDA") || strstr(provider, "ROCM") ||
		   strstr(provider, "Tensorrt")) {
		file->gpu = true;
	}
	file->told_more |= values[F_SIZE].text != NULL;
	return 0;
}

static int add_span(struct ort *file, const struct json_value *values)
{
	struct model *model = file->import->model;
	const char *name = text_of(&values[F_NAME]), *category = text_of(&values[F_CAT]);
	struct ort_span span = { .in_use = UINT64_MAX, .held = UINT64_MAX };
	uint64_t pid;
	int err = 0;

	file->last = INDEX_NONE;
	if (!times_of(values, &span.start_ns, &span.dur_ns))
		return import_finding(file->import, "events without a usable time", name);
	if (!number_of(&values[F_PID], &pid) || pid > UINT32_MAX ||
	    !number_of(&values[F_TID], &span.tid))
		return import_finding(file->import, "events of no process or thread", name);
	span.pid = (uint32_t)pid;
	span.call = strcmp(category, "Api") == 0;
	if (strcmp(category, "Node") == 0 && values[F_PROVIDER].text && *name)
		err = add_operator(file, values, &span);
	else
		span.name = model_string(model, name);
	if (err || span.name == INDEX_NONE || !MODEL_PUSH(&file->spans, span))
		return -ENOMEM;
	file->last = file->spans.count - 1;
	return 0;
}

static double product_of(const struct json_value *sides)
{
	double product = 1;

	for (int i = 0; i < 3; i++) {
		uint64_t side = i ? 1 : 0;

		/* The sides of copies are -1. */
		number_of(&sides[i], &side);
		product *= (double)side;
	}
	return product;
}

/* Returns true if the previous event launched the kernel. */
static bool is_parent(const struct ort *file, const struct json_value *parent)
{
	const struct ort_span *span;
	const char *name;

	if (file->last == INDEX_NONE || !parent->text)
		return false;
	span = &file->spans.row[file->last];
	name = model_text(file->import->model, span->name);
	return strncmp(parent->text, name, strlen(name)) == 0 &&
	       (!parent->text[strlen(name)] ||
		(span->provider && strcmp(parent->text + strlen(name), EXECUTION) == 0));
}

static int add_task(struct ort *file, const struct json_value *values)
{
	struct model *model = file->import->model;
	struct ort_task task = { .span = INDEX_NONE,
				 .blocks = product_of(&values[F_GRID]),
				 .threads = product_of(&values[F_BLOCK]) };

	if (!times_of(values, &task.start_ns, &task.dur_ns))
		return import_finding(file->import, "device tasks without usable times: start or duration is "
						    "missing or no number (if there are many, the profiler "
						    "lost events: record less at a time)",
				      text_of(&values[F_NAME]));
	number_of(&values[F_STREAM], &task.stream);
	task.name = model_string(model, values[F_NAME].text);
	if (is_parent(file, &values[F_PARENT])) {
		struct ort_span *span = &file->spans.row[file->last];

		task.span = file->last;
		span->kernels = true;
		if (__builtin_add_overflow(span->kernels_ns, (uint64_t)task.dur_ns,
					   &span->kernels_ns))
			span->kernels_ns = UINT64_MAX;
	}
	return task.name != INDEX_NONE && MODEL_PUSH(&file->tasks, task) ? 0 : -ENOMEM;
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	struct ort *file = context;

	if (list[0])
		return 0;
	if (strcmp(text_of(&values[F_PH]), "X") != 0)
		return import_finding(file->import, "events that are not of ONNX Runtime's kinds",
				      text_of(&values[F_NAME]));
	return strcmp(text_of(&values[F_CAT]), "Kernel") == 0 ? add_task(file, values)
							      : add_span(file, values);
}

static int import(struct import *import)
{
	struct ort file = { .import = import, .last = INDEX_NONE };
	const struct json_reader reader = {
		.keys = KEYS, .object = on_object, .context = &file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = import,
		.place = &import->place
	};
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	err = json_objects_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, file.spans.count + file.tasks.count, damage);
	if (!err)
		err = ort_put_rows(&file);
	import_rows_free(&file.rows);
	free(file.spans.row);
	free(file.tasks.row);
	return err;
}

const struct importer import_onnxruntime = {
	.name = "onnxruntime",
	.what = "a profile of ONNX Runtime",
	.detect = detect,
	.import = import,
};
