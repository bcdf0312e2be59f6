/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.h - the trace file, opened by profctl with its user's own rights. */
#ifndef PROFBPF_DAEMON_PROFCTL_TRACE_FILE_H
#define PROFBPF_DAEMON_PROFCTL_TRACE_FILE_H

#include <stdbool.h>

struct output {
	int fd; /* -1 = not open */
	char *name; /* path, or "-" */
	bool created; /* the file was not there before */
};

/*
 * output_open - open for writing, emptying what is there
 *
 * @name: a path, "-" for standard output, NULL for profbpf-<host>-<time>.pbt in
 * the current directory. Refuses to write to a terminal. Returns 0 or a negative
 * errno after saying why.
 */
int output_open(struct output *output, const char *name);

/* output_discard - nothing worth keeping was written: remove it if we created it, close */
void output_discard(struct output *output);

/* output_close - close our descriptor and forget the name; idempotent */
void output_close(struct output *output);

#endif /* PROFBPF_DAEMON_PROFCTL_TRACE_FILE_H */
