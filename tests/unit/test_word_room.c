/* SPDX-License-Identifier: Apache-2.0 */
/* Free words of the shards: for any sequence of takes and gives no word belongs to two tables, and none is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/stacks/word_room.h"

#define SHARD 64
#define END (8 * SHARD)
#define TABLES 16

static uint32_t take(struct word_pieces *room, uint32_t count, struct word_pieces *taken)
{
	uint32_t first = word_room_find(room, count, SHARD);

	if (first)
		assert_int_equal(word_room_take(room, first, count, taken), 0);
	return first;
}

static void give(struct word_pieces *room, struct word_pieces *taken)
{
	for (size_t i = 0; i < taken->count; i++)
		assert_int_equal(word_room_give(room, taken->piece[i]), 0);
	word_pieces_free(taken);
}

static void nothing_crosses_shards(void **state)
{
	struct word_pieces room, taken = { 0 };

	assert_int_equal(word_room_init(&room, END), 0);
	assert_int_equal(take(&room, 40, &taken), 1);
	assert_int_equal(take(&room, 40, &taken), SHARD);
	/* The remaining words are still free. */
	assert_int_equal(take(&room, 23, &taken), 41);
	assert_int_equal(take(&room, SHARD, &taken), 2 * SHARD);
	assert_int_equal(take(&room, SHARD + 1, &taken), 0);
	give(&room, &taken);
	assert_int_equal(room.count, 1);
	assert_int_equal(room.piece[0].first, 1);
	assert_int_equal(room.piece[0].count, END - 1);
	word_pieces_free(&room);
}

static void what_follows_is_one_piece(void **state)
{
	struct word_pieces room, taken = { 0 };

	assert_int_equal(word_room_init(&room, END), 0);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(take(&room, 10, &taken), 1 + 10 * i);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.piece[0].count, 60);
	give(&room, &taken);
	word_pieces_free(&room);
}

/* @of: the table of each word, 0 = free. */
static void check(const struct word_pieces *room, const struct word_pieces *tables)
{
	uint8_t of[END] = { 0 };
	uint32_t words = 0;

	for (size_t t = 0; t <= TABLES; t++) {
		const struct word_pieces *p = t < TABLES ? &tables[t] : room;

		for (size_t i = 0; i < p->count; i++) {
			for (uint32_t w = 0; w < p->piece[i].count; w++)
				assert_int_equal(of[p->piece[i].first + w]++, 0);
			words += p->piece[i].count;
		}
	}
	assert_int_equal(words, END - 1);
	for (size_t i = 1; i < room->count; i++)
		assert_true(room->piece[i - 1].first + room->piece[i - 1].count < room->piece[i].first);
}

static void no_word_is_lost(void **state)
{
	struct word_pieces room, tables[TABLES] = { 0 };

	assert_int_equal(word_room_init(&room, END), 0);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct word_pieces *table = &tables[rand() % TABLES];
		uint32_t count = 1 + (uint32_t)rand() % 40;

		if (rand() % 4 == 0)
			give(&room, table);
		else if (take(&room, count, table) % SHARD + count > SHARD)
			fail();
		check(&room, tables);
	}
	for (size_t t = 0; t < TABLES; t++)
		give(&room, &tables[t]);
	assert_int_equal(room.count, 1);
	word_pieces_free(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_crosses_shards),
		cmocka_unit_test(what_follows_is_one_piece),
		cmocka_unit_test(no_word_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
