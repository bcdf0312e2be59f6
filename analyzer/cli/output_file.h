/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file.h - output files that are either complete or absent.
 */
#ifndef PROFBPF_ANALYZER_CLI_OUTPUT_FILE_H
#define PROFBPF_ANALYZER_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The file is written under a temporary name beside the requested path, and renamed when it is
 * complete; a signal that ends the program removes it. There is one such file at a time. Files that
 * cannot be replaced (devices, pipes) are written to directly.
 */
struct output {
	const char *path; /* requested path; not owned */
	char *temporary; /* path to write to; owned */
	bool direct; /* temporary is the path itself */
};

/*
 * output_begin - choose the path to write to
 *
 * Creates the temporary file, empty. Returns 0, or a negative errno with @error (of @error_size
 * bytes), which contains the path and the reason.
 */
int output_begin(struct output *output, const char *path, char *error, size_t error_size);

/* Renames the file to the requested path. Returns 0 or a negative errno with @error. */
int output_commit(struct output *output, char *error, size_t error_size);

/* Removes an uncommitted file, and frees. May be called more than once. */
void output_end(struct output *output);

/* For signal handlers that end the program: removes an uncommitted file, if any. */
void output_abandon(void);

#endif /* PROFBPF_ANALYZER_CLI_OUTPUT_FILE_H */
