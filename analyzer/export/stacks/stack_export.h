/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_export.h - stacks merged into a tree, for flame graph tools: folded lines, speedscope's JSON, pprof's protobuf.
 * All three contain the same stacks.
 *
 * A stack's first frame is the thread's name. A Python frame is `function (file.py:line)`, any other
 * frame its demangled name; a frame without a name is its file in brackets, or [unknown].
 */
#ifndef PROFBPF_ANALYZER_EXPORT_STACKS_STACK_EXPORT_H
#define PROFBPF_ANALYZER_EXPORT_STACKS_STACK_EXPORT_H

#include "analyzer/export/export.h"
#include "analyzer/export/stacks/stack_tree.h"

/* A tree as a file. Returns 0 or a negative errno. */
typedef int stack_format_fn(const struct stack_tree *tree, const char *path);

/*
 * stack_export - write the stacks of options->stacks by @format; returns and reports as exporters do
 *
 * -ENODATA where there are no stacks of this kind; @error says how they are recorded.
 */
int stack_export(const struct model *model, stack_format_fn *format, const char *path,
		 const struct export_options *options, char *error, size_t error_size);

/* An exporter of stacks: export_NAME. */
#define DEFINE_STACK_EXPORTER(name, format)                                                       \
	static int write_##name(const struct model *model, const struct results *results,         \
				const char *path, const struct export_options *options,           \
				char *error, size_t error_size)                                   \
	{                                                                                         \
		(void)results;                                                                    \
		return stack_export(model, format, path, options, error, error_size);             \
	}                                                                                         \
	const struct exporter export_##name = { .has_kinds = true, .write = write_##name }

#endif /* PROFBPF_ANALYZER_EXPORT_STACKS_STACK_EXPORT_H */
