/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_flames.c - stacks on CPUs, asleep and of the devices as trees for the page, without nodes that are too small to
 * see
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/stacks/stack_tree.h"
#include "analyzer/view/page/page_data.h"

#define NODES_MOST 5000
#define SMALLEST 4000 /* a node with less than one part in this many of the tree is left out */

/* Returns the weight of each node including all descendants; NULL without memory. */
static uint64_t *total_weights(const struct stack_tree *tree)
{
	uint64_t *totals = calloc((size_t)tree->nodes.count + 1, sizeof(*totals));

	for (uint32_t i = tree->nodes.count; totals && i-- > 0;) {
		totals[i] += stack_tree_weight(tree, &tree->nodes.row[i]);
		if (i)
			totals[tree->nodes.row[i].parent] += totals[i];
	}
	return totals;
}

/* Returns the least weight that at most NODES_MOST nodes reach. */
static uint64_t least_weight(const struct stack_tree *tree, const uint64_t *totals)
{
	uint64_t least = totals[0] / SMALLEST + 1;

	for (;; least = least + least / 2 + 1) {
		uint32_t count = 0;

		for (uint32_t i = 0; i < tree->nodes.count; i++)
			count += totals[i] >= least;
		if (count <= NODES_MOST)
			return least;
	}
}

/* Writes three numbers for a node: its parent's index in the list, its frame, its weight including all descendants. */
static void write_nodes(struct json *json, const struct stack_tree *tree, const uint64_t *totals,
			uint32_t *place)
{
	uint64_t least = least_weight(tree, totals);
	uint32_t next = 0;

	json_array(json, "nodes");
	for (uint32_t i = 0; i < tree->nodes.count; i++) {
		if (totals[i] < least)
			continue;
		place[i] = next++;
		json_i64(json, NULL, i ? (int64_t)place[tree->nodes.row[i].parent] : -1);
		json_u64(json, NULL, tree->nodes.row[i].frame);
		json_u64(json, NULL, totals[i]);
	}
	json_array_close(json);
}

static void write_names(struct json *json, const struct stack_tree *tree)
{
	char text[TREE_TEXT_SIZE];

	json_array(json, "names");
	for (uint32_t i = 0; i < tree->frames.count; i++)
		json_text(json, NULL,
			  stack_tree_text(tree, &tree->frames.row[i], text, sizeof(text)));
	json_array_close(json);
}

static int write_tree(struct page_data *data, const char *key, const struct stack_tree *tree)
{
	uint64_t *totals = total_weights(tree);
	uint32_t *place = calloc((size_t)tree->nodes.count + 1, sizeof(*place));
	int err = totals && place ? 0 : -ENOMEM;

	if (!err) {
		json_map(data->json, key);
		write_nodes(data->json, tree, totals, place);
		write_names(data->json, tree);
		json_map_close(data->json);
	}
	free(totals);
	free(place);
	return err;
}

int page_flames(struct page_data *data)
{
	static const char *const keys[] = { [STACKS_ON_CPU] = "on_cpu",
					    [STACKS_OFF_CPU] = "off_cpu",
					    [STACKS_DEVICE] = "device",
					    [STACKS_GIL] = "gil" };
	const struct export_options options = { .start_ns = data->results->from_ns,
						.end_ns = data->results->to_ns };
	int err = 0;

	json_map(data->json, "flames");
	for (unsigned int kind = 0; kind < sizeof(keys) / sizeof(keys[0]) && !err; kind++) {
		struct stack_tree tree;

		err = stack_tree_init(&tree, data->model, kind, &options);
		if (!err && tree.nodes.count > 1)
			err = write_tree(data, keys[kind], &tree);
		stack_tree_free(&tree);
	}
	json_map_close(data->json);
	return err;
}
