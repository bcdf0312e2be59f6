/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/stacks/stack_export.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyzer/export/export_error.h"

static bool is_empty(const struct stack_tree *tree)
{
	/* Nodes exist only on paths to a node with a weight. */
	return tree->nodes.count <= 1;
}

/* Explains why there are no stacks, at least in the part that is written. */
static int explain_empty(enum stacks_kind kind, char *error, size_t error_size)
{
	static const char *const reasons[] = {
		[STACKS_ON_CPU] = "there are no samples of threads on a CPU; record with "
				  "--topics +sample, or take more of the time",
		[STACKS_OFF_CPU] = "no sleep was recorded with its stack; record with "
				   "--topics +stack, or take more of the time",
		[STACKS_DEVICE] = "there are no device tasks with times; give a device file with "
				  "--device, record with a device layer loaded, or "
				  "take more of the time",
		[STACKS_GIL] = "no sample is known to be of a thread that had its Python interpreter's lock; "
			       "record a Python program with --topics +sample, or take more of the time",
	};

	snprintf(error, error_size, "%s", reasons[kind]);
	return -ENODATA;
}

int stack_export(const struct model *model, stack_format_fn *format, const char *path,
		 const struct export_options *options, char *error, size_t error_size)
{
	struct stack_tree tree;
	int err = stack_tree_init(&tree, model, options->stacks, options);

	if (!err && is_empty(&tree)) {
		err = explain_empty(options->stacks, error, error_size);
	} else {
		if (!err)
			err = format(&tree, path);
		if (err)
			export_explain(err, path, error, error_size);
	}
	stack_tree_free(&tree);
	return err;
}
