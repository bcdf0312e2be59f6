/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt_write.c - encode packets of a .pbt trace.
 *
 * The few fields around the body are written by hand, so that the body is
 * compressed straight into the output buffer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "lib/trace/pbt.h"

#define ZSTD_LEVEL 1
#define COMPRESS_MIN 64 /* bytes; smaller bodies never get shorter than zstd's own header */
#define ENCODED_HEADER_MAX 48 /* mark 15, crc32 5, kind 6, codec 2, body_size 6, body 6 */

/* Protobuf tags: field number << 3 | wire type. */
#define TAG_SYNC 0x09
#define TAG_CRC32 0x15
#define TAG_KIND 0x18
#define TAG_CODEC 0x20
#define TAG_BODY_SIZE 0x28
#define TAG_BODY 0x32

struct pbt_encoder {
	ZSTD_CCtx *zstd;
};

struct pbt_encoder *pbt_encoder_new(void)
{
	struct pbt_encoder *encoder = calloc(1, sizeof(*encoder));

	if (!encoder)
		return NULL;
	encoder->zstd = ZSTD_createCCtx();
	if (!encoder->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(
				      encoder->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL))) {
		pbt_encoder_free(encoder);
		return NULL;
	}
	return encoder;
}

void pbt_encoder_free(struct pbt_encoder *encoder)
{
	if (!encoder)
		return;
	ZSTD_freeCCtx(encoder->zstd);
	free(encoder);
}

void pbt_buffer_free(struct pbt_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct pbt_buffer){ 0 };
}

static uint8_t *put_le32(uint8_t *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		*p++ = (uint8_t)(value >> (8 * i));
	return p;
}

static uint8_t *put_varint(uint8_t *p, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		*p++ = (uint8_t)(value | 0x80);
	*p++ = (uint8_t)value;
	return p;
}

/* As protobuf wants it, a field that is 0 is left out. */
static uint8_t *put_field(uint8_t *p, uint8_t tag, uint32_t value)
{
	if (!value)
		return p;
	*p++ = tag;
	return put_varint(p, value);
}

uint32_t pbt_checksum(uint32_t kind, uint32_t codec, uint32_t body_size, const void *body,
		      size_t size)
{
	uint8_t fields[12];
	uLong crc;

	put_le32(put_le32(put_le32(fields, kind), codec), body_size);
	crc = crc32_z(0, fields, sizeof(fields));
	return size ? (uint32_t)crc32_z(crc, body, size) : (uint32_t)crc;
}

static int reserve(struct pbt_buffer *out, size_t more)
{
	size_t capacity = out->capacity ? out->capacity : 4096;
	uint8_t *data;

	if (more <= out->capacity - out->size)
		return 0;
	if (more > SIZE_MAX / 2 - out->size)
		return -ENOMEM;
	while (capacity < out->size + more)
		capacity *= 2;
	data = realloc(out->data, capacity);
	if (!data)
		return -ENOMEM;
	out->data = data;
	out->capacity = capacity;
	return 0;
}

/* Writes everything before the body to @to; returns its length. */
static size_t put_header(uint8_t *to, uint32_t kind, uint32_t codec, uint32_t body_size,
			 const uint8_t *body, size_t size)
{
	uint8_t *p = to + PBT_FRAME_SIZE;
	size_t length;

	*p++ = TAG_SYNC;
	memcpy(p, PBT_SYNC, PBT_SYNC_SIZE);
	p += PBT_SYNC_SIZE;
	*p++ = TAG_CRC32;
	p = put_le32(p, pbt_checksum(kind, codec, body_size, body, size));
	p = put_field(p, TAG_KIND, kind);
	p = put_field(p, TAG_CODEC, codec);
	p = put_field(p, TAG_BODY_SIZE, body_size);
	p = put_field(p, TAG_BODY, (uint32_t)size);

	length = (size_t)(p - to) - PBT_FRAME_SIZE + size;
	to[0] = 0x0a;
	for (int i = 0; i < 5; i++)
		to[1 + i] = (uint8_t)((length >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
	return (size_t)(p - to);
}

/* Returns the compressed size, or 0 if @body is better left as it is. */
static size_t compress_body(struct pbt_encoder *encoder, uint8_t *to, const void *body, size_t size)
{
	size_t result;

	if (size < COMPRESS_MIN)
		return 0;
	/* One byte less than the body: what would not save anything fails. */
	result = ZSTD_compress2(encoder->zstd, to, size - 1, body, size);
	return ZSTD_isError(result) ? 0 : result;
}

int pbt_encode(struct pbt_encoder *encoder, Profbpf__Packet__Kind kind, const void *body,
	       size_t size, struct pbt_buffer *out)
{
	uint8_t header[ENCODED_HEADER_MAX];
	uint8_t *start, *stored;
	uint32_t codec = PROFBPF__PACKET__CODEC__ZSTD;
	size_t stored_size, header_size;

	if ((int)kind < 0)
		return -EINVAL;
	if (size > PBT_BODY_MAX)
		return -EMSGSIZE;
	if (reserve(out, ENCODED_HEADER_MAX + size))
		return -ENOMEM;

	start = out->data + out->size;
	stored = start + ENCODED_HEADER_MAX;
	stored_size = compress_body(encoder, stored, body, size);
	if (!stored_size) {
		codec = PROFBPF__PACKET__CODEC__NONE;
		stored_size = size;
	}
	header_size = put_header(header, (uint32_t)kind, codec, (uint32_t)size,
				 codec == PROFBPF__PACKET__CODEC__NONE ? body : stored,
				 stored_size);
	memcpy(start, header, header_size);
	if (codec == PROFBPF__PACKET__CODEC__ZSTD)
		memmove(start + header_size, stored, stored_size);
	else if (size)
		memcpy(start + header_size, body, size);
	out->size += header_size + stored_size;
	return 0;
}
