/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory for one unpacked packet at a time.
 *
 * Unpacking a batch makes one array per column; from an arena they cost next to
 * nothing, and what a hostile packet can make the unpacker ask for is bounded.
 */
#ifndef PROFBPF_ANALYZER_LOAD_ARENA_H
#define PROFBPF_ANALYZER_LOAD_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
	ProtobufCAllocator allocator; /* hand &arena->allocator to the unpacker */
	struct arena_chunk *chunks; /* newest first */
	size_t used; /* of the newest chunk */
	size_t total; /* handed out since the last reset */
	size_t limit;
};

/* Allocations beyond @limit bytes between two resets fail. */
void arena_init(struct arena *arena, size_t limit);

/* Everything allocated so far becomes invalid; the memory is kept for the next packet. */
void arena_reset(struct arena *arena);
void arena_release(struct arena *arena);

#endif /* PROFBPF_ANALYZER_LOAD_ARENA_H */
