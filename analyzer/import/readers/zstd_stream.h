/* SPDX-License-Identifier: Apache-2.0 */
/* zstd_stream.h - decompresses a file of one or more zstd frames, from its begin to its end */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_ZSTD_STREAM_H
#define PROFBPF_ANALYZER_IMPORT_READERS_ZSTD_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#define ZSTD_STREAM_MAGIC 4 /* bytes that zstd_stream_is() looks at */

/* zstd_stream_is - are these ZSTD_STREAM_MAGIC bytes the begin of a frame, or of one that is to be skipped? */
bool zstd_stream_is(const unsigned char *magic);

/* zstd_stream_open - reads @fd from its current offset on; NULL if out of memory. The caller closes @fd. */
struct zstd_stream *zstd_stream_open(int fd);

/*
 * zstd_stream_read - the next @size decompressed bytes, fewer only before the end and before damage
 *
 * Returns the number of bytes, 0 at the end, or a negative errno with @error (-EBADMSG: the file is damaged, or ends
 * inside a frame).
 */
int zstd_stream_read(struct zstd_stream *stream, void *bytes, size_t size, char *error,
		     size_t error_size);

void zstd_stream_close(struct zstd_stream *stream);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_ZSTD_STREAM_H */
