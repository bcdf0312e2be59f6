/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/proto_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/readers/input_file.h"

#define FIELD_MAX ((uint64_t)INT32_MAX) /* a longer field is refused */

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static bool read_varint(struct proto_message *message, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; shift < 64 && message->at < message->end; shift += 7) {
		uint8_t byte = *message->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool read_fixed(struct proto_message *message, size_t size, uint64_t *value)
{
	*value = 0;
	if ((size_t)(message->end - message->at) < size)
		return false;
	for (size_t i = 0; i < size; i++)
		*value |= (uint64_t)message->at[i] << (8 * i);
	message->at += size;
	return true;
}

static bool read_value(struct proto_message *message, uint64_t tag, struct proto_field *field)
{
	uint64_t length;

	field->number = (uint32_t)(tag >> 3);
	field->value = 0;
	field->bytes = (struct proto_message){ message->at, message->at };
	switch (tag & 7) {
	case WIRE_VARINT: return read_varint(message, &field->value);
	case WIRE_64: return read_fixed(message, 8, &field->value);
	case WIRE_32: return read_fixed(message, 4, &field->value);
	case WIRE_BYTES:
		if (!read_varint(message, &length) ||
		    length > (uint64_t)(message->end - message->at))
			return false;
		field->bytes = (struct proto_message){ message->at, message->at + length };
		message->at += length;
		return true;
	default: return false;
	}
}

int proto_next(struct proto_message *message, struct proto_field *field)
{
	uint64_t tag;

	if (message->at == message->end)
		return 0;
	if (!read_varint(message, &tag) || tag >> 3 == 0 || tag >> 32 ||
	    !read_value(message, tag, field)) {
		message->at = message->end;
		return -1;
	}
	return 1;
}

size_t proto_length(const struct proto_message *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

bool proto_is(const struct proto_message *bytes, const char *text)
{
	size_t length = strlen(text);

	return proto_length(bytes) == length && memcmp(bytes->at, text, length) == 0;
}

struct reader {
	struct input_file file;
	uint64_t offset;
	char words[256]; /* why the file cannot be read; "" if no error */
	uint8_t *part; /* read-ahead buffer */
	size_t at, end;
	uint8_t *buffer;
	size_t capacity;
	bool replaced; /* the file has U+FFFD in place of bytes that were not UTF-8 */
};

/* Reads the next bytes of the file: returns 1, 0 at its end, or a negative errno. */
static int fill(struct reader *reader)
{
	int length;

	if (!reader->part)
		reader->part = malloc(input_file_part(&reader->file));
	if (!reader->part)
		return -ENOMEM;
	length = input_file_read(&reader->file, reader->part, input_file_part(&reader->file),
				 reader->words, sizeof(reader->words));
	reader->at = 0;
	reader->end = length > 0 ? (size_t)length : 0;
	if (!reader->replaced)
		reader->replaced = memmem(reader->part, reader->end, "\xef\xbf\xbd", 3) != NULL;
	return length > 0 ? 1 : length;
}

/* Returns 1, 0 at the file's end, or a negative errno. */
static int get_byte(struct reader *reader, uint8_t *byte)
{
	int got = reader->at < reader->end ? 1 : fill(reader);

	if (got <= 0)
		return got;
	*byte = reader->part[reader->at++];
	reader->offset++;
	return 1;
}

static int get_varint(struct reader *reader, uint64_t *value, bool may_end)
{
	uint8_t byte;

	*value = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		int got = get_byte(reader, &byte);

		if (got <= 0)
			return got == 0 && may_end && shift == 0 ? 0 : -EBADMSG;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 1;
	}
	return -EBADMSG;
}

static bool reserve(struct reader *reader, size_t size)
{
	size_t want = reader->capacity * 2 > size ? reader->capacity * 2 : size;
	uint8_t *grown;

	if (size <= reader->capacity)
		return true;
	grown = realloc(reader->buffer, want);
	if (!grown)
		return false;
	reader->buffer = grown;
	reader->capacity = want;
	return true;
}

/* @got_bytes: the number of bytes that exist. */
static int get_bytes(struct reader *reader, uint64_t length, uint64_t *got_bytes)
{
	uint64_t used = 0;

	*got_bytes = 0;
	if (length > FIELD_MAX)
		return -EBADMSG;
	if (!reserve(reader, 1))
		return -ENOMEM;
	while (used < length) {
		int got = reader->at < reader->end ? 1 : fill(reader);
		size_t part = reader->end - reader->at;

		if (got <= 0)
			return got == -ENOMEM ? got : -EBADMSG;
		if (part > length - used)
			part = (size_t)(length - used);
		if (!reserve(reader, used + part))
			return -ENOMEM;
		memcpy(reader->buffer + used, reader->part + reader->at, part);
		reader->at += part;
		reader->offset += part;
		used += part;
		*got_bytes = used;
	}
	return 1;
}

static int get_field(struct reader *reader, struct proto_field *field)
{
	uint64_t tag, length = 0, there = 0;
	struct proto_message rest;
	int got = get_varint(reader, &tag, true);

	*field = (struct proto_field){ 0 };
	if (got <= 0)
		return got;
	if (tag >> 3 == 0 || tag >> 32)
		return -EBADMSG;
	if ((tag & 7) == WIRE_VARINT) {
		*field = (struct proto_field){ .number = (uint32_t)(tag >> 3) };
		return get_varint(reader, &field->value, false);
	}
	if ((tag & 7) == WIRE_BYTES) {
		got = get_varint(reader, &length, false);
		if (got > 0)
			got = get_bytes(reader, length, &there);
		*field = (struct proto_field){ .number = (uint32_t)(tag >> 3) };
		if (there)
			field->bytes =
				(struct proto_message){ reader->buffer, reader->buffer + there };
		field->cut = got < 0 && there;
		return got;
	}
	length = (tag & 7) == WIRE_64 ? 8 : (tag & 7) == WIRE_32 ? 4 : 0;
	got = length ? get_bytes(reader, length, &there) : -EBADMSG;
	if (got <= 0)
		return got;
	rest = (struct proto_message){ reader->buffer, reader->buffer + length };
	return read_value(&rest, tag, field) ? 1 : -EBADMSG;
}

int proto_file_each(const char *path, int (*field)(void *context, const struct proto_field *field),
		    void *context, char *error, size_t error_size)
{
	struct reader reader = { 0 };
	struct proto_field next;
	uint64_t before = 0;
	int got, err = input_file_open(&reader.file, path, error, error_size);

	if (err)
		return err;
	while (!err && (got = get_field(&reader, &next)) != 0) {
		if (got < 0) {
			err = next.cut ? field(context, &next) : 0;
			if (err)
				break;
			err = got;
			snprintf(error, error_size, "byte %" PRIu64 ": %s", before,
				 got == -ENOMEM	   ? strerror(ENOMEM)
				 : reader.words[0] ? reader.words
				 : reader.replaced ? "a field that cannot be read, and bytes EF BF BD: if it was "
						     "saved as text, copy it anew, as a binary file"
				 : next.cut	   ? "a field that the file ends in: it is torn"
						   : "a field that cannot be read");
			break;
		}
		err = field(context, &next);
		before = reader.offset;
	}
	input_file_close(&reader.file);
	free(reader.part);
	free(reader.buffer);
	return err;
}
