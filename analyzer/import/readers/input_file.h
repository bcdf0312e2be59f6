/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_file.h - the bytes of a file from its begin to its end, packed with gzip or not.
 *
 * Files that are not packed are read without a copy in between. Nothing here is buffered: readers
 * have their own buffers and ask for input_file_part() at a time.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_INPUT_FILE_H
#define PROFBPF_ANALYZER_IMPORT_READERS_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/*
 * What is packed may unpack to INPUT_UNPACKED_FREE bytes and INPUT_UNPACKED_RATIO more for each packed byte:
 * real profiles unpack to 10 to 60 times their size, a file that was made to waste time to 1,000 times.
 * Of a pipe, whose size is not known, to INPUT_UNPACKED_PIPE.
 */
#define INPUT_UNPACKED_FREE (18u << 20)
#define INPUT_UNPACKED_RATIO 100
#define INPUT_UNPACKED_PIPE (4ull << 30)

/* Zeroed is closed. */
struct input_file {
	gzFile packed; /* NULL = it is not packed */
	int fd; /* of one that is not packed */
	bool open;
	size_t part;
	uint64_t unpacked; /* so far */
};

/* input_unpacked_max - to how much that many packed bytes may unpack */
static inline uint64_t input_unpacked_max(uint64_t packed)
{
	return packed < UINT64_MAX / INPUT_UNPACKED_RATIO - INPUT_UNPACKED_FREE
		       ? INPUT_UNPACKED_FREE + packed * INPUT_UNPACKED_RATIO
		       : UINT64_MAX;
}

/* input_file_open - 0, or a negative errno with @error, which does not name the path */
int input_file_open(struct input_file *file, const char *path, char *error, size_t error_size);

/* How many bytes to ask for at a time: 256 KiB, fewer if the whole file is shorter. */
size_t input_file_part(const struct input_file *file);

/*
 * input_file_read - the next bytes: @size of them, fewer only before the end
 *
 * @size: at most 1 GiB. Returns how many, 0 at the end, or a negative errno with @error (-EBADMSG: it
 * cannot be unpacked, or to too much).
 */
int input_file_read(struct input_file *file, void *bytes, size_t size, char *error,
		    size_t error_size);

void input_file_close(struct input_file *file);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_INPUT_FILE_H */
