/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory for one unpacked packet at a time.
 *
 * Unpacking a batch allocates one array per column; an arena makes these allocations nearly free,
 * and bounds the memory that a hostile packet can make the unpacker allocate.
 */
#ifndef PROFBPF_ANALYZER_LOAD_ARENA_H
#define PROFBPF_ANALYZER_LOAD_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
	ProtobufCAllocator allocator; /* pass &arena->allocator to the unpacker */
	struct arena_chunk *chunks; /* newest first */
	size_t used; /* of the newest chunk */
	size_t total; /* allocated since the last reset */
	size_t limit;
};

/* Allocations beyond @limit bytes between two resets fail. */
void arena_init(struct arena *arena, size_t limit);

/* Invalidates all allocations; keeps the memory for the next packet. */
void arena_reset(struct arena *arena);
void arena_release(struct arena *arena);

#endif /* PROFBPF_ANALYZER_LOAD_ARENA_H */
