/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt_header.c - finds and reads the fields in front of a packet's body.
 *
 * Not done by protobuf-c because it wants the whole message and copies the body,
 * and because damage should be noticed before all of a packet has been read.
 */
#include <string.h>

#include "lib/trace/pbt.h"
#include "lib/trace/pbt_header.h"

#define TAG_SYNC 0x09 /* field 1, fixed64 */
#define TAG_SYNC_TEXT "\x09"

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

enum field {
	FIELD_SYNC = 1,
	FIELD_CRC32 = 2,
	FIELD_KIND = 3,
	FIELD_CODEC = 4,
	FIELD_BODY_SIZE = 5,
	FIELD_BODY = 6,
};

struct cursor {
	const uint8_t *p;
	const uint8_t *end;
};

bool pbt_mark_matches(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size && i < PBT_MARK_SIZE; i++) {
		bool ok;

		if (i == 0)
			ok = data[i] == 0x0a;
		else if (i < PBT_FRAME_SIZE)
			ok = !(data[i] & 0x80) == (i == PBT_FRAME_SIZE - 1);
		else if (i == PBT_FRAME_SIZE)
			ok = data[i] == TAG_SYNC;
		else
			ok = data[i] == (uint8_t)PBT_SYNC[i - PBT_FRAME_SIZE - 1];
		if (!ok)
			return false;
	}
	return true;
}

bool pbt_find_mark(const uint8_t *data, size_t size, size_t *position)
{
	static const char pattern[] = TAG_SYNC_TEXT PBT_SYNC;
	const uint8_t *found;

	if (size < PBT_MARK_SIZE)
		return false;
	found = memmem(data + PBT_FRAME_SIZE, size - PBT_FRAME_SIZE, pattern, sizeof(pattern) - 1);
	if (!found)
		return false;
	*position = (size_t)(found - data) - PBT_FRAME_SIZE;
	return true;
}

const char *pbt_header_length(const uint8_t *mark, size_t *total)
{
	uint64_t length = 0;

	for (int i = 0; i < 5; i++)
		length |= (uint64_t)(mark[1 + i] & 0x7f) << (7 * i);
	if (length < PBT_MARK_SIZE - PBT_FRAME_SIZE || length > PBT_HEADER_MAX + PBT_BODY_MAX)
		return "impossible packet length";
	*total = PBT_FRAME_SIZE + (size_t)length;
	return NULL;
}

static bool get_varint(struct cursor *c, uint64_t *value)
{
	*value = 0;
	for (int shift = 0; shift < 70 && c->p < c->end; shift += 7) {
		uint8_t byte = *c->p++;

		/* Bits beyond the 64th are dropped, as protobuf does. */
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool get_fixed32(struct cursor *c, uint32_t *value)
{
	if (c->end - c->p < 4)
		return false;
	*value = (uint32_t)c->p[0] | (uint32_t)c->p[1] << 8 | (uint32_t)c->p[2] << 16 |
		 (uint32_t)c->p[3] << 24;
	c->p += 4;
	return true;
}

static bool pass_over(struct cursor *c, uint64_t size)
{
	if (size > (uint64_t)(c->end - c->p))
		return false;
	c->p += size;
	return true;
}

static uint32_t *varint_field(struct pbt_header *header, uint64_t field)
{
	switch (field) {
	case FIELD_KIND: return &header->kind;
	case FIELD_CODEC: return &header->codec;
	case FIELD_BODY_SIZE: return &header->body_size;
	default: return NULL;
	}
}

/* Reads one field other than the body; @tag is its tag. */
static bool get_field(struct cursor *c, uint64_t tag, struct pbt_header *header, bool *has_crc)
{
	uint64_t field = tag >> 3, value;
	uint32_t fixed;

	if (field == 0)
		return false;
	switch (tag & 7) {
	case WIRE_VARINT:
		if (!get_varint(c, &value))
			return false;
		if (varint_field(header, field))
			*varint_field(header, field) = (uint32_t)value;
		return true;
	case WIRE_FIXED64: return pass_over(c, 8);
	case WIRE_FIXED32:
		if (!get_fixed32(c, &fixed))
			return false;
		if (field == FIELD_CRC32) {
			header->crc32 = fixed;
			*has_crc = true;
		}
		return true;
	case WIRE_BYTES: return get_varint(c, &value) && pass_over(c, value);
	default: return false;
	}
}

const char *pbt_header_parse(const uint8_t *data, size_t size, struct pbt_header *header)
{
	static const char *const damaged = "damaged packet header";
	struct cursor c = { data + PBT_FRAME_SIZE, data + size };
	size_t total = header->total;
	bool has_crc = false;
	uint64_t tag;

	*header = (struct pbt_header){ .total = total, .body_offset = total };
	while ((size_t)(c.p - data) < total) {
		if (!get_varint(&c, &tag))
			return damaged;
		if (tag == (FIELD_BODY << 3 | WIRE_BYTES)) {
			uint64_t stored;

			if (!get_varint(&c, &stored) || stored != total - (size_t)(c.p - data))
				return damaged;
			header->body_offset = (size_t)(c.p - data);
			header->stored_size = (size_t)stored;
			break;
		}
		if (!get_field(&c, tag, header, &has_crc))
			return damaged;
	}
	if (!has_crc)
		return damaged;
	if (header->body_size > PBT_BODY_MAX)
		return "a body larger than 64 MiB";
	return NULL;
}
