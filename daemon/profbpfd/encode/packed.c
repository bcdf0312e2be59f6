/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Wire types of the protobuf encoding. */
#define WIRE_VARINT 0
#define WIRE_BYTES 2

int packed_start(struct packed *column, size_t rows)
{
	size_t need = rows * VARINT_MAX;

	if (need > column->capacity) {
		/* The content is not needed any more. */
		free(column->data);
		column->data = malloc(need);
		column->capacity = column->data ? need : 0;
	}
	column->end = column->data;
	column->last = 0;
	column->any = 0;
	return rows && !column->data ? -ENOMEM : 0;
}

void packed_free(struct packed *column)
{
	free(column->data);
	*column = (struct packed){ 0 };
}

void packed_message_start(struct packed_message *message, const ProtobufCMessageDescriptor *type)
{
	message->type = type;
	message->size = 0;
}

static int reserve(struct packed_message *message, size_t more)
{
	size_t capacity = message->size + more;
	uint8_t *data;

	if (capacity <= message->capacity)
		return 0;
	capacity += capacity / 2;
	data = realloc(message->data, capacity);
	if (!data)
		return -ENOMEM;
	message->data = data;
	message->capacity = capacity;
	return 0;
}

/* Adds the tag and @value: the number itself, or the size of the following data. */
static int add_head(struct packed_message *message, const char *field, unsigned int wire,
		    uint64_t value, size_t follows)
{
	const ProtobufCFieldDescriptor *f =
		protobuf_c_message_descriptor_get_field_by_name(message->type, field);
	uint8_t *to;

	if (!f)
		return -EINVAL;
	if (reserve(message, 2 * VARINT_MAX + follows))
		return -ENOMEM;
	to = varint_put(message->data + message->size, (uint64_t)f->id << 3 | wire);
	message->size = varint_put(to, value) - message->data;
	return 0;
}

int packed_message_value(struct packed_message *message, const char *field, uint64_t value)
{
	return value ? add_head(message, field, WIRE_VARINT, value, 0) : 0;
}

int packed_message_column(struct packed_message *message, const char *field,
			  const struct packed *column, bool always)
{
	size_t size = column->end - column->data;
	int err;

	if (!size || (!column->any && !always))
		return 0;
	err = add_head(message, field, WIRE_BYTES, size, size);
	if (err)
		return err;
	memcpy(message->data + message->size, column->data, size);
	message->size += size;
	return 0;
}

void packed_message_free(struct packed_message *message)
{
	free(message->data);
	*message = (struct packed_message){ 0 };
}
