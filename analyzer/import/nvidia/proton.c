/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles of Triton's proton for hatchet (*.hatchet): sums of kernels by the place of their launch.
 *
 * The root is a list: a tree of {"frame": {"name"}, "metrics": {...}, "children": [...]}, followed by devices:
 * {"CUDA": {"0": {"arch": "90"}}}. A node with the metrics "time (ns)", "count", "device_type" and "device_id" is a
 * kernel; nodes above it are scopes and frames: some files give them a time, too, of 0, and no device. Sums are by
 * kernel and enclosing scopes. Known metrics: from proton's tests and triton_kernels' benchmarks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/readers/json_file.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED
#define PATH_MOST 1024 /* bytes of the names of enclosing scopes */

struct proton {
	struct import *import;
	struct import_rows rows;
	yajl_val devices; /* the list's second member, or NULL */
	bool more; /* kernels have metrics that are not imported */
};

static int detect(const struct import_sample *sample)
{
	const char *text = sample->text + strspn(sample->text, " \t\r\n");

	return !sample->directory && *text == '[' && strstr(text, "\"frame\"") &&
			       strstr(text, "\"metrics\"") && strstr(text, "\"children\"")
		       ? 60
		       : 0;
}

static bool number_of(yajl_val object, const char *key, uint64_t *number)
{
	yajl_val value = json_file_member(object, key);
	const char *text = json_file_number(value);
	int64_t decimal;

	if (!text && YAJL_IS_STRING(value))
		text = YAJL_GET_STRING(value);
	if (!text || !decimal_scaled(text, strlen(text), 0, &decimal) || decimal < 0)
		return false;
	*number = (uint64_t)decimal;
	return true;
}

/* "CUDA 90": the file has the architecture, not the name. */
static uint32_t device_row(struct proton *file, yajl_val metrics)
{
	const char *type = json_file_string(metrics, "device_type"), *arch = NULL;
	char name[96], id[32];
	uint64_t number;

	if (!number_of(metrics, "device_id", &number))
		return INDEX_NONE;
	snprintf(id, sizeof(id), "%llu", (unsigned long long)number);
	if (type)
		arch = json_file_string(json_file_member(json_file_member(file->devices, type), id),
					"arch");
	snprintf(name, sizeof(name), "%s%s%s", type ? type : "unnamed", arch ? " " : "",
		 arch ? arch : "");
	return import_device(&file->rows, number, INDEX_NONE, name, "gpu", "proton", CLOCK);
}

static int put_kernel(struct proton *file, const char *name, const char *within, yajl_val metrics)
{
	struct model *model = file->import->model;
	struct operator_sum sum = { .count = 1,
				    .min_ns = UINT64_MAX,
				    .max_ns = UINT64_MAX,
				    .self_ns = UINT64_MAX,
				    .host_ns = UINT64_MAX,
				    .host_self_ns = UINT64_MAX,
				    .file = file->import->file };

	if (!number_of(metrics, "time (ns)", &sum.total_ns))
		return import_finding(file->import, "kernels without a usable time", name);
	if (!number_of(metrics, "count", &sum.count) || !sum.count)
		sum.count = 1;
	sum.name = model_string(model, *name ? name : "unnamed");
	sum.type = model_string(model, within);
	sum.device = device_row(file, metrics);
	file->more |= metrics->u.object.len > 4;
	if (file->import->error[0])
		return -E2BIG;
	return sum.name != INDEX_NONE && sum.type != INDEX_NONE &&
			       MODEL_PUSH(&model->operator_sums, sum)
		       ? 0
		       : -ENOMEM;
}

/* A scope's time is 0, or it has no device; a kernel with nested kernels has both. */
static bool is_kernel(yajl_val metrics, bool has_children)
{
	uint64_t time_ns = 0;

	if (!json_file_member(metrics, "time (ns)"))
		return false;
	return !has_children || !number_of(metrics, "time (ns)", &time_ns) ||
	       (time_ns && json_file_member(metrics, "device_id"));
}

/* @within: names of the enclosing nodes, separated by "/"; trees are at most JSON_DEPTH_MAX deep. */
static int read_node(struct proton *file, yajl_val node, const char *within)
{
	const char *name = json_file_string(json_file_member(node, "frame"), "name");
	yajl_val metrics = json_file_member(node, "metrics");
	yajl_val children = json_file_list(node, "children");
	bool inner = children && children->u.array.len;
	char *path;
	int err = 0;

	name = name ? name : "";
	if (is_kernel(metrics, inner))
		err = put_kernel(file, name, within, metrics);
	if (err || !inner)
		return err;
	path = malloc(PATH_MOST);
	if (!path)
		return -ENOMEM;
	/* The root's name is meaningless. */
	snprintf(path, PATH_MOST, "%s%s%s", within, *within && *name ? "/" : "",
		 strcmp(name, "ROOT") == 0 ? "" : name);
	for (size_t i = 0; i < children->u.array.len && !err; i++)
		err = read_node(file, children->u.array.values[i], path);
	free(path);
	return err;
}

static int import(struct import *import)
{
	struct proton file = { .import = import };
	uint32_t sums = import->model->operator_sums.count;
	char error[256] = "";
	int err = 0;
	yajl_val tree = json_file_read(import->path, &err, error, sizeof(error));

	if (!tree)
		return import_fail(import, err, "%s", error);
	import_rows_begin(&file.rows, import);
	if (YAJL_IS_ARRAY(tree) && tree->u.array.len) {
		file.devices = tree->u.array.len > 1 ? tree->u.array.values[1] : NULL;
		err = read_node(&file, tree->u.array.values[0], "");
	}
	if (!err && import->model->operator_sums.count == sums)
		err = import_finding(import, "no kernel with a time: nothing is known of any device",
				     NULL);
	if (!err && file.more)
		err = import_finding(import, "of kernels only count and time are taken", NULL);
	import_rows_free(&file.rows);
	yajl_tree_free(tree);
	return err;
}

const struct importer import_proton = {
	.name = "proton",
	.what = "a profile of Triton's proton",
	.detect = detect,
	.import = import,
};
