/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_file.h - the bytes of a file from its begin to its end, packed with gzip or not.
 *
 * Files that are not packed are read without a copy in between. Nothing here is buffered: readers
 * have their own buffers and ask for input_file_part() at a time.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_INPUT_FILE_H
#define PROFBPF_ANALYZER_IMPORT_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

/* Zeroed is closed. */
struct input_file {
	gzFile packed; /* NULL = it is not packed */
	int fd; /* of one that is not packed */
	bool open;
	size_t part;
};

/* input_file_open - 0, or a negative errno with @error, which does not name the path */
int input_file_open(struct input_file *file, const char *path, char *error, size_t error_size);

/* How many bytes to ask for at a time: 256 KiB, fewer if the whole file is shorter. */
size_t input_file_part(const struct input_file *file);

/*
 * input_file_read - the next bytes: @size of them, fewer only before the end
 *
 * @size: at most 1 GiB. Returns how many, 0 at the end, or a negative errno with @error (-EBADMSG: it
 * cannot be unpacked).
 */
int input_file_read(struct input_file *file, void *bytes, size_t size, char *error,
		    size_t error_size);

void input_file_close(struct input_file *file);

#endif /* PROFBPF_ANALYZER_IMPORT_INPUT_FILE_H */
