/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/sqlite_memory.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/input.h"

#define LEAST 32 /* bytes of the smallest piece; each next size is twice as large */
#define SIZES 16
#define BLOCK (1u << 20) /* pieces are cut from blocks of this size */

/* The header before each piece. */
union head {
	struct {
		union head *next; /* next free piece of this size */
		uint32_t size; /* index of SIZES */
		int bytes;
	};
	max_align_t align;
};

static union head *unused[SIZES];
static char *block;
static size_t block_left;

static uint32_t size_of(int bytes)
{
	uint32_t size = 0;

	while (size < SIZES && (LEAST << size) < bytes)
		size++;
	return size;
}

static void *get(int bytes)
{
	uint32_t size = size_of(bytes);
	size_t need = sizeof(union head) + (LEAST << size);
	union head *head;

	if (size == SIZES)
		return NULL;
	head = unused[size];
	if (head) {
		unused[size] = head->next;
	} else if (need > BLOCK / 4) {
		head = malloc(need);
		check(head != NULL);
	} else {
		if (block_left < need) {
			/* The rest of the last block stays unused. */
			block = malloc(BLOCK);
			check(block != NULL);
			block_left = BLOCK;
		}
		head = (union head *)(block + BLOCK - block_left);
		block_left -= need;
	}
	head->size = size;
	head->bytes = LEAST << size;
	return head + 1;
}

static void put(void *piece)
{
	union head *head = piece;

	if (!piece)
		return;
	head--;
	head->next = unused[head->size];
	unused[head->size] = head;
}

static int bytes_of(void *piece)
{
	return piece ? ((union head *)piece)[-1].bytes : 0;
}

static void *resize(void *piece, int bytes)
{
	void *larger;

	if (bytes <= bytes_of(piece))
		return piece;
	larger = get(bytes);
	if (larger) {
		memcpy(larger, piece, (size_t)bytes_of(piece));
		put(piece);
	}
	return larger;
}

static int round_up(int bytes)
{
	uint32_t size = size_of(bytes);

	return size < SIZES ? LEAST << size : bytes;
}

static int begin(void *unused_data)
{
	return SQLITE_OK;
}

static void end(void *unused_data)
{
}

void sqlite_memory_use(void)
{
	static const struct sqlite3_mem_methods METHODS = {
		get, put, resize, bytes_of, round_up, begin, end, NULL,
	};

	check(sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == SQLITE_OK);
	check(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK);
	check(sqlite3_config(SQLITE_CONFIG_MALLOC, &METHODS) == SQLITE_OK);
}
