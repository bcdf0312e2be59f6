/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe_copy.h - copies a device file that comes through a pipe, because importers read a file several times.
 *
 * The copy has no name: it disappears with the program, however that ends.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_PIPE_COPY_H
#define PROFBPF_ANALYZER_IMPORT_PIPE_COPY_H

#include <stddef.h>

struct pipe_copy {
	int fd; /* -1: the path is no pipe, nothing was copied */
	char path[32]; /* of the copy */
};

/*
 * pipe_copy_make - copies what the pipe at @path yields until its end, into TMPDIR, /var/tmp or /tmp
 *
 * Returns 0, also if the path is no pipe or does not exist, or a negative errno with @error, which names the path.
 */
int pipe_copy_make(struct pipe_copy *copy, const char *path, char *error, size_t error_size);

void pipe_copy_free(struct pipe_copy *copy);

#endif /* PROFBPF_ANALYZER_IMPORT_PIPE_COPY_H */
