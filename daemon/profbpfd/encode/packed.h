/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - builds packed columns value by value, and messages from them.
 *
 * protobuf-c passes over every column three times: to collect it, to size it, to
 * write it. For millions of records that is most of the daemon's time; here a value
 * becomes its varint at once. The wire format is protobuf's: any protobuf library
 * reads the result.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_PACKED_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_PACKED_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <protobuf-c/protobuf-c.h>

#define VARINT_MAX 10 /* bytes */

struct packed {
	uint8_t *data;
	uint8_t *end;		/* behind the last value */
	size_t capacity;	/* bytes of data */
	uint64_t last;		/* last value, in delta columns */
	uint64_t any;		/* all values or-ed: 0 if the column can be left out */
};

/* packed_start - empty the column, with room for @rows values; 0 or -ENOMEM */
int packed_start(struct packed *column, size_t rows);
void packed_free(struct packed *column);

static inline uint8_t *varint_put(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)value | 0x80;
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

/*
 * varint_put_time - the same for times, whose lengths are unpredictable
 *
 * A mispredicted branch costs more than all the rest, so up to four bytes are made without a
 * branch; VARINT_MAX bytes at @to may be written. Most other values have one byte: for them it is slower.
 */
static inline uint8_t *varint_put_time(uint8_t *to, uint64_t value)
{
	uint32_t v = (uint32_t)value, more, bytes;

	if (value >= 1u << 28)
		return varint_put(to, value);
	more = (31 - (uint32_t)__builtin_clz(v | 1)) / 7;
	bytes = (v & 0x7f) | (v & 0x3f80) << 1 | (v & 0x1fc000) << 2 | (v & 0xfe00000) << 3;
	bytes = htole32(bytes | (0x80808080u & ((1u << 8 * more) - 1)));
	memcpy(to, &bytes, sizeof(bytes));
	return to + more + 1;
}

/*
 * packed_put        - adds a value to a uint32 or uint64 column
 * packed_put_signed - adds a value to a sint32 or sint64 column
 * packed_put_growth - adds the difference to the previous value, which was not larger
 * packed_put_delta  - adds the difference to the previous value to a sint32 or sint64 column
 * packed_put_time, packed_put_time_delta - packed_put and packed_put_delta for times
 *
 * At most as many values as packed_start() made room for.
 */
static inline void packed_put(struct packed *column, uint64_t value)
{
	column->any |= value;
	column->end = varint_put(column->end, value);
}

static inline void packed_put_signed(struct packed *column, int64_t value)
{
	packed_put(column, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void packed_put_growth(struct packed *column, uint64_t value)
{
	packed_put(column, value - column->last);
	column->last = value;
}

static inline void packed_put_delta(struct packed *column, uint64_t value)
{
	packed_put_signed(column, (int64_t)(value - column->last));
	column->last = value;
}

static inline void packed_put_time(struct packed *column, uint64_t value)
{
	column->any |= value;
	column->end = varint_put_time(column->end, value);
}

static inline void packed_put_time_delta(struct packed *column, uint64_t value)
{
	int64_t delta = (int64_t)(value - column->last);

	packed_put_time(column, (uint64_t)delta << 1 ^ (uint64_t)(delta >> 63));
	column->last = value;
}

/* A message under construction. */
struct packed_message {
	const ProtobufCMessageDescriptor *type;
	uint8_t *data;
	size_t size;
	size_t capacity;
};

/* packed_message_start - empties it; @type has the fields */
void packed_message_start(struct packed_message *message, const ProtobufCMessageDescriptor *type);

/*
 * packed_message_value  - add a number by its field's name; 0 is left out
 * packed_message_column - add a column, which is left out if it is all zeros and not @always
 *
 * Return 0, -ENOMEM, or -EINVAL for a field that the message does not have.
 */
int packed_message_value(struct packed_message *message, const char *field, uint64_t value);
int packed_message_column(struct packed_message *message, const char *field,
			  const struct packed *column, bool always);
void packed_message_free(struct packed_message *message);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_PACKED_H */
