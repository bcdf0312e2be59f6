/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/arena.h"

#include <stdalign.h>
#include <stdlib.h>

#define CHUNK_SIZE (1u << 20)
#define ALIGNMENT alignof(max_align_t)

struct arena_chunk {
	struct arena_chunk *older;
	size_t size;
	alignas(max_align_t) unsigned char bytes[];
};

static struct arena_chunk *add_chunk(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk;

	if (size < CHUNK_SIZE)
		size = CHUNK_SIZE;
	chunk = malloc(sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->older = arena->chunks;
	arena->chunks = chunk;
	arena->used = 0;
	return chunk;
}

static void *arena_alloc(void *data, size_t size)
{
	struct arena *arena = data;
	struct arena_chunk *chunk = arena->chunks;
	void *memory;

	if (size > arena->limit - arena->total)
		return NULL;
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!chunk || size > chunk->size - arena->used)
		chunk = add_chunk(arena, size);
	if (!chunk)
		return NULL;
	memory = chunk->bytes + arena->used;
	arena->used += size;
	arena->total += size < arena->limit - arena->total ? size : arena->limit - arena->total;
	return memory;
}

static void arena_free(void *data, void *pointer)
{
	/* All memory is released at once, by the reset. */
}

void arena_init(struct arena *arena, size_t limit)
{
	*arena = (struct arena){ .limit = limit };
	arena->allocator.alloc = arena_alloc;
	arena->allocator.free = arena_free;
	arena->allocator.allocator_data = arena;
}

static void free_chunks(struct arena_chunk *chunk)
{
	while (chunk) {
		struct arena_chunk *older = chunk->older;

		free(chunk);
		chunk = older;
	}
}

void arena_reset(struct arena *arena)
{
	if (arena->chunks) {
		free_chunks(arena->chunks->older);
		arena->chunks->older = NULL;
	}
	arena->used = 0;
	arena->total = 0;
}

void arena_release(struct arena *arena)
{
	free_chunks(arena->chunks);
	arena->chunks = NULL;
	arena->used = 0;
	arena->total = 0;
}
