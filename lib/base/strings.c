/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strings.c - string interner: an arena of texts, an array from id to text and
 * an open-addressing hash table from text to id.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "lib/base/strings.h"

#define BLOCK_SIZE (64u << 10) /* bytes of text per arena block; longer texts get their own */
#define FIRST_SLOTS 256 /* a power of two */

struct entry {
	const char *text; /* with a NUL behind it */
	uint32_t length;
	uint32_t hash;
};

struct block {
	struct block *next;
	char text[];
};

struct string_table {
	struct entry *entries; /* by id */
	uint32_t count;
	uint32_t capacity;
	uint32_t *slots; /* ids; 0 = free, since id 0 is never looked up */
	size_t slot_count;
	struct block *blocks; /* the first one is being filled */
	size_t block_left;
	size_t text_bytes;
	uint64_t seed[2];
};

/* Multiplies to 128 bits and folds: each bit of both factors reaches the result. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_text(const struct string_table *table, const char *text, size_t length)
{
	uint64_t hash = table->seed[0] ^ length;
	uint64_t word;

	for (; length >= 8; text += 8, length -= 8) {
		memcpy(&word, text, 8);
		hash = mix(hash ^ word, table->seed[1]);
	}
	word = 0;
	memcpy(&word, text, length);
	hash = mix(hash ^ word, table->seed[1]);
	return (uint32_t)mix(hash, table->seed[0] ^ 0x9e3779b97f4a7c15ull);
}

static void seed_table(struct string_table *table)
{
	struct timespec now;

	if (getrandom(table->seed, sizeof(table->seed), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(table->seed)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		table->seed[0] = (uint64_t)now.tv_nsec * 0xa0761d6478bd642full;
		table->seed[1] = (uint64_t)(uintptr_t)table * 0xe7037ed1a0b428dbull;
	}
	/* An even factor would lose bits. */
	table->seed[1] |= 1;
}

struct string_table *string_table_new(void)
{
	struct string_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	seed_table(table);
	table->slots = calloc(FIRST_SLOTS, sizeof(*table->slots));
	table->entries = calloc(FIRST_SLOTS, sizeof(*table->entries));
	if (!table->slots || !table->entries) {
		string_table_free(table);
		return NULL;
	}
	table->slot_count = FIRST_SLOTS;
	table->capacity = FIRST_SLOTS;
	table->entries[0].text = "";
	table->count = 1;
	return table;
}

static void free_blocks(struct string_table *table)
{
	struct block *next;

	for (struct block *block = table->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	table->blocks = NULL;
	table->block_left = 0;
	table->text_bytes = 0;
}

void string_table_free(struct string_table *table)
{
	if (!table)
		return;
	free_blocks(table);
	free(table->entries);
	free(table->slots);
	free(table);
}

void string_table_clear(struct string_table *table)
{
	free_blocks(table);
	memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
	table->count = 1;
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t *find_slot(const struct string_table *table, uint32_t hash, const char *text,
			   size_t length)
{
	size_t mask = table->slot_count - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		uint32_t id = table->slots[i];
		const struct entry *entry = &table->entries[id];

		if (!id || (entry->hash == hash && entry->length == length &&
			    !memcmp(entry->text, text, length)))
			return &table->slots[i];
	}
}

static int grow_entries(struct string_table *table)
{
	uint32_t capacity;
	struct entry *entries;

	if (table->count < table->capacity)
		return 0;
	if (table->count == STRING_NONE)
		return -1;
	capacity = table->capacity > STRING_NONE / 2 ? STRING_NONE : table->capacity * 2;
	entries = reallocarray(table->entries, capacity, sizeof(*entries));
	if (!entries)
		return -1;
	table->entries = entries;
	table->capacity = capacity;
	return 0;
}

/* Keeps a quarter of the slots free, so that probing stays short. */
static int grow_slots(struct string_table *table)
{
	size_t slot_count = table->slot_count * 2;
	uint32_t *slots;

	if (table->count < table->slot_count / 4 * 3)
		return 0;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return -1;
	for (uint32_t id = 1; id < table->count; id++) {
		size_t i = table->entries[id].hash & (slot_count - 1);

		while (slots[i])
			i = (i + 1) & (slot_count - 1);
		slots[i] = id;
	}
	free(table->slots);
	table->slots = slots;
	table->slot_count = slot_count;
	return 0;
}

static char *new_block(struct string_table *table, size_t size)
{
	struct block *block = malloc(sizeof(*block) + size);

	if (!block)
		return NULL;
	block->next = table->blocks;
	table->blocks = block;
	table->text_bytes += size;
	return block->text;
}

static const char *keep_text(struct string_table *table, const char *text, size_t length)
{
	size_t size = length + 1;
	char *to;

	if (size > BLOCK_SIZE / 4) {
		struct block *filling = table->blocks;

		to = new_block(table, size);
		if (!to)
			return NULL;
		/* The block being filled stays first. */
		if (filling) {
			table->blocks->next = filling->next;
			filling->next = table->blocks;
			table->blocks = filling;
		}
	} else {
		if (size > table->block_left) {
			if (!new_block(table, BLOCK_SIZE))
				return NULL;
			table->block_left = BLOCK_SIZE;
		}
		to = table->blocks->text + BLOCK_SIZE - table->block_left;
		table->block_left -= size;
	}
	memcpy(to, text, length);
	to[length] = '\0';
	return to;
}

uint32_t string_table_add(struct string_table *table, const char *text, size_t length)
{
	uint32_t hash, *slot;
	const char *kept;

	if (!length)
		return 0;
	if (length >= UINT32_MAX)
		return STRING_NONE;
	hash = hash_text(table, text, length);
	slot = find_slot(table, hash, text, length);
	if (*slot)
		return *slot;
	if (grow_entries(table) || grow_slots(table))
		return STRING_NONE;
	kept = keep_text(table, text, length);
	if (!kept)
		return STRING_NONE;
	/* The slots may have moved. */
	slot = find_slot(table, hash, text, length);
	table->entries[table->count] = (struct entry){ kept, (uint32_t)length, hash };
	*slot = table->count;
	return table->count++;
}

uint32_t string_table_add_text(struct string_table *table, const char *text)
{
	return text ? string_table_add(table, text, strlen(text)) : 0;
}

uint32_t string_table_find(const struct string_table *table, const char *text, size_t length)
{
	uint32_t id;

	if (!length)
		return 0;
	if (length >= UINT32_MAX)
		return STRING_NONE;
	id = *find_slot(table, hash_text(table, text, length), text, length);
	return id ? id : STRING_NONE;
}

const char *string_table_get(const struct string_table *table, uint32_t id)
{
	return id < table->count ? table->entries[id].text : "";
}

size_t string_table_length(const struct string_table *table, uint32_t id)
{
	return id < table->count ? table->entries[id].length : 0;
}

uint32_t string_table_count(const struct string_table *table)
{
	return table->count;
}
