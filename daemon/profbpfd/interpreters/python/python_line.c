/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables of code objects. */
#include "daemon/profbpfd/interpreters/python/python_read.h"

static uint32_t positive(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Pairs of bytes: step of the instruction, signed step of the line. */
static uint32_t by_lnotab(const uint8_t *table, size_t size, int64_t line, int64_t instruction)
{
	int64_t at = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		at += table[i];
		if (at > instruction)
			break;
		line += (int8_t)table[i + 1];
	}
	return positive(line);
}

/* Pairs of bytes, each for the range of instructions that it spans; -128 means "no line". */
static uint32_t by_ranges(const uint8_t *table, size_t size, int64_t line, int64_t instruction)
{
	int64_t at = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int8_t step = (int8_t)table[i + 1];

		if (step != -128)
			line += step;
		at += table[i];
		if (instruction < at)
			return step == -128 ? 0 : positive(line);
	}
	return 0;
}

/*
 * Six bits per byte, lowest first; bit 6 means that more follow. Lines have 32 bits; further bits of a longer number
 * are skipped, so that no sum of a table's lines overflows.
 */
static uint64_t varint(const uint8_t *table, size_t size, size_t *at)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; *at < size && shift < 36; shift += 6) {
		uint8_t byte = table[(*at)++];

		value |= (uint64_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int64_t signed_varint(const uint8_t *table, size_t size, size_t *at)
{
	uint64_t value = varint(table, size, at);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* An entry begins with a byte that has bit 7 set, four bits of form, and three bits of length - 1 in code units. */
static uint32_t by_locations(const uint8_t *table, size_t size, int64_t line, int64_t instruction)
{
	int64_t at = 0;

	for (size_t i = 0; i < size;) {
		uint8_t head = table[i++], form = head >> 3 & 15;
		bool none = form == 15;

		if (!(head & 128))
			return 0;
		if (form == 13 || form == 14)
			line += signed_varint(table, size, &i);
		else if (form >= 10 && form <= 12)
			line += form - 10;
		/* Skips the columns, whose bytes do not have bit 7 set. */
		while (i < size && !(table[i] & 128))
			i++;
		at += ((head & 7) + 1) * 2;
		if (instruction < at)
			return none ? 0 : positive(line);
	}
	return 0;
}

uint32_t python_line_in(uint16_t version, const uint8_t *table, size_t size, int32_t first_line,
			int64_t instruction)
{
	if (instruction < 0)
		return positive(first_line);
	if (version >= 0x030b)
		return by_locations(table, size, first_line, instruction);
	if (version == 0x030a)
		return by_ranges(table, size, first_line, instruction);
	return by_lnotab(table, size, first_line, instruction);
}
