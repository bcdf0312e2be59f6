/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/unpack_batch.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#define FIELDS_MAX 32 /* of a message */
#define TOP_BITS UINT64_C(0x8080808080808080) /* set in all but the last byte of a number */
#define VARINT_MAX 10 /* bytes */
#define WIRE_TYPE 7 /* low bits of a field's first byte: 0 = a number, 2 = bytes */

/* ---- Numbers */

/* Returns how many of eight bytes are the last byte of a number. */
static size_t count_ends(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	return (size_t)((~word >> 7 & ones) * ones >> 56);
}

size_t packed_count(const struct proto_message *packed)
{
	const uint8_t *at = packed->at;
	size_t count = 0;
	uint64_t word;

	for (; packed->end - at >= (ptrdiff_t)sizeof(word); at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		count += count_ends(word);
	}
	for (; at < packed->end; at++)
		count += *at < 0x80;
	return count;
}

static uint64_t eight_bytes(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

/* Decodes the number at the beginning of eight bytes, in which it ends; @bits: eight for each of its bytes. */
static inline uint64_t number_in(uint64_t word, unsigned int bits)
{
	word &= UINT64_MAX >> (64 - bits);
	/* Joins the seven bits of each byte: in pairs, fours, eights. */
	word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
	word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (word & UINT64_C(0x0fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Decodes a number of any length; returns its length in bytes, 0 if it is too long or truncated. */
static unsigned int long_number(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned int i = 0; i < VARINT_MAX && at + i < end; i++) {
		*value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
		if (at[i] < 0x80)
			return i + 1;
	}
	return 0;
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

static uint32_t unzigzag32(uint32_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

/*
 * Decodes all numbers of a column into room for packed_count() numbers. Returns false if the last number is
 * truncated. Numbers that end within eight bytes are decoded from one word: waiting for the end of each number before
 * the next takes longer than everything else.
 */
#define DEFINE_DECODE(name, type, convert)                                               \
	static bool name(const struct proto_message *packed, type *to)                   \
	{                                                                                \
		const uint8_t *at = packed->at, *end = packed->end;                      \
                                                                                         \
		while (at < end) {                                                       \
			uint64_t word = end - at >= 8 ? eight_bytes(at) : UINT64_MAX;    \
			uint64_t ends = ~word & TOP_BITS, value;                         \
			unsigned int bytes = 0, bits;                                    \
                                                                                         \
			if (ends == TOP_BITS) {                                          \
				for (int i = 0; i < 8; i++)                              \
					to[i] = (type)convert((type)at[i]);              \
				to += bytes = 8;                                         \
			}                                                                \
			for (; bytes < 8 && ends; bytes += bits / 8) {                   \
				bits = (unsigned int)__builtin_ctzll(ends) + 1;          \
				*to++ = (type)convert((type)number_in(word, bits));      \
				word = word >> (bits - 1) >> 1;                          \
				ends = ends >> (bits - 1) >> 1;                          \
			}                                                                \
			if (!bytes) {                                                    \
				bytes = long_number(at, end, &value);                    \
				if (!bytes)                                              \
					return false;                                    \
				*to++ = (type)convert((type)value);                      \
			}                                                                \
			at += bytes;                                                     \
		}                                                                        \
		return true;                                                             \
	}

DEFINE_DECODE(decode_u32, uint32_t, )
DEFINE_DECODE(decode_s32, uint32_t, unzigzag32)
DEFINE_DECODE(decode_u64, uint64_t, )
DEFINE_DECODE(decode_s64, uint64_t, unzigzag)

/* ---- Messages */

struct unpacking {
	const ProtobufCMessageDescriptor *type;
	ProtobufCAllocator *allocator;
	uint8_t *message;
	size_t counts[FIELDS_MAX]; /* entries of each field */
	size_t used[FIELDS_MAX]; /* number of these stored so far */
};

static bool is_wide(const ProtobufCFieldDescriptor *field)
{
	return field->type == PROTOBUF_C_TYPE_INT64 || field->type == PROTOBUF_C_TYPE_SINT64 ||
	       field->type == PROTOBUF_C_TYPE_UINT64;
}

static bool is_zigzag(const ProtobufCFieldDescriptor *field)
{
	return field->type == PROTOBUF_C_TYPE_SINT32 || field->type == PROTOBUF_C_TYPE_SINT64;
}

static bool is_number(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_ENUM: return !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF);
	default: return is_wide(field) && !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF);
	}
}

static bool has_numbers_only(const ProtobufCMessageDescriptor *type)
{
	for (unsigned int i = 0; i < type->n_fields; i++)
		if (!is_number(&type->fields[i]) ||
		    (type->fields[i].label != PROTOBUF_C_LABEL_REPEATED &&
		     type->fields[i].label != PROTOBUF_C_LABEL_NONE))
			return false;
	return type->n_fields <= FIELDS_MAX;
}

/* Stores a single number or an entry of a column. */
static void store(const ProtobufCFieldDescriptor *field, void *to, uint64_t value)
{
	uint32_t narrow = (uint32_t)value;

	if (is_wide(field)) {
		value = is_zigzag(field) ? unzigzag(value) : value;
		memcpy(to, &value, sizeof(value));
	} else {
		narrow = is_zigzag(field) ? unzigzag32(narrow) : narrow;
		memcpy(to, &narrow, sizeof(narrow));
	}
}

static bool decode(const ProtobufCFieldDescriptor *field, const struct proto_message *packed,
		   void *to)
{
	if (is_wide(field))
		return is_zigzag(field) ? decode_s64(packed, to) : decode_u64(packed, to);
	return is_zigzag(field) ? decode_s32(packed, to) : decode_u32(packed, to);
}

/* Calls @use for each known field; @packed: it contains a column's numbers. */
static bool each_field(struct unpacking *of, struct proto_message rest,
		       bool (*use)(struct unpacking *of, unsigned int index,
				   const struct proto_field *field, bool packed))
{
	struct proto_field field;
	const uint8_t *begin = rest.at;
	int got;

	for (; (got = proto_next(&rest, &field)) > 0; begin = rest.at) {
		const ProtobufCFieldDescriptor *known =
			protobuf_c_message_descriptor_get_field(of->type, field.number);

		if (!known)
			continue;
		/* Fixed-size numbers do not occur: the message is damaged. */
		if (*begin & WIRE_TYPE & ~2u ||
		    !use(of, (unsigned int)(known - of->type->fields), &field,
			 field.bytes.end == rest.at))
			return false;
	}
	return got == 0;
}

static bool count_field(struct unpacking *of, unsigned int index, const struct proto_field *field,
			bool packed)
{
	/* A packed column in place of a single number. */
	if (packed && of->type->fields[index].label != PROTOBUF_C_LABEL_REPEATED)
		return false;
	of->counts[index] += packed ? packed_count(&field->bytes) : 1;
	return true;
}

static bool make_columns(struct unpacking *of)
{
	for (unsigned int i = 0; i < of->type->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &of->type->fields[i];
		void *column;

		if (field->label != PROTOBUF_C_LABEL_REPEATED || !of->counts[i])
			continue;
		column = of->allocator->alloc(of->allocator->allocator_data,
					      of->counts[i] * (is_wide(field) ? 8 : 4));
		if (!column)
			return false;
		memcpy(of->message + field->offset, &column, sizeof(column));
		memcpy(of->message + field->quantifier_offset, &of->counts[i],
		       sizeof(of->counts[i]));
	}
	return true;
}

static bool read_field(struct unpacking *of, unsigned int index, const struct proto_field *field,
		       bool packed)
{
	const ProtobufCFieldDescriptor *known = &of->type->fields[index];
	uint8_t *to = of->message + known->offset;

	if (known->label != PROTOBUF_C_LABEL_REPEATED) {
		store(known, to, field->value);
		return true;
	}
	memcpy(&to, of->message + known->offset, sizeof(to));
	to += of->used[index] * (is_wide(known) ? 8 : 4);
	of->used[index] += packed ? packed_count(&field->bytes) : 1;
	if (packed)
		return decode(known, &field->bytes, to);
	store(known, to, field->value);
	return true;
}

void *unpack_batch(const ProtobufCMessageDescriptor *type, ProtobufCAllocator *allocator,
		   size_t size, const uint8_t *data)
{
	const struct proto_message body = { data, data + size };
	struct unpacking of = { .type = type, .allocator = allocator };

	if (!has_numbers_only(type))
		return protobuf_c_message_unpack(type, allocator, size, data);
	of.message = allocator->alloc(allocator->allocator_data, type->sizeof_message);
	if (!of.message)
		return NULL;
	protobuf_c_message_init(type, of.message);
	return each_field(&of, body, count_field) && make_columns(&of) &&
			       each_field(&of, body, read_field)
		       ? of.message
		       : NULL;
}
