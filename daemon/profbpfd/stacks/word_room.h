/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_room.h - which words of the shards (bpf/unwind.h) are free, and which pieces of them a table has.
 *
 * Pieces are taken as low as possible, so that the highest shards become free and can be given back.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_WORD_ROOM_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_WORD_ROOM_H

#include <stddef.h>
#include <stdint.h>

struct word_piece {
	uint32_t first, count;
};

/* In order and apart from each other where they are free, in the order in which they were taken where they are a table's. */
struct word_pieces {
	struct word_piece *piece;
	size_t count, room;
};

/* word_room_init - words 1 to @end - 1 are free. Returns 0 or -ENOMEM; word_pieces_free() frees either list. */
int word_room_init(struct word_pieces *free_words, uint32_t end);
void word_pieces_free(struct word_pieces *pieces);

/* word_room_find - @count free words, at least one, of one shard of @shard words; 0: there are none */
uint32_t word_room_find(const struct word_pieces *free_words, uint32_t count, uint32_t shard);

/* word_room_take - these, which are free, for the table that has @taken. Returns 0, or -ENOMEM and nothing is changed. */
int word_room_take(struct word_pieces *free_words, uint32_t first, uint32_t count, struct word_pieces *taken);

/* word_room_give - a piece is free again. -ENOMEM: it stays taken for ever. */
int word_room_give(struct word_pieces *free_words, struct word_piece piece);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_WORD_ROOM_H */
