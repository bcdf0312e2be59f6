/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrift_compact.h - a growing byte buffer, and Thrift's compact protocol, in which Parquet's headers are written.
 *
 * https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 *
 * Running out of memory is sticky: see bytes.failed.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TABLES_THRIFT_COMPACT_H
#define PROFBPF_ANALYZER_EXPORT_TABLES_THRIFT_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *data; /* owned; bytes_free() */
	size_t size;
	size_t capacity;
	bool failed; /* memory was short: the content is incomplete */
};

void bytes_free(struct bytes *bytes);

/* Appends @size bytes for the caller to fill; NULL without memory. */
uint8_t *bytes_more(struct bytes *bytes, size_t size);

void bytes_put(struct bytes *bytes, const void *data, size_t size);
void bytes_byte(struct bytes *bytes, uint8_t byte);
void bytes_varint(struct bytes *bytes, uint64_t value);
/* Zigzag encoding: small positive and negative numbers become small unsigned ones. */
void bytes_zigzag(struct bytes *bytes, int64_t value);
/* Little-endian numbers of 4 and 8 bytes. */
void bytes_u32(struct bytes *bytes, uint32_t value);
void bytes_u64(struct bytes *bytes, uint64_t value);

/* Types of fields and of lists' elements. */
enum thrift_type {
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12
};

/* Fields of a structure, in ascending order of their numbers; @last is the last number so far, initially 0. */
void thrift_i32(struct bytes *bytes, int *last, int field, int32_t value);
void thrift_i64(struct bytes *bytes, int *last, int field, int64_t value);
void thrift_binary(struct bytes *bytes, int *last, int field, const void *data, size_t size);
void thrift_text(struct bytes *bytes, int *last, int field, const char *text);

/* A structure or list in a field; its fields with a @last of their own, or its elements, follow. */
void thrift_struct(struct bytes *bytes, int *last, int field);
void thrift_list(struct bytes *bytes, int *last, int field, enum thrift_type type, size_t count);
void thrift_end(struct bytes *bytes); /* end of a structure */

#endif /* PROFBPF_ANALYZER_EXPORT_TABLES_THRIFT_COMPACT_H */
