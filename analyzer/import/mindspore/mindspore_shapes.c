/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of a network with dynamic shapes, by shape: MindSpore's dynamic_shape_info_<n>.json.
 *
 * For a GPU or CPU {"operator": {step: [{"op_side", "op_type", "op_name", "dur": us, "shape_info": [text, ...]}]},
 * "kernel": {step: [{"op_name", "op_full_name", "dur": us}]}, "operator_type": {...}, "kernel_type": {...}}, for an
 * Ascend {type: [{name: {"op_exe_time": [ms, ...], "op_shape": [text, ...]}}], "op_type": {...}}, where name is the
 * last part of a path (mindspore/profiler/parser/framework_parser.py). The sums by type are skipped: they are sums
 * of the same calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/device_facts.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_file.h"
#include "analyzer/import/operator_calls.h"

#define MILLISECONDS 6
#define MICROSECONDS 3
#define NO_TIME "calls of operators without a time"

static int detect(const struct import_sample *sample)
{
	const char *text = sample->text, *name = strrchr(sample->path, '/');

	if (sample->directory || text[strspn(text, " \t\r\n")] != '{')
		return 0;
	if (strncmp(name ? name + 1 : sample->path, "dynamic_shape_info_", 19) == 0)
		return 70;
	return (strstr(text, "\"op_exe_time\"") && strstr(text, "\"op_shape\"")) ||
			       (strstr(text, "\"op_side\"") && strstr(text, "\"shape_info\""))
		       ? 55
		       : 0;
}

static bool time_of(yajl_val value, int power, uint64_t *ns)
{
	const char *text = json_file_number(value);
	int64_t number;

	if (!text || !decimal_scaled(text, strlen(text), power, &number) || number < 0)
		return false;
	*ns = (uint64_t)number;
	return true;
}

/* A text, or several joined by semicolons; 0 = there is none. */
static uint32_t shapes_of(struct model *model, yajl_val value)
{
	char *text = NULL;
	size_t size = 0;
	uint32_t string;
	FILE *out;

	if (YAJL_IS_STRING(value))
		return model_string(model, YAJL_GET_STRING(value));
	if (!YAJL_IS_ARRAY(value))
		return 0;
	out = open_memstream(&text, &size);
	for (size_t i = 0; out && i < value->u.array.len; i++) {
		if (YAJL_IS_STRING(value->u.array.values[i]))
			fprintf(out, "%s%s", i ? ";" : "",
				YAJL_GET_STRING(value->u.array.values[i]));
	}
	string = out && fclose(out) == 0 ? model_string(model, text) : INDEX_NONE;
	free(text);
	return string;
}

static int add_item(struct operator_calls *calls, yajl_val item, const char *core)
{
	struct model *model = calls->import->model;
	const char *name = json_file_string(item, "op_name");
	const char *side = json_file_string(item, "op_side");
	struct operator_sum call = OPERATOR_CALL_UNKNOWN;

	if (!name || !*name ||
	    !time_of(json_file_member(item, "dur"), MICROSECONDS, &call.total_ns))
		return import_finding(calls->import, NO_TIME, name);
	if (side)
		core = strcmp(side, "cpu") == 0 ? "HOSTCPU" : "GPU";
	call.name = model_string(model, name);
	/* The file's type of a kernel is the function that launched it. */
	call.type = model_string(model, side ? json_file_string(item, "op_type") : NULL);
	call.core = model_string(model, core);
	call.shapes = shapes_of(model, json_file_member(item, "shape_info"));
	return operator_calls_add(calls, &call);
}

/* Adds the items of all steps: {"1": [item, ...], "2": ...} */
static int add_steps(struct import *import, uint32_t device, yajl_val steps, const char *core)
{
	struct operator_calls calls = { .import = import, .device = device };
	int err = 0;

	for (size_t i = 0; YAJL_IS_OBJECT(steps) && i < steps->u.object.len && !err; i++) {
		yajl_val items = steps->u.object.values[i];

		for (size_t k = 0; YAJL_IS_ARRAY(items) && k < items->u.array.len && !err; k++)
			err = add_item(&calls, items->u.array.values[k], core);
	}
	operator_calls_free(&calls);
	return err;
}

