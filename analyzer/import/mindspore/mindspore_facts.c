/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a device as a whole by MindSpore's profiler, each in a small JSON file per device or rank:
 * flops_summary_<n>.json (amount of computation), flops_scope_<n>.json (the same by scope of the network),
 * memory_usage_summary_<n>.json (memory of the graph's tensors, in GiB), profiler_info_<n>.json (the job) and
 * parallel_strategy_<n>.json (distribution of the model over ranks).
 *
 * FLOPs are millions of operations, FLOPS 10^9 per second; since 2.2 by unit, cube_ and vec_. Scopes are edges of a
 * tree, {"data": {"nodes": [...], "links": [{"source": "Total", "target": "Default", "value": FLOPs}]}}; files of
 * 2.0 have none (mindspore/profiler/parser/flops_parser.py).
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

#define GIBIBYTE (1024.0 * 1024 * 1024)

struct facts_file {
	struct import *import;
	uint32_t device;
};

static int detect(const struct import_sample *sample)
{
	static const char *const WORDS[][2] = {
		{ "FLOPs\"", "FLOPS\"" },
		{ "\"peak_mem\"", "\"capacity\"" },
		{ "\"context_mode\"", "\"rank_id\"" },
		{ "\"stageDevices\"", "\"rankId\"" },
	};
	const char *text = sample->text + strspn(sample->text, " \t\r\n");

	if (sample->directory || *text != '{')
		return 0;
	text += 1 + strspn(text + 1, " \t\r\n");
	if (strncmp(text, "\"data\"", 6) == 0 && strstr(text, "\"nodes\""))
		return 55;
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
		if (strstr(text, WORDS[i][0]) && strstr(text, WORDS[i][1]))
			return 55;
	}
	return 0;
}

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);

	return length >= size && strcmp(name + length - size, end) == 0;
}

static int put_flops(const struct facts_file *file, yajl_val root)
{
	int err = 0;

	for (size_t i = 0; i < root->u.object.len && !err; i++) {
		const char *name = root->u.object.keys[i];
		double number;

		if (!json_file_real(root->u.object.values[i], &number))
			continue;
		if (ends_in(name, "FLOPs"))
			err = device_fact_number(file->import, file->device, "calculations", name,
						 "operations", number * 1e6);
		else if (ends_in(name, "FLOPS"))
			err = device_fact_number(file->import, file->device, "calculations", name,
						 "operations/s", number * 1e9);
		else if (ends_in(name, "tilization"))
			err = device_fact_number(file->import, file->device, "calculations", name,
						 "%", number);
	}
	return err;
}

/* The operations of an inner scope, which are part of its outer scope's. */
struct scope {
	const char *outer;
	const char *inner;
	double operations;
	size_t place;
};

static int by_operations(const void *a, const void *b)
{
	const struct scope *x = a, *y = b;

	if (x->operations != y->operations)
		return x->operations > y->operations ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int read_scopes(const struct facts_file *file, yajl_val links, struct scope *scopes,
		       size_t *count)
{
	int err = 0;

	*count = 0;
	for (size_t i = 0; i < links->u.array.len && !err; i++) {
		yajl_val link = links->u.array.values[i];
		struct scope scope = { .outer = json_file_string(link, "source"),
				       .inner = json_file_string(link, "target"),
				       .place = i };

		if (!scope.outer || !scope.inner ||
		    !json_file_real(json_file_member(link, "value"), &scope.operations)) {
			err = import_finding(file->import, "scopes without a name or a figure",
					     scope.inner);
			continue;
		}
		scope.operations *= 1e6;
		scopes[(*count)++] = scope;
	}
	qsort(scopes, *count, sizeof(*scopes), by_operations);
	return err;
}

/* The largest scopes first: a network has more than reports list. */
static int put_scopes(const struct facts_file *file, yajl_val links)
{
	size_t count;
	struct scope *scopes;
	char name[512];
	int err;

	if (!links || !links->u.array.len)
		return import_finding(file->import, "no scopes in it: MindSpore 2.0 writes none",
				      NULL);
	scopes = calloc(links->u.array.len, sizeof(*scopes));
	err = scopes ? read_scopes(file, links, scopes, &count) : -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		snprintf(name, sizeof(name), "%.250s in %.250s", scopes[i].inner, scopes[i].outer);
		err = device_fact_number(file->import, file->device, "calculations of scopes", name,
					 "operations", scopes[i].operations);
	}
	free(scopes);
	return err;
}

