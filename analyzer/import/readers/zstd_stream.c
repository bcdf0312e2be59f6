/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/zstd_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>
#include <zstd_errors.h>

#define PACKED_BYTES (64u << 10) /* that are read of the file at a time */

struct zstd_stream {
	int fd;
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer packed; /* bytes of the file that are not decompressed yet */
	bool inside; /* the current frame has not ended */
	bool ended; /* the file has */
	const char *damage; /* NULL = none was found */
	unsigned char bytes[PACKED_BYTES];
};

bool zstd_stream_is(const unsigned char *magic)
{
	static const unsigned char FRAME[] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const unsigned char SKIPPED[] = { 0x2a, 0x4d, 0x18 };

	return memcmp(magic, FRAME, sizeof(FRAME)) == 0 ||
	       (magic[0] >> 4 == 5 && memcmp(magic + 1, SKIPPED, sizeof(SKIPPED)) == 0);
}

struct zstd_stream *zstd_stream_open(int fd)
{
	struct zstd_stream *stream = malloc(sizeof(*stream));

	if (!stream)
		return NULL;
	stream->fd = fd;
	stream->zstd = ZSTD_createDCtx();
	stream->packed = (ZSTD_inBuffer){ .src = stream->bytes };
	stream->inside = stream->ended = false;
	stream->damage = NULL;
	if (stream->zstd)
		return stream;
	free(stream);
	return NULL;
}

/* Reads more of the file. Returns 0 or a negative errno. */
static int refill(struct zstd_stream *stream)
{
	ssize_t length;

	do
		length = read(stream->fd, stream->bytes, sizeof(stream->bytes));
	while (length < 0 && errno == EINTR);
	if (length < 0)
		return -errno;
	stream->packed.size = (size_t)length;
	stream->packed.pos = 0;
	stream->ended = length == 0;
	return 0;
}

static const char *reason_of(size_t error)
{
	if (ZSTD_getErrorCode(error) == ZSTD_error_frameParameter_windowTooLarge)
		return "it takes more than 128 MiB of memory (zstd --long): unpack it (unzstd --long=31), "
		       "and give that file";
	return ZSTD_getErrorName(error);
}

/* Decompresses what there is. Returns whether that made bytes, or read some. */
static bool decompress(struct zstd_stream *stream, ZSTD_outBuffer *out)
{
	size_t made = out->pos, taken = stream->packed.pos;
	size_t state = ZSTD_decompressStream(stream->zstd, out, &stream->packed);

	stream->inside = state != 0;
	if (ZSTD_isError(state))
		stream->damage = reason_of(state);
	return out->pos > made || stream->packed.pos > taken;
}

int zstd_stream_read(struct zstd_stream *stream, void *bytes, size_t size, char *error,
		     size_t error_size)
{
	ZSTD_outBuffer out = { .dst = bytes, .size = size };
	int err = 0;

	while (out.pos < size && !stream->damage && !err) {
		if (stream->packed.pos == stream->packed.size && !stream->ended)
			err = refill(stream);
		if (err || (stream->ended && !stream->inside))
			break;
		if (!decompress(stream, &out) && stream->ended)
			stream->damage = "the file ends too early";
	}
	/* Damage is told when what came before it was handed over. */
	if (out.pos || (!err && !stream->damage))
		return (int)out.pos;
	if (err)
		snprintf(error, error_size, "%s", strerror(-err));
	else
		snprintf(error, error_size, "cannot be decompressed: %s", stream->damage);
	return err ? err : -EBADMSG;
}

void zstd_stream_close(struct zstd_stream *stream)
{
	ZSTD_freeDCtx(stream->zstd);
	free(stream);
}
