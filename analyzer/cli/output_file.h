/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file.h - output files that are either complete or not there.
 */
#ifndef PROFBPF_ANALYZER_CLI_OUTPUT_FILE_H
#define PROFBPF_ANALYZER_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What is written goes to a temporary name beside the wanted one, which is renamed
 * when all is there; a signal that ends the program removes it. There is one at a
 * time. Things that cannot be replaced (devices, pipes) are written to
 * directly.
 */
struct output {
	const char *path; /* wanted; not owned */
	char *temporary; /* where to write; owned */
	bool direct; /* temporary is the path itself */
};

/*
 * output_begin - choose where to write
 *
 * Creates the temporary file, empty. Returns 0, or a negative errno with @error (of
 * @error_size bytes), which names the path, saying why.
 */
int output_begin(struct output *output, const char *path, char *error, size_t error_size);

/* Make it visible under its name. Returns 0 or a negative errno with @error. */
int output_commit(struct output *output, char *error, size_t error_size);

/* Remove what was not committed, and free. May be called more than once. */
void output_end(struct output *output);

/* For signal handlers that end the program: remove what was not committed, if there is anything. */
void output_abandon(void);

#endif /* PROFBPF_ANALYZER_CLI_OUTPUT_FILE_H */