static int put_memory(const struct facts_file *file, yajl_val root)
{
	static const struct {
		const char *key, *name;
		bool bytes;
	} MEMBERS[] = {
		{ "capacity", "capacity", true },	 { "peak_mem", "peak of a graph", true },
		{ "static_mem", "static", true },	 { "allocations", "allocations", false },
		{ "deallocations", "deallocations", false },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]) && !err; i++) {
		double number;

		if (json_file_real(json_file_member(root, MEMBERS[i].key), &number))
			err = device_fact_number(file->import, file->device, "memory",
						 MEMBERS[i].name, MEMBERS[i].bytes ? "bytes" : "",
						 MEMBERS[i].bytes ? rint(number * GIBIBYTE)
								  : number);
	}
	return err;
}

/* Writes a list of dimensions, {"size": "8"}, as text; "" if it is not such a list. */
static void write_devices(yajl_val stages, char *text, size_t size)
{
	FILE *out = fmemopen(text, size - 1, "w");

	for (size_t i = 0; out && stages && i < stages->u.array.len; i++) {
		yajl_val dim = json_file_list(stages->u.array.values[i], "dim");

		if (i)
			fputc(';', out);
		for (size_t k = 0; dim && k < dim->u.array.len; k++) {
			const char *number = json_file_string(dim->u.array.values[k], "size");

			fprintf(out, "%s%s", k ? "," : "", number ? number : "");
		}
	}
	if (out)
		fclose(out);
}

static int put_strategy(const struct facts_file *file, yajl_val root)
{
	yajl_val config = json_file_member(root, "config"), graph = json_file_member(root, "graph");
	yajl_val nodes = json_file_list(graph, "node");
	yajl_val parameters = json_file_list(graph, "parameters");
	char devices[4096] = "";
	int err = device_facts_of(file->import, file->device, "parallel", config);

	write_devices(json_file_list(config, "stageDevices"), devices, sizeof(devices));
	if (!err)
		err = device_fact_text(file->import, file->device, "parallel", "stageDevices",
				       devices);
	if (!err && nodes)
		err = device_fact_number(file->import, file->device, "parallel", "operators", "",
					 (double)nodes->u.array.len);
	if (!err && parameters)
		err = device_fact_number(file->import, file->device, "parallel", "parameters", "",
					 (double)parameters->u.array.len);
	return err || !nodes || !nodes->u.array.len
		       ? err
		       : import_finding(file->import,
					"operators and how each is split: not taken in", NULL);
}

static int put_facts(const struct facts_file *file, yajl_val root)
{
	yajl_val data = json_file_member(root, "data");

	if (json_file_list(data, "nodes"))
		return put_scopes(file, json_file_list(data, "links"));
	if (json_file_member(root, "config") && json_file_member(root, "graph"))
		return put_strategy(file, root);
	if (json_file_member(root, "peak_mem"))
		return put_memory(file, root);
	if (json_file_member(root, "context_mode") || json_file_member(root, "rank_id"))
		return device_facts_of(file->import, file->device, "job", root);
	return put_flops(file, root);
}

static int import(struct import *import)
{
	struct facts_file file = { .import = import };
	uint32_t facts = import->model->device_facts.count;
	uint32_t findings = import->model->findings.count;
	struct import_rows rows = { 0 };
	yajl_val root;
	int err;

	root = json_file_read(import->path, &err, import->error, sizeof(import->error));
	if (!root || !YAJL_IS_OBJECT(root)) {
		yajl_tree_free(root);
		return root ? import_fail(import, -EBADMSG, "no JSON object") : err;
	}
	import_rows_begin(&rows, import);
	file.device = import_same_device(&rows, device_of_file(import->path), "Ascend", "npu",
					 "mindspore", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	err = file.device == INDEX_NONE ? -ENOMEM : put_facts(&file, root);
	if (!err && import->model->device_facts.count == facts &&
	    import->model->findings.count == findings)
		err = import_finding(import, "nothing that is known here", NULL);
	import_rows_free(&rows);
	yajl_tree_free(root);
	return err;
}

const struct importer import_mindspore_facts = {
	.name = "mindspore",
	.what = "figures of a device by MindSpore (flops_summary_*, flops_scope_*, "
		"memory_usage_summary_*, parallel_strategy_*, profiler_info_*.json)",
	.detect = detect,
	.import = import,
};
