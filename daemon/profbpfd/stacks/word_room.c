/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/word_room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more piece; 0 or -ENOMEM. */
static int grow(struct word_pieces *p)
{
	size_t room = p->room ? 2 * p->room : 4;
	struct word_piece *piece;

	if (p->count < p->room)
		return 0;
	piece = reallocarray(p->piece, room, sizeof(*piece));
	if (!piece)
		return -ENOMEM;
	p->piece = piece;
	p->room = room;
	return 0;
}

/* The caller has made room. */
static void insert(struct word_pieces *p, size_t place, struct word_piece piece)
{
	memmove(&p->piece[place + 1], &p->piece[place], (p->count - place) * sizeof(piece));
	p->piece[place] = piece;
	p->count++;
}

static void erase(struct word_pieces *p, size_t place)
{
	p->count--;
	memmove(&p->piece[place], &p->piece[place + 1], (p->count - place) * sizeof(p->piece[0]));
}

int word_room_init(struct word_pieces *f, uint32_t end)
{
	*f = (struct word_pieces){ 0 };
	if (grow(f))
		return -ENOMEM;
	insert(f, 0, (struct word_piece){ 1, end - 1 });
	return 0;
}

void word_pieces_free(struct word_pieces *p)
{
	free(p->piece);
	*p = (struct word_pieces){ 0 };
}

uint32_t word_room_find(const struct word_pieces *f, uint32_t count, uint32_t shard)
{
	for (size_t i = 0; i < f->count && count <= shard; i++) {
		uint32_t first = f->piece[i].first, end = first + f->piece[i].count;

		if (shard - first % shard < count)
			first += shard - first % shard;
		if (first < end && end - first >= count)
			return first;
	}
	return 0;
}

/* Returns the index of the first piece that ends behind @word. */
static size_t place_of(const struct word_pieces *f, uint32_t word)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->piece[middle].first + f->piece[middle].count > word)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void cut(struct word_pieces *f, size_t place, uint32_t first, uint32_t count)
{
	struct word_piece *piece = &f->piece[place];
	struct word_piece behind = { first + count, piece->first + piece->count - first - count };

	piece->count = first - piece->first;
	if (behind.count && piece->count)
		insert(f, place + 1, behind);
	else if (behind.count)
		*piece = behind;
	else if (!piece->count)
		erase(f, place);
}

int word_room_take(struct word_pieces *f, uint32_t first, uint32_t count, struct word_pieces *taken)
{
	struct word_piece *last;

	if (grow(f) || grow(taken))
		return -ENOMEM;
	last = taken->count ? &taken->piece[taken->count - 1] : NULL;
	if (last && last->first + last->count == first)
		last->count += count;
	else
		insert(taken, taken->count, (struct word_piece){ first, count });
	cut(f, place_of(f, first), first, count);
	return 0;
}

int word_room_give(struct word_pieces *f, struct word_piece piece)
{
	size_t place = place_of(f, piece.first);
	struct word_piece *before = place ? &f->piece[place - 1] : NULL;
	struct word_piece *behind = place < f->count ? &f->piece[place] : NULL;

	if (before && before->first + before->count == piece.first) {
		before->count += piece.count;
		if (behind && behind->first == before->first + before->count) {
			before->count += behind->count;
			erase(f, place);
		}
	} else if (behind && behind->first == piece.first + piece.count) {
		*behind = (struct word_piece){ piece.first, piece.count + behind->count };
	} else {
		if (grow(f))
			return -ENOMEM;
		insert(f, place, piece);
	}
	return 0;
}
