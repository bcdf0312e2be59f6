/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope.c - stacks as https://www.speedscope.app reads them: a "sampled" profile, each stack once with its weight
 *
 * The format is speedscope's own: its file-format-spec.ts, and the schema that "$schema" names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/export/stacks/stack_export.h"
#include "analyzer/view/render/json.h"

static void put_frames(struct json *json, const struct stack_tree *tree)
{
	json_map(json, "shared");
	json_array(json, "frames");
	for (uint32_t i = 0; i < tree->frames.count; i++) {
		const struct tree_frame *frame = &tree->frames.row[i];
		char text[TREE_TEXT_SIZE];

		json_map(json, NULL);
		json_text(json, "name", stack_tree_text(tree, frame, text, sizeof(text)));
		if (frame->file)
			json_text(json, "file", model_text(tree->model, frame->file));
		if (frame->line)
			json_u64(json, "line", frame->line);
		json_map_close(json);
	}
	json_array_close(json);
	json_map_close(json);
}

static int put_samples(struct json *json, const struct stack_tree *tree)
{
	uint32_t *path = calloc(stack_tree_depth(tree) + 1, sizeof(*path));

	if (!path)
		return -ENOMEM;
	json_array(json, "samples");
	for (uint32_t i = 1; i < tree->nodes.count; i++) {
		size_t depth;

		if (!tree->nodes.row[i].count)
			continue;
		depth = stack_tree_path(tree, i, path, SIZE_MAX);
		json_array(json, NULL);
		for (size_t k = 0; k < depth; k++)
			json_u64(json, NULL, path[k]);
		json_array_close(json);
	}
	json_array_close(json);
	free(path);
	return 0;
}

static uint64_t put_weights(struct json *json, const struct stack_tree *tree)
{
	uint64_t sum = 0;

	json_array(json, "weights");
	for (uint32_t i = 1; i < tree->nodes.count; i++) {
		const struct tree_node *node = &tree->nodes.row[i];

		if (!node->count)
			continue;
		sum += stack_tree_weight(tree, node);
		json_u64(json, NULL, stack_tree_weight(tree, node));
	}
	json_array_close(json);
	return sum;
}

static int put_profile(struct json *json, const struct stack_tree *tree)
{
	static const struct {
		const char *name, *unit;
	} kinds[] = {
		[STACKS_ON_CPU] = { "on a CPU (samples)", "none" },
		[STACKS_OFF_CPU] = { "off CPU", "nanoseconds" },
		[STACKS_DEVICE] = { "device", "nanoseconds" },
		[STACKS_GIL] = { "on a CPU with the interpreter's lock (samples)", "none" },
	};
	int err;

	json_array(json, "profiles");
	json_map(json, NULL);
	json_text(json, "type", "sampled");
	json_text(json, "name", kinds[tree->kind].name);
	json_text(json, "unit", kinds[tree->kind].unit);
	json_u64(json, "startValue", 0);
	err = put_samples(json, tree);
	json_u64(json, "endValue", put_weights(json, tree));
	json_map_close(json);
	json_array_close(json);
	return err;
}

static int put_file(FILE *out, const struct stack_tree *tree)
{
	struct json *json = json_new(out, false);
	int err, end;

	if (!json)
		return -ENOMEM;
	json_map(json, NULL);
	json_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(json, "exporter", "profbpf " PROFBPF_VERSION);
	json_u64(json, "activeProfileIndex", 0);
	put_frames(json, tree);
	err = put_profile(json, tree);
	json_map_close(json);
	end = json_end(json);
	return err ? err : end;
}

static int write_file(const struct stack_tree *tree, const char *path)
{
	FILE *out = fopen(path, "w");
	int err;

	if (!out)
		return -errno;
	err = put_file(out, tree);
	if (fclose(out) != 0 && !err)
		err = -errno;
	return err;
}

DEFINE_STACK_EXPORTER(speedscope, write_file);
