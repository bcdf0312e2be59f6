/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_file.h - reads a file from its begin to its end, compressed by gzip or zstd or not.
 *
 * Files that are not compressed are read without a copy. Nothing is buffered here: readers have buffers of their
 * own and read input_file_part() bytes at a time. The byte order mark of a text is skipped; a text in UTF-16 with
 * such a mark is converted to UTF-8.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_INPUT_FILE_H
#define PROFBPF_ANALYZER_IMPORT_READERS_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/*
 * A compressed file may decompress to INPUT_UNPACKED_FREE bytes and INPUT_UNPACKED_RATIO more for each compressed
 * byte: real profiles decompress to 10 to 60 times their size, a malicious file to 1,000 times. A pipe, whose size
 * is unknown, may decompress to INPUT_UNPACKED_PIPE.
 */
#define INPUT_UNPACKED_FREE (18u << 20)
#define INPUT_UNPACKED_RATIO 100
#define INPUT_UNPACKED_PIPE (4ull << 30)

struct zstd_stream;
struct input_text;

/* Zeroed is closed. */
struct input_file {
	gzFile packed; /* NULL = not compressed by gzip */
	struct zstd_stream *zstd; /* NULL = not compressed by zstd */
	struct input_text *text; /* NULL = not in UTF-16 */
	int fd; /* of a file that is not compressed by gzip */
	bool open;
	bool begun; /* its first bytes have been read */
	unsigned char first[4]; /* of these, those that are to be handed over */
	unsigned int first_count;
	size_t part;
	uint64_t unpacked; /* so far */
};

/* input_unpacked_max - maximum decompressed size for that many compressed bytes */
static inline uint64_t input_unpacked_max(uint64_t packed)
{
	return packed < UINT64_MAX / INPUT_UNPACKED_RATIO - INPUT_UNPACKED_FREE
		       ? INPUT_UNPACKED_FREE + packed * INPUT_UNPACKED_RATIO
		       : UINT64_MAX;
}

/* input_file_open - opens a file. Returns 0, or a negative errno with @error, which does not name the path. */
int input_file_open(struct input_file *file, const char *path, char *error, size_t error_size);

/* Number of bytes to read at a time: 256 KiB, fewer if the whole file is shorter. */
size_t input_file_part(const struct input_file *file);

/*
 * input_file_read - reads the next @size bytes, fewer only at the end
 *
 * @size: at most 1 GiB. Returns the number of bytes, 0 at the end, or a negative errno with @error (-EBADMSG: the
 * file cannot be decompressed, or decompresses to too much).
 */
int input_file_read(struct input_file *file, void *bytes, size_t size, char *error,
		    size_t error_size);

void input_file_close(struct input_file *file);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_INPUT_FILE_H */
