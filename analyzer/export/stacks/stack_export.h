/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_export.h - stacks merged into a tree, as flame graph tools read them: folded lines,
 * speedscope's JSON, pprof's protobuf. The three hold the same.
 *
 * A stack's first frame is the thread's name. A Python frame is `function (file.py:line)`, any other
 * one its demangled name; a frame without a name is its file in brackets, or [unknown].
 */
#ifndef PROFBPF_ANALYZER_EXPORT_STACKS_STACK_EXPORT_H
#define PROFBPF_ANALYZER_EXPORT_STACKS_STACK_EXPORT_H

#include "analyzer/export/export.h"

/* What is merged, and what its weight is. */
enum stacks_kind {
	STACKS_ON_CPU, /* samples of threads on a CPU */
	STACKS_OFF_CPU, /* nanoseconds asleep, where the sleep was recorded with its stack */
	STACKS_DEVICE, /* nanoseconds of device tasks, below the calls inside which each was launched */
};

enum stacks_format {
	STACKS_FOLDED,
	STACKS_SPEEDSCOPE,
	STACKS_PPROF, /* gzip-compressed, as `go tool pprof` expects it */
};

/*
 * write_stacks - returns and reports like the writers of export.h
 *
 * -ENODATA where there are no stacks of this kind; @error says how they are recorded.
 */
int write_stacks(const struct model *model, enum stacks_kind kind, enum stacks_format format,
		 const char *path, const struct export_options *options, char *error,
		 size_t error_size);

#endif /* PROFBPF_ANALYZER_EXPORT_STACKS_STACK_EXPORT_H */
