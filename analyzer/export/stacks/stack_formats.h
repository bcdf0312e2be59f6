/* SPDX-License-Identifier: Apache-2.0 */
/* stack_formats.h - a tree of stacks as a file: folded.c, speedscope.c, pprof.c. Each returns 0 or a negative errno. */
#ifndef PROFBPF_ANALYZER_EXPORT_STACKS_STACK_FORMATS_H
#define PROFBPF_ANALYZER_EXPORT_STACKS_STACK_FORMATS_H

#include "analyzer/export/stacks/stack_tree.h"

int stack_tree_write_folded(const struct stack_tree *tree, const char *path);
int stack_tree_write_speedscope(const struct stack_tree *tree, const char *path);
int stack_tree_write_pprof(const struct stack_tree *tree, const char *path);

#endif /* PROFBPF_ANALYZER_EXPORT_STACKS_STACK_FORMATS_H */