/* Adds the calls of one operator: the n-th time belongs to the n-th shape. */
static int add_runs(struct operator_calls *calls, const char *type, const char *name, yajl_val runs)
{
	yajl_val times = json_file_list(runs, "op_exe_time");
	yajl_val shapes = json_file_list(runs, "op_shape");
	struct model *model = calls->import->model;
	int err = 0;

	if (!times || !shapes || times->u.array.len != shapes->u.array.len)
		return import_finding(calls->import, "operators whose times and shapes differ in number",
				      name);
	for (size_t i = 0; i < times->u.array.len && !err; i++) {
		struct operator_sum call = OPERATOR_CALL_UNKNOWN;

		if (!time_of(times->u.array.values[i], MILLISECONDS, &call.total_ns)) {
			err = import_finding(calls->import, NO_TIME, name);
			continue;
		}
		call.name = model_string(model, name);
		call.type = model_string(model, type);
		call.shapes = shapes_of(model, shapes->u.array.values[i]);
		err = operator_calls_add(calls, &call);
	}
	return err;
}

static int add_types(struct import *import, uint32_t device, yajl_val root)
{
	struct operator_calls calls = { .import = import, .device = device };
	int err = 0;

	for (size_t i = 0; i < root->u.object.len && !err; i++) {
		yajl_val items = root->u.object.values[i];

		for (size_t k = 0; YAJL_IS_ARRAY(items) && k < items->u.array.len && !err; k++) {
			yajl_val item = items->u.array.values[k];

			for (size_t n = 0; YAJL_IS_OBJECT(item) && n < item->u.object.len && !err; n++)
				err = add_runs(&calls, root->u.object.keys[i],
					       item->u.object.keys[n], item->u.object.values[n]);
		}
	}
	operator_calls_free(&calls);
	return err;
}

/* A job without kernels used only the CPU. */
static bool is_cpu(yajl_val root)
{
	yajl_val kernels = json_file_member(root, "kernel");

	return !YAJL_IS_OBJECT(kernels) || !kernels->u.object.len;
}

static int add_all(struct import *import, yajl_val root)
{
	yajl_val operators = json_file_member(root, "operator");
	bool ascend = !YAJL_IS_OBJECT(operators), cpu = !ascend && is_cpu(root);
	struct import_rows rows = { 0 };
	uint32_t device;
	int err;

	import_rows_begin(&rows, import);
	device = import_same_device(&rows, device_of_file(import->path),
				    ascend ? "Ascend" : cpu ? "CPU" : "unnamed",
				    ascend ? "npu" : cpu ? "cpu" : "gpu", "mindspore",
				    PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	import_rows_free(&rows);
	if (device == INDEX_NONE)
		return -ENOMEM;
	if (ascend)
		return add_types(import, device, root);
	err = add_steps(import, device, operators, cpu ? "HOSTCPU" : "GPU");
	return err ? err : add_steps(import, device, json_file_member(root, "kernel"), "GPU");
}

static int import(struct import *import)
{
	uint32_t sums = import->model->operator_sums.count;
	yajl_val root;
	int err;

	root = json_file_read(import->path, &err, import->error, sizeof(import->error));
	if (!root)
		return err;
	err = YAJL_IS_OBJECT(root) ? add_all(import, root)
				   : import_fail(import, -EBADMSG, "no JSON object");
	if (!err && import->model->operator_sums.count == sums)
		err = import_finding(import, "no calls of operators in it", NULL);
	yajl_tree_free(root);
	return err;
}

const struct importer import_mindspore_shapes = {
	.name = "mindspore",
	.what = "operators of changing shapes, by MindSpore (dynamic_shape_info_*.json)",
	.detect = detect,
	.import = import,
};
