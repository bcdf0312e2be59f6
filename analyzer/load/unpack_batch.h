/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_batch.h - messages of columns, which most of a trace is, several times as fast as protobuf-c unpacks them.
 *
 * Most numbers of a column take a byte, and eight of them are looked at at once.
 */
#ifndef PROFBPF_ANALYZER_LOAD_UNPACK_BATCH_H
#define PROFBPF_ANALYZER_LOAD_UNPACK_BATCH_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/import/readers/proto_fields.h"

/*
 * unpack_batch - what protobuf_c_message_unpack() gives, but that unknown fields are not kept
 *
 * NULL if the message is damaged or there is no memory. What is allocated is not given back one by one: it is for an
 * arena (arena.h). Messages that have other fields than numbers are left to protobuf-c.
 */
void *unpack_batch(const ProtobufCMessageDescriptor *type, ProtobufCAllocator *allocator,
		   size_t size, const uint8_t *data);

/* How many numbers a packed column has. */
size_t packed_count(const struct proto_message *packed);

#endif /* PROFBPF_ANALYZER_LOAD_UNPACK_BATCH_H */
