/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/tables/thrift_compact.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

static bool grow(struct bytes *bytes, size_t size)
{
	size_t capacity = bytes->capacity ? bytes->capacity : 256;
	uint8_t *grown;

	while (capacity - bytes->size < size)
		capacity *= 2;
	grown = realloc(bytes->data, capacity);
	if (!grown) {
		bytes->failed = true;
		return false;
	}
	bytes->data = grown;
	bytes->capacity = capacity;
	return true;
}

uint8_t *bytes_more(struct bytes *bytes, size_t size)
{
	if (bytes->capacity - bytes->size < size && !grow(bytes, size))
		return NULL;
	bytes->size += size;
	return bytes->data + bytes->size - size;
}

void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	uint8_t *more = size ? bytes_more(bytes, size) : NULL;

	if (more)
		memcpy(more, data, size);
}

void bytes_byte(struct bytes *bytes, uint8_t byte)
{
	bytes_put(bytes, &byte, 1);
}

void bytes_varint(struct bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes_byte(bytes, (uint8_t)value | 0x80);
	bytes_byte(bytes, (uint8_t)value);
}

void bytes_zigzag(struct bytes *bytes, int64_t value)
{
	bytes_varint(bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void bytes_u32(struct bytes *bytes, uint32_t value)
{
	value = htole32(value);
	bytes_put(bytes, &value, sizeof(value));
}

void bytes_u64(struct bytes *bytes, uint64_t value)
{
	value = htole64(value);
	bytes_put(bytes, &value, sizeof(value));
}

static void field_header(struct bytes *bytes, int *last, int field, enum thrift_type type)
{
	/* Field numbers in Parquet's structures never differ by more than 15, which would need another encoding. */
	bytes_byte(bytes, (uint8_t)((field - *last) << 4 | type));
	*last = field;
}

void thrift_i32(struct bytes *bytes, int *last, int field, int32_t value)
{
	field_header(bytes, last, field, THRIFT_I32);
	bytes_zigzag(bytes, value);
}

void thrift_i64(struct bytes *bytes, int *last, int field, int64_t value)
{
	field_header(bytes, last, field, THRIFT_I64);
	bytes_zigzag(bytes, value);
}

void thrift_binary(struct bytes *bytes, int *last, int field, const void *data, size_t size)
{
	field_header(bytes, last, field, THRIFT_BINARY);
	bytes_varint(bytes, size);
	bytes_put(bytes, data, size);
}

void thrift_text(struct bytes *bytes, int *last, int field, const char *text)
{
	thrift_binary(bytes, last, field, text, strlen(text));
}

void thrift_struct(struct bytes *bytes, int *last, int field)
{
	field_header(bytes, last, field, THRIFT_STRUCT);
}

void thrift_list(struct bytes *bytes, int *last, int field, enum thrift_type type, size_t count)
{
	field_header(bytes, last, field, THRIFT_LIST);
	bytes_byte(bytes, (uint8_t)((count < 15 ? count : 15) << 4 | type));
	if (count >= 15)
		bytes_varint(bytes, count);
}

void thrift_end(struct bytes *bytes)
{
	bytes_byte(bytes, 0);
}
