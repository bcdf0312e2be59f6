/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in use at a graph's operators, as MindSpore writes it for MindInsight: memory_usage_details_<n>.json.
 *
 * {"7": {"graph_id": 7, "static_mem": GiB, "nodes": [{"name", "fullname", "node_id"}], "lines": [GiB in use at each
 * of them], "breakdowns": [[{"tensor_name", "type", "size": GiB}], ...]}}, breakdowns by node_id, often of the
 * first node only (mindspore/profiler/parser/memory_usage_parser.py). Of more than 2,000 nodes only every n-th is
 * listed, so the peak is that of the listed nodes. memory_usage_<n>.pb, from which MindSpore computes this file,
 * has the same for all operators and tensors: its facts of a graph take precedence.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/device_facts.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_file.h"
#include "lib/base/map.h"

#define GIBIBYTE (1024.0 * 1024 * 1024)
#define SHOWN 10 /* largest tensors at the peak */

struct graphs_file {
	struct import *import;
	uint32_t device;
	struct map told; /* topics of the device that other files already have */
};

struct part {
	const char *name;
	const char *type;
	double bytes;
};

static int detect(const struct import_sample *sample)
{
	const char *text = sample->text, *name = strrchr(sample->path, '/');

	if (sample->directory || text[strspn(text, " \t\r\n")] != '{')
		return 0;
	if (strncmp(name ? name + 1 : sample->path, "memory_usage_details_", 21) == 0)
		return 70;
	return strstr(text, "\"graph_id\"") && strstr(text, "\"nodes\"") &&
			       strstr(text, "\"fp_start\"")
		       ? 55
		       : 0;
}

static bool bytes_of(yajl_val gibibytes, double *bytes)
{
	if (!json_file_real(gibibytes, bytes) || *bytes < 0)
		return false;
	*bytes = rint(*bytes * GIBIBYTE);
	return true;
}

/* Finds the place with most memory in use; returns false if there is none. */
static bool find_peak(yajl_val lines, size_t *place, double *peak)
{
	bool found = false;

	for (size_t i = 0; lines && i < lines->u.array.len; i++) {
		double bytes;

		if (!bytes_of(lines->u.array.values[i], &bytes) || (found && bytes <= *peak))
			continue;
		found = true;
		*peak = bytes;
		*place = i;
	}
	return found;
}

static int by_size(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

/* Adds the largest tensors of a list; tensors without size or name are skipped. */
static int put_tensors(const struct graphs_file *file, const char *topic, yajl_val tensors)
{
	struct part *parts = calloc(tensors->u.array.len + 1, sizeof(*parts));
	size_t count = 0;
	int err = parts ? 0 : -ENOMEM;

	for (size_t i = 0; parts && i < tensors->u.array.len; i++) {
		yajl_val tensor = tensors->u.array.values[i];
		struct part part = { .name = json_file_string(tensor, "tensor_name"),
				     .type = json_file_string(tensor, "type") };

		if (part.name && *part.name &&
		    bytes_of(json_file_member(tensor, "size"), &part.bytes))
			parts[count++] = part;
	}
	if (count)
		qsort(parts, count, sizeof(*parts), by_size);
	for (size_t i = 0; i < count && i < SHOWN && !err; i++) {
		char name[256];

		snprintf(name, sizeof(name), "at the peak: %.100s %.120s",
			 parts[i].type ? parts[i].type : "", parts[i].name);
		err = device_fact_number(file->import, file->device, topic, name, "bytes",
					 parts[i].bytes);
	}
	free(parts);
	return err;
}

static int put_peak(const struct graphs_file *file, const char *topic, yajl_val graph, size_t place)
{
	yajl_val nodes = json_file_list(graph, "nodes"), node;
	yajl_val breakdowns = json_file_list(graph, "breakdowns");
	const char *name;
	int64_t id;
	char text[256];
	int err;

	if (!nodes || place >= nodes->u.array.len)
		return 0;
	node = nodes->u.array.values[place];
	name = json_file_string(node, "fullname");
	name = name && *name ? name : json_file_string(node, "name");
	id = json_file_integer(node, "node_id", -1);
	snprintf(text, sizeof(text), "%.230s", name ? name : "");
	err = device_fact_text(file->import, file->device, topic, "peak at", text);
	if (err || id < 0 || !breakdowns || (uint64_t)id >= breakdowns->u.array.len ||
	    !YAJL_IS_ARRAY(breakdowns->u.array.values[id]))
		return err;
	return put_tensors(file, topic, breakdowns->u.array.values[id]);
}

static int put_graph(const struct graphs_file *file, const char *key, yajl_val graph)
{
	char topic[64];
	uint32_t string;
	double bytes, peak = 0;
	size_t place = 0;
	int err = 0;

	snprintf(topic, sizeof(topic), "memory of graph %.40s", key);
	string = model_string(file->import->model, topic);
	if (string == INDEX_NONE)
		return -ENOMEM;
	if (map_get(&file->told, string) != MAP_NONE)
		return 0;
	if (!find_peak(json_file_list(graph, "lines"), &place, &peak))
		return import_finding(file->import, "graphs without operators", key);
	if (bytes_of(json_file_member(graph, "static_mem"), &bytes))
		err = device_fact_number(file->import, file->device, topic, "static", "bytes", bytes);
	if (!err)
		err = device_fact_number(file->import, file->device, topic,
					 "peak of operators listed", "bytes", peak);
	return err ? err : put_peak(file, topic, graph, place);
}

static int find_told(struct graphs_file *file)
{
	const struct model *model = file->import->model;

	for (uint32_t i = 0; i < model->device_facts.count; i++) {
		const struct device_fact *row = &model->device_facts.row[i];

		if (row->device == file->device && !map_put(&file->told, row->topic, i))
			return -ENOMEM;
	}
	return 0;
}

static int put_graphs(struct graphs_file *file, yajl_val root)
{
	struct import_rows rows = { 0 };
	int err;

	import_rows_begin(&rows, file->import);
	file->device = import_same_device(&rows, device_of_file(file->import->path), "Ascend", "npu",
					  "mindspore", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	import_rows_free(&rows);
	err = file->device == INDEX_NONE ? -ENOMEM : find_told(file);
	for (size_t i = 0; i < root->u.object.len && !err; i++)
		err = put_graph(file, root->u.object.keys[i], root->u.object.values[i]);
	map_free(&file->told);
	return err;
}

static int import(struct import *import)
{
	struct graphs_file file = { .import = import };
	yajl_val root;
	int err;

	root = json_file_read(import->path, &err, import->error, sizeof(import->error));
	if (!root)
		return err;
	if (!YAJL_IS_OBJECT(root))
		err = import_fail(import, -EBADMSG, "no JSON object");
	else if (!root->u.object.len)
		err = import_finding(import, "no graphs in it", NULL);
	else
		err = put_graphs(&file, root);
	yajl_tree_free(root);
	return err;
}

const struct importer import_mindspore_graphs = {
	.name = "mindspore",
	.what = "what a graph's operators have in use, by MindSpore (memory_usage_details_*.json)",
	.detect = detect,
	.import = import,
};
