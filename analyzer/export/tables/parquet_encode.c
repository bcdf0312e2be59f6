/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/tables/parquet_encode.h"

#include <string.h>

#define BLOCK 128u /* values in a block of differences */
#define MINIBLOCKS 4u /* miniblocks per block; each has its own bit width */
#define MINIBLOCK (BLOCK / MINIBLOCKS)

static unsigned int bits_of(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

/* Writes @count values of @width bits each, lowest bit first; @count * @width is a multiple of 8. */
static void pack(struct bytes *bytes, const uint64_t *value, size_t count, unsigned int width)
{
	uint8_t *to = bytes_more(bytes, count * width / 8);
	unsigned __int128 bits = 0;
	unsigned int held = 0;

	for (size_t i = 0; to && i < count; i++) {
		bits |= (unsigned __int128)value[i] << held;
		for (held += width; held >= 8; held -= 8, bits >>= 8)
			*to++ = (uint8_t)bits;
	}
}

/* Writes up to BLOCK differences; missing ones at the end are written as the smallest. */
static void put_block(struct bytes *bytes, const int64_t *value, size_t count)
{
	uint64_t delta[BLOCK] = { 0 };
	int64_t least = INT64_MAX;
	unsigned int widths[MINIBLOCKS] = { 0 };

	for (size_t i = 0; i < count; i++) {
		delta[i] = (uint64_t)value[i] - (uint64_t)value[i - 1];
		if ((int64_t)delta[i] < least)
			least = (int64_t)delta[i];
	}
	for (size_t i = 0; i < count; i++) {
		unsigned int width = bits_of(delta[i] -= (uint64_t)least);

		if (width > widths[i / MINIBLOCK])
			widths[i / MINIBLOCK] = width;
	}
	bytes_zigzag(bytes, least);
	for (unsigned int i = 0; i < MINIBLOCKS; i++)
		bytes_byte(bytes, (uint8_t)widths[i]);
	/* Miniblocks are written whole; those without values are left out. */
	for (unsigned int i = 0; i * MINIBLOCK < count; i++)
		pack(bytes, delta + (size_t)i * MINIBLOCK, MINIBLOCK, widths[i]);
}

void parquet_deltas(struct bytes *bytes, const int64_t *value, size_t count)
{
	bytes_varint(bytes, BLOCK);
	bytes_varint(bytes, MINIBLOCKS);
	bytes_varint(bytes, count);
	bytes_zigzag(bytes, count ? value[0] : 0);
	for (size_t i = 1; i < count; i += BLOCK)
		put_block(bytes, value + i, count - i < BLOCK ? count - i : BLOCK);
}

/* A run of bit-packed values: whole groups of eight. */
static void put_packed(struct bytes *bytes, const uint32_t *index, size_t count, unsigned int width)
{
	size_t groups = (count + 7) / 8;

	bytes_varint(bytes, groups << 1 | 1);
	for (size_t g = 0; g < groups; g++) {
		uint64_t value[8] = { 0 };

		for (size_t i = 0; i < 8 && g * 8 + i < count; i++)
			value[i] = index[g * 8 + i];
		pack(bytes, value, 8, width);
	}
}

void parquet_indices(struct bytes *bytes, const uint32_t *index, size_t count, uint32_t entries)
{
	unsigned int width = entries > 1 ? bits_of(entries - 1) : 1;

	bytes_byte(bytes, (uint8_t)width);
	if (entries > 1) {
		put_packed(bytes, index, count, width);
	} else if (count) {
		/* A single run of one value. */
		bytes_varint(bytes, (uint64_t)count << 1);
		bytes_byte(bytes, 0);
	}
}

static bool all_there(const bool *there, size_t count)
{
	return !memchr(there, 0, count * sizeof(*there));
}

void parquet_levels(struct bytes *bytes, const bool *there, size_t count)
{
	struct bytes levels = { 0 };

	if (all_there(there, count)) {
		bytes_varint(&levels, (uint64_t)count << 1);
		bytes_byte(&levels, 1);
	} else {
		bytes_varint(&levels, ((uint64_t)count + 7) / 8 << 1 | 1);
		for (size_t i = 0; i < count; i += 8) {
			uint8_t bits = 0;

			for (size_t k = 0; k < 8 && i + k < count; k++)
				bits |= (uint8_t)(there[i + k] << k);
			bytes_byte(&levels, bits);
		}
	}
	bytes_u32(bytes, (uint32_t)levels.size);
	bytes_put(bytes, levels.data, levels.size);
	bytes->failed |= levels.failed;
	bytes_free(&levels);
}
