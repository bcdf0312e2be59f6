/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_room.h - allocates words of the shards (bpf/unwind.h) to tables.
 *
 * Pieces are taken as low as possible, so that the highest shards become empty and can be freed.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_WORD_ROOM_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_WORD_ROOM_H

#include <stddef.h>
#include <stdint.h>

struct word_piece {
	uint32_t first, count;
};

/* Pieces of words: free pieces are sorted and not adjacent, a table's are in the order of their allocation. */
struct word_pieces {
	struct word_piece *piece;
	size_t count, room;
};

/* word_room_init - makes words 1 to @end - 1 free. Returns 0 or -ENOMEM; word_pieces_free() frees either list. */
int word_room_init(struct word_pieces *free_words, uint32_t end);
void word_pieces_free(struct word_pieces *pieces);

/* word_room_find - finds @count free words, at least one, within one shard of @shard words; 0: there are none */
uint32_t word_room_find(const struct word_pieces *free_words, uint32_t count, uint32_t shard);

/* word_room_take - moves these free words to @taken, the table's pieces. Returns 0, or -ENOMEM and changes nothing. */
int word_room_take(struct word_pieces *free_words, uint32_t first, uint32_t count, struct word_pieces *taken);

/* word_room_give - frees a piece. Returns 0, or -ENOMEM: it stays taken for ever. */
int word_room_give(struct word_pieces *free_words, struct word_piece piece);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_WORD_ROOM_H */
