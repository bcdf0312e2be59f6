/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/perfetto/perfetto_writer.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/view/render/utf8.h"

#define FIELD_PACKET 1
#define FIELD_COMPRESSED_PACKETS 50
#define CAPACITY_MAX ((size_t)1 << 30)

static void fail(struct perfetto_writer *writer, int error)
{
	if (!writer->error)
		writer->error = error;
}

int perfetto_writer_open(struct perfetto_writer *writer, const char *path)
{
	memset(writer, 0, sizeof(*writer));
	writer->out = fopen(path, "we");
	if (!writer->out) {
		fail(writer, -errno);
		return writer->error;
	}
	if (deflateInit(&writer->stream, Z_BEST_SPEED) != Z_OK) {
		fail(writer, -ENOMEM);
		return writer->error;
	}
	writer->stream_ready = true;
	perfetto_room(writer, 2 * PERFETTO_CHUNK);
	return writer->error;
}

uint8_t *perfetto_room_slow(struct perfetto_writer *writer, size_t count)
{
	size_t wanted = writer->capacity ? writer->capacity : PERFETTO_CHUNK;
	uint8_t *data;

	if (writer->error)
		return NULL;
	if (count > CAPACITY_MAX - writer->size) {
		fail(writer, -EMSGSIZE);
		return NULL;
	}
	while (wanted < writer->size + count)
		wanted *= 2;
	data = realloc(writer->data, wanted);
	if (!data) {
		fail(writer, -ENOMEM);
		return NULL;
	}
	writer->data = data;
	writer->capacity = wanted;
	return data + writer->size;
}

static bool deflate_chunk(struct perfetto_writer *writer, size_t *size)
{
	size_t bound = deflateBound(&writer->stream, writer->size);

	if (writer->deflated_capacity < bound) {
		uint8_t *larger = realloc(writer->deflated, bound);

		if (!larger)
			return false;
		writer->deflated = larger;
		writer->deflated_capacity = bound;
	}
	writer->stream.next_in = writer->data;
	writer->stream.avail_in = writer->size;
	writer->stream.next_out = writer->deflated;
	writer->stream.avail_out = writer->deflated_capacity;
	if (deflate(&writer->stream, Z_FINISH) != Z_STREAM_END)
		return false;
	*size = writer->deflated_capacity - writer->stream.avail_out;
	return deflateReset(&writer->stream) == Z_OK;
}

void perfetto_flush(struct perfetto_writer *writer)
{
	uint8_t inner[16], outer[16], *to;
	size_t size = 0, inner_size, outer_size;

	if (writer->error || writer->size == 0)
		return;
	if (!deflate_chunk(writer, &size)) {
		fail(writer, -ENOMEM);
		return;
	}
	to = perfetto_put_varint(inner, FIELD_COMPRESSED_PACKETS << 3 | 2);
	inner_size = perfetto_put_varint(to, size) - inner;
	to = perfetto_put_varint(outer, FIELD_PACKET << 3 | 2);
	outer_size = perfetto_put_varint(to, inner_size + size) - outer;
	errno = 0;
	if (fwrite(outer, 1, outer_size, writer->out) != outer_size ||
	    fwrite(inner, 1, inner_size, writer->out) != inner_size ||
	    fwrite(writer->deflated, 1, size, writer->out) != size)
		fail(writer, errno ? -errno : -EIO);
	writer->size = 0;
}

int perfetto_writer_close(struct perfetto_writer *writer)
{
	if (writer->out) {
		perfetto_flush(writer);
		errno = 0;
		if (fclose(writer->out) != 0)
			fail(writer, errno ? -errno : -EIO);
		writer->out = NULL;
	}
	if (writer->stream_ready)
		deflateEnd(&writer->stream);
	writer->stream_ready = false;
	free(writer->data);
	free(writer->deflated);
	writer->data = NULL;
	writer->deflated = NULL;
	writer->size = 0;
	writer->capacity = 0;
	writer->deflated_capacity = 0;
	return writer->error;
}

void perfetto_fixed64(struct perfetto_writer *writer, uint32_t field, uint64_t value)
{
	uint8_t *to = perfetto_room(writer, 18);

	if (!to)
		return;
	to = perfetto_put_varint(to, field << 3 | 1);
	for (int i = 0; i < 8; i++)
		*to++ = (uint8_t)(value >> (8 * i));
	writer->size = to - writer->data;
}

void perfetto_double(struct perfetto_writer *writer, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	perfetto_fixed64(writer, field, bits);
}

static void put_bytes(struct perfetto_writer *writer, uint32_t field, const void *bytes,
		      size_t size)
{
	uint8_t *to = perfetto_room(writer, 20 + size);

	if (!to)
		return;
	to = perfetto_put_varint(to, field << 3 | 2);
	to = perfetto_put_varint(to, size);
	if (size)
		memcpy(to, bytes, size);
	writer->size = to + size - writer->data;
}

/* Returns the length of the part of a valid text that has at most @max bytes, cut between characters. */
static size_t cut_length(const char *text, size_t max)
{
	size_t length = strnlen(text, max + 1);

	if (length <= max)
		return length;
	length = max;
	while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	return length;
}

void perfetto_text(struct perfetto_writer *writer, uint32_t field, const char *text)
{
	char *repaired = NULL;

	if (!utf8_valid(text)) {
		repaired = utf8_repair(text);
		if (!repaired) {
			fail(writer, -ENOMEM);
			return;
		}
		text = repaired;
	}
	put_bytes(writer, field, text, cut_length(text, PERFETTO_TEXT_MAX));
	free(repaired);
}

void perfetto_close_long(struct perfetto_writer *writer, size_t mark)
{
	size_t size = writer->size - mark, extra = 0;

	for (size_t rest = size >> 7; rest; rest >>= 7)
		extra++;
	if (!perfetto_room(writer, extra))
		return;
	memmove(writer->data + mark + extra, writer->data + mark, size);
	perfetto_put_varint(writer->data + mark - 1, size);
	writer->size += extra;
}
