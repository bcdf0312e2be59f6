/* SPDX-License-Identifier: Apache-2.0 */
/* stack_tree.h - a recording's stacks merged by their frames: each node is a stack, its parent the stack without the last frame */
#ifndef PROFBPF_ANALYZER_EXPORT_STACKS_STACK_TREE_H
#define PROFBPF_ANALYZER_EXPORT_STACKS_STACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/export/export.h"
#include "lib/base/map.h"

/* Frames with the same name, file and line are one frame. Strings are ids of the model, 0 = unknown. */
struct tree_frame {
	uint32_t name;
	uint32_t file; /* file that contains the code; for Python the source file */
	uint32_t line; /* for Python only, otherwise 0 */
};

/* Parents come before their children; node 0 is the root, of no frame. */
struct tree_node {
	uint32_t parent;
	uint32_t frame; /* index into frames */
	uint64_t count; /* samples, sleeps or tasks with this innermost frame */
	uint64_t ns; /* their total time; 0 for samples, which have no duration */
};

struct stack_tree {
	const struct model *model;
	enum stacks_kind kind;
	MODEL_ARRAY(struct tree_frame) frames;
	MODEL_ARRAY(struct tree_node) nodes;
	struct map by_name, by_line, children; /* look-ups while it is made */
};

/* stack_tree_init - merges the stacks selected by @options. Returns 0 or -ENOMEM; call stack_tree_free() in either case. */
int stack_tree_init(struct stack_tree *tree, const struct model *model, enum stacks_kind kind,
		    const struct export_options *options);
void stack_tree_free(struct stack_tree *tree);

/* stack_kind_sampled - its weight is samples, not nanoseconds */
static inline bool stack_kind_sampled(enum stacks_kind kind)
{
	return kind == STACKS_ON_CPU || kind == STACKS_GIL;
}

/* stack_tree_weight - of a node alone: samples, or nanoseconds, by the tree's kind */
uint64_t stack_tree_weight(const struct stack_tree *tree, const struct tree_node *node);

/*
 * stack_tree_path - frames of node @index, the outermost first
 *
 * Writes up to @size indices of frames and returns how many there are; at most stack_tree_depth().
 */
size_t stack_tree_path(const struct stack_tree *tree, uint32_t index, uint32_t *frames,
		       size_t size);
size_t stack_tree_depth(const struct stack_tree *tree);

/*
 * stack_tree_text - a frame's name as it is shown: "step (train.py:19)", "train (train.py)" for a Python caller, whose line is
 * not recorded, "[libc.so.6]" for a function without a name. Returns @into.
 */
#define TREE_TEXT_SIZE 1024
const char *stack_tree_text(const struct stack_tree *tree, const struct tree_frame *frame,
			    char *into, size_t size);

#endif /* PROFBPF_ANALYZER_EXPORT_STACKS_STACK_TREE_H */
