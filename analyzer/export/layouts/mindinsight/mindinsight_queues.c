/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of a pipeline and their queues, in the form of MindData's samples and MindSpore's summary. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/view/render/json.h"
#include "analyzer/export/layouts/mindinsight/mindinsight.h"

#define NAME_SIZE 96

static bool has_children(const struct mindinsight *mi, uint32_t id)
{
	for (uint32_t child = 0; child < mi->count; child++)
		if (mi->parent[child] == id)
			return true;
	return false;
}

static void write_queue(struct json *json, const struct mindinsight *mi, uint32_t id,
			const uint32_t *sizes, uint32_t count)
{
	uint32_t queue = INDEX_NONE;

	if (!sizes || !mindinsight_queue(mi, id, &queue)) {
		json_null(json, "metrics");
		return;
	}
	json_map(json, "metrics");
	json_map(json, "output_queue");
	json_u64(json, "length", mi->usage->pipeline->queues.row[queue].capacity);
	json_array(json, "size");
	for (uint32_t i = 0; i < count; i++)
		json_u64(json, NULL, sizes[i]);
	json_array_close(json);
	json_map_close(json);
	json_map_close(json);
}

static void write_operator(struct json *json, const struct mindinsight *mi, uint32_t id)
{
	uint32_t count = 0, *sizes = mindinsight_sizes(mi, id, &count);
	char type[NAME_SIZE];

	json_map(json, NULL);
	if (has_children(mi, id)) {
		json_array(json, "children");
		for (uint32_t child = 0; child < mi->count; child++)
			if (mi->parent[child] == id)
				json_u64(json, NULL, child);
		json_array_close(json);
	}
	write_queue(json, mi, id, sizes, count);
	json_u64(json, "num_workers", mindinsight_workers(mi, id));
	json_u64(json, "op_id", id);
	snprintf(type, sizeof(type), "%sOp", mindinsight_type(mi, id));
	json_text(json, "op_type", type);
	json_map_close(json);
	free(sizes);
}

int mindinsight_pipeline(FILE *out, const struct mindinsight *mi)
{
	struct json *json = json_new(out, false);

	if (!json)
		return -ENOMEM;
	json_map(json, NULL);
	json_array(json, "op_info");
	for (uint32_t id = 0; id < mi->count; id++)
		write_operator(json, mi, id);
	json_array_close(json);
	json_u64(json, "sampling_interval", mi->sample_ms);
	json_map_close(json);
	return json_end(json);
}

/* A tree of the operators with queues: the children of an operator without a queue move up to its parent. */
struct tree {
	const struct mindinsight *mi;
	uint32_t *list; /* operators shown, from the trainer down */
	uint32_t *above; /* by operator shown: its parent */
	uint32_t count;
};

static bool is_shown(const struct tree *tree, uint32_t id)
{
	uint32_t queue;

	return id == 0 || mindinsight_queue(tree->mi, id, &queue);
}

/* Returns the parent of an operator in the tree; INDEX_NONE if it has none. */
static uint32_t shown_above(const struct tree *tree, uint32_t id)
{
	/* A path to the root has at most as many steps as there are operators: a hostile trace may contain cycles. */
	for (uint32_t round = 0; round < tree->mi->count; round++) {
		id = tree->mi->parent[id];
		if (id == INDEX_NONE || is_shown(tree, id))
			return id;
	}
	return INDEX_NONE;
}

static bool make_tree(struct tree *tree)
{
	uint32_t count = tree->mi->count;

	tree->list = calloc((size_t)count + 1, sizeof(*tree->list));
	tree->above = calloc((size_t)count + 1, sizeof(*tree->above));
	if (!tree->list || !tree->above)
		return false;
	for (uint32_t id = 0; id < count; id++)
		tree->above[id] = id && is_shown(tree, id) ? shown_above(tree, id) : INDEX_NONE;
	if (count)
		tree->list[tree->count++] = 0;
	for (uint32_t i = 0; i < tree->count; i++)
		for (uint32_t id = 1; id < count && tree->count < count; id++)
			if (tree->above[id] == tree->list[i])
				tree->list[tree->count++] = id;
	return true;
}

static void raw_sizes(FILE *out, const struct mindinsight *mi, uint32_t id)
{
	const struct queue_usage *usage;
	uint32_t count = 0, *sizes = mindinsight_sizes(mi, id, &count);
	uint32_t queue = INDEX_NONE, capacity;

	if (!sizes || !mindinsight_queue(mi, id, &queue)) {
		free(sizes);
		fputs(",,,,", out);
		return;
	}
	usage = &mi->usage->queues[queue];
	capacity = mi->usage->pipeline->queues.row[queue].capacity;
	fputs("\"[", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i ? ", " : "", sizes[i]);
	fprintf(out, "]\",%.6f,%" PRIu32 ",%.6f,", usage->mean_size, capacity,
		usage->mean_size / capacity);
	free(sizes);
}

static void raw_children(FILE *out, const struct tree *tree, uint32_t id)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < tree->count; i++) {
		if (tree->above[tree->list[i]] != id)
			continue;
		fprintf(out, "%s%" PRIu32, count++ ? ", " : "\"[", tree->list[i]);
	}
	fputs(count ? "]\"\r\n" : "\r\n", out);
}

int mindinsight_raw(FILE *out, const struct mindinsight *mi)
{
	struct tree tree = { .mi = mi };
	int err = make_tree(&tree) ? 0 : -ENOMEM;
	char type[NAME_SIZE];

	fputs("op_id,op_type,num_workers,output_queue_size,output_queue_average_size,"
	      "output_queue_length,output_queue_usage_rate,sample_interval,parent_id,"
	      "children_id\r\n",
	      out);
	for (uint32_t i = 0; i < tree.count && !err; i++) {
		uint32_t id = tree.list[i];

		snprintf(type, sizeof(type), "%sOp", mindinsight_type(mi, id));
		fprintf(out, "%" PRIu32 ",", id);
		mindinsight_cell(out, type);
		fprintf(out, ",%" PRIu32 ",", mindinsight_workers(mi, id));
		raw_sizes(out, mi, id);
		fprintf(out, "%" PRIu32 ",", mi->sample_ms);
		if (i)
			fprintf(out, "%" PRIu32, tree.above[id]);
		fputc(',', out);
		raw_children(out, &tree, id);
	}
	free(tree.list);
	free(tree.above);
	return err ? err : ferror(out) ? -EIO : 0;
}
