/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.h - stacks as flame graph tools read them: one line per stack, its frames
 * from the outermost to the innermost with ';' between, a blank and a number.
 *
 * The first frame is the thread's name. ';' and control characters in names become
 * '_'; a frame without a name is its file in brackets, or [unknown].
 */
#ifndef PROFBPF_ANALYZER_EXPORT_FOLDED_FOLDED_H
#define PROFBPF_ANALYZER_EXPORT_FOLDED_FOLDED_H

#include "analyzer/export/export.h"

enum folded_what {
	FOLDED_SAMPLES, /* samples on a CPU */
	FOLDED_BLOCKED, /* nanoseconds asleep */
};

/* write_folded - returns and reports like the writers of export.h */
int write_folded(const struct model *model, enum folded_what what, const char *path,
		 const struct export_options *options, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_EXPORT_FOLDED_FOLDED_H */
