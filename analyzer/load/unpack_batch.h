/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_batch.h - unpacks messages of columns, the largest part of a trace, several times as fast as protobuf-c.
 *
 * Most numbers of a column take one byte; eight bytes are tested at once.
 */
#ifndef PROFBPF_ANALYZER_LOAD_UNPACK_BATCH_H
#define PROFBPF_ANALYZER_LOAD_UNPACK_BATCH_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/import/readers/proto_fields.h"

/*
 * unpack_batch - the result of protobuf_c_message_unpack() without unknown fields
 *
 * Returns NULL if the message is damaged, or without memory. Allocations are not freed one by one: @allocator is for
 * an arena (arena.h). Messages with fields other than numbers are left to protobuf-c.
 */
void *unpack_batch(const ProtobufCMessageDescriptor *type, ProtobufCAllocator *allocator,
		   size_t size, const uint8_t *data);

/* The number of values in a packed column. */
size_t packed_count(const struct proto_message *packed);

#endif /* PROFBPF_ANALYZER_LOAD_UNPACK_BATCH_H */
