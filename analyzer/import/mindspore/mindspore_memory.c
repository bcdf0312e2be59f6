/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a graph's tensors, as planned by MindSpore (r1.2 to 2.3): memory_usage_<n>.pb.
 *
 * mindspore.profiler.MemoryProto: graphs (1: id 1, static bytes 2, operators in the order in which they run 3,
 * tensors 4). Operator: name 1. Tensor: size 2, type 3, first and last operator of its lifetime at 4 and 5, by
 * place, and 6, which of these are valid: "LifeLongNone" both, "LifeLongGraphStart" the last, "LifeLongGraphEnd"
 * the first, "LifeLongGraphAll" none. The memory in use at an operator is the static part and all tensors that are
 * alive (MindInsight's curve).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/device_facts.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/proto_fields.h"

#define SIZE_MAX_BYTES (1ull << 50) /* larger tensors are impossible */
#define SHOWN 10 /* largest tensors at the peak */
#define TEXT_SIZE 256

struct tensor {
	struct proto_message type;
	struct proto_message life;
	uint64_t bytes;
	uint64_t from; /* place of the first operator */
	uint64_t to; /* exclusive */
};

struct graph {
	uint64_t id;
	uint64_t static_bytes;
	MODEL_ARRAY(struct proto_message) operators; /* names */
	MODEL_ARRAY(struct tensor) tensors;
};

struct plan_file {
	struct import *import;
	uint32_t device;
	bool any;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Many messages have such fields: the name has to match, too. */
static int detect(const struct import_sample *sample)
{
	struct proto_message start = { (const uint8_t *)sample->text,
				       (const uint8_t *)sample->text + sample->size };
	const char *name = base_name(sample->path);
	struct proto_field field = { 0 };

	if (sample->directory || strncmp(name, "memory_usage_", 13) != 0 || !strstr(name, ".pb"))
		return 0;
	return proto_next(&start, &field) != 0 && (field.number == 1 || field.number == 2) ? 60 : 0;
}

static int add_operator(struct graph *graph, struct proto_message message)
{
	struct proto_message name = { 0 };
	struct proto_field field;

	while (proto_next(&message, &field) == 1) {
		if (field.number == 1)
			name = field.bytes;
	}
	return MODEL_PUSH(&graph->operators, name) ? 0 : -ENOMEM;
}

static int add_tensor(struct graph *graph, struct proto_message message)
{
	struct tensor tensor = { 0 };
	struct proto_field field;

	while (proto_next(&message, &field) == 1) {
		switch (field.number) {
		case 2: tensor.bytes = field.value; break;
		case 3: tensor.type = field.bytes; break;
		case 4: tensor.from = field.value; break;
		case 5: tensor.to = field.value; break;
		case 6: tensor.life = field.bytes; break;
		}
	}
	return MODEL_PUSH(&graph->tensors, tensor) ? 0 : -ENOMEM;
}

/* Computes the tensor's lifetime within the graph; returns false if it is impossible. */
static bool place_tensor(struct tensor *tensor, uint64_t operators)
{
	bool start = !proto_is(&tensor->life, "LifeLongGraphAll") &&
		     !proto_is(&tensor->life, "LifeLongGraphStart");
	bool end = !proto_is(&tensor->life, "LifeLongGraphAll") &&
		   !proto_is(&tensor->life, "LifeLongGraphEnd");

	if (!start)
		tensor->from = 0;
	tensor->to = end && tensor->to < operators ? tensor->to + 1 : operators;
	return tensor->bytes < SIZE_MAX_BYTES && tensor->from < tensor->to;
}

/* Finds the operator with most memory in use. Returns 0 or -ENOMEM. */
static int find_peak(struct plan_file *file, struct graph *graph, uint64_t *place, uint64_t *peak)
{
	int64_t *changes = calloc((size_t)graph->operators.count + 1, sizeof(*changes));
	uint64_t used = graph->static_bytes;
	int err = changes ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < graph->tensors.count && !err; i++) {
		struct tensor *tensor = &graph->tensors.row[i];

		if (!place_tensor(tensor, graph->operators.count)) {
			tensor->to = tensor->from = 0;
			err = import_finding(file->import, "tensors that live nowhere", NULL);
			continue;
		}
		changes[tensor->from] += (int64_t)tensor->bytes;
		changes[tensor->to] -= (int64_t)tensor->bytes;
	}
	*place = *peak = 0;
	for (uint32_t i = 0; i < graph->operators.count && !err; i++) {
		used += (uint64_t)changes[i];
		if (used > *peak) {
			*peak = used;
			*place = i;
		}
	}
	free(changes);
	return err;
}

/* Number of bytes of a text that are shown. */
static int text_length(const struct proto_message *text, int most)
{
	size_t length = proto_length(text);

	return length < (size_t)most ? (int)length : most;
}

static int by_size(const void *a, const void *b)
{
	const struct tensor *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int put_number(const struct plan_file *file, const char *topic, const char *name,
		      const char *unit, uint64_t value)
{
	return device_fact_number(file->import, file->device, topic, name, unit, (double)value);
}

/* Adds the largest tensors that are alive at the peak, with the operator that starts their lifetime. */
static int put_tensors(const struct plan_file *file, struct graph *graph, const char *topic,
		       uint64_t place)
{
	uint32_t shown = 0;
	int err = 0;

	if (graph->tensors.count)
		qsort(graph->tensors.row, graph->tensors.count, sizeof(*graph->tensors.row), by_size);
	for (uint32_t i = 0; i < graph->tensors.count && shown < SHOWN && !err; i++) {
		const struct tensor *tensor = &graph->tensors.row[i];
		const struct proto_message *since;
		char name[TEXT_SIZE];

		if (tensor->from > place || tensor->to <= place)
			continue;
		since = &graph->operators.row[tensor->from];
		snprintf(name, sizeof(name), "at the peak: %.*s since %.*s",
			 text_length(&tensor->type, 100), (const char *)tensor->type.at,
			 text_length(since, 120), (const char *)since->at);
		err = put_number(file, topic, name, "bytes", tensor->bytes);
		shown++;
	}
	return err;
}

static int put_graph(struct plan_file *file, struct graph *graph)
{
	const struct proto_message *at;
	char topic[64], text[TEXT_SIZE];
	uint64_t place, peak;
	int err;

	if (!graph->operators.count || graph->static_bytes >= SIZE_MAX_BYTES)
		return import_finding(file->import, "graphs without operators", NULL);
	err = find_peak(file, graph, &place, &peak);
	if (err)
		return err;
	at = &graph->operators.row[place];
	snprintf(topic, sizeof(topic), "memory of graph %" PRIu64, graph->id);
	snprintf(text, sizeof(text), "%.*s, operator %" PRIu64 " of %u",
		 text_length(at, 180), (const char *)at->at, place + 1,
		 graph->operators.count);
	file->any = true;
	err = put_number(file, topic, "static", "bytes", graph->static_bytes);
	if (!err)
		err = put_number(file, topic, "peak", "bytes", peak);
	if (!err)
		err = device_fact_text(file->import, file->device, topic, "peak at", text);
	if (!err)
		err = put_number(file, topic, "tensors", "", graph->tensors.count);
	return err ? err : put_tensors(file, graph, topic, place);
}

static int read_graph(struct plan_file *file, struct proto_message message)
{
	struct graph graph = { 0 };
	struct proto_field field;
	int err = 0;

	while (!err && proto_next(&message, &field) == 1) {
		switch (field.number) {
		case 1: graph.id = field.value; break;
		case 2: graph.static_bytes = field.value; break;
		case 3: err = add_operator(&graph, field.bytes); break;
		case 4: err = add_tensor(&graph, field.bytes); break;
		}
	}
	if (!err)
		err = put_graph(file, &graph);
	free(graph.operators.row);
	free(graph.tensors.row);
	return err;
}

static int on_field(void *context, const struct proto_field *field)
{
	struct plan_file *file = context;

	if (field->number == 1 && !field->cut)
		return read_graph(file, field->bytes);
	if (field->number != 2 || !field->value)
		return 0;
	file->any = true;
	return put_number(file, "memory", "capacity", "bytes", field->value);
}

static int import(struct import *import)
{
	struct plan_file file = { .import = import };
	struct import_rows rows = { 0 };
	char damage[256] = "";
	int err;

	import_rows_begin(&rows, import);
	file.device = import_same_device(&rows, device_of_file(import->path), "Ascend", "npu",
					 "mindspore", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	err = file.device == INDEX_NONE
		      ? -ENOMEM
		      : proto_file_each(import->path, on_field, &file, damage, sizeof(damage));
	err = import_end_reading(import, err, file.any, damage);
	import_rows_free(&rows);
	return err;
}

const struct importer import_mindspore_memory = {
	.name = "mindspore",
	.what = "what a graph's tensors need, by MindSpore (memory_usage_*.pb)",
	.detect = detect,
	.import = import,
};
