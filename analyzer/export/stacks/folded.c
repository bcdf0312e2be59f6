/* SPDX-License-Identifier: Apache-2.0 */
/* folded.c - one line per stack, its frames from the outermost to the innermost with ';' between, a blank and its weight */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/export/stacks/stack_export.h"

/* Writes a frame's name; the separator ';' is replaced in it. */
static void put_frame(FILE *out, const struct stack_tree *tree, uint32_t frame)
{
	char text[TREE_TEXT_SIZE];

	stack_tree_text(tree, &tree->frames.row[frame], text, sizeof(text));
	for (const char *c = text; *c; c++)
		fputc(*c == ';' ? '_' : *c, out);
}

static int put_all(const struct stack_tree *tree, FILE *out)
{
	uint32_t *path = calloc(stack_tree_depth(tree) + 1, sizeof(*path));

	if (!path)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->nodes.count; i++) {
		const struct tree_node *node = &tree->nodes.row[i];
		size_t depth;

		if (!node->count)
			continue;
		depth = stack_tree_path(tree, i, path, SIZE_MAX);
		for (size_t k = 0; k < depth; k++) {
			if (k)
				fputc(';', out);
			put_frame(out, tree, path[k]);
		}
		fprintf(out, " %" PRIu64 "\n", stack_tree_weight(tree, node));
	}
	free(path);
	return 0;
}

static int write_file(const struct stack_tree *tree, const char *path)
{
	FILE *out = fopen(path, "w");
	int err;

	if (!out)
		return -errno;
	err = put_all(tree, out);
	errno = 0;
	if (ferror(out) && !err)
		err = errno ? -errno : -EIO;
	if (fclose(out) != 0 && !err)
		err = -errno;
	return err;
}

DEFINE_STACK_EXPORTER(folded, write_file);
