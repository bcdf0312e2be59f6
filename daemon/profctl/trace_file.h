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
 * output_open - opens a file for writing and empties it
 *
 * @name: a path, "-" for standard output, NULL for profbpf-<host>-<time>.pbt in
 * the current directory. Refuses to write to a terminal. Returns 0 or a negative
 * errno after saying why.
 */
int output_open(struct output *output, const char *name);

/* output_discard - closes a file without useful content, and removes it if output_open() created it */
void output_discard(struct output *output);

/* output_close - close our descriptor and forget the name; idempotent */
void output_close(struct output *output);

#endif /* PROFBPF_DAEMON_PROFCTL_TRACE_FILE_H */
