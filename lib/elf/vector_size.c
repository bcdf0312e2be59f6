/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/vector_size.h"

#include <stdbool.h>

#define ZEROUPPER 0x77 /* opcode of map 1, the only one without ModRM */

struct vector {
	uint32_t opcode; /* where it is */
	uint8_t map; /* 1: 0f, 2: 0f 38, 3: 0f 3a */
};

static bool read_prefix(const uint8_t *b, size_t size, struct vector *v)
{
	if (size < 3)
		return false;
	if (b[0] == 0xc5)
		*v = (struct vector){ 2, 1 };
	else if (b[0] == 0xc4)
		*v = (struct vector){ 3, b[1] & 0x1f };
	else if (b[0] == 0x62)
		*v = (struct vector){ 4, b[1] & 7 };
	else
		return false;
	return v->map && v->map <= 6 && v->map != 4 && v->opcode < size;
}

/* Reads at most one of the mandatory prefixes, and REX. */
static bool read_plain(const uint8_t *b, size_t size, struct vector *v)
{
	uint32_t at = 0;

	if (size < 4)
		return false;
	at += b[at] == 0x66 || b[at] == 0xf2 || b[at] == 0xf3;
	at += (b[at] & 0xf0) == 0x40;
	if (b[at] != 0x0f)
		return false;
	*v = (struct vector){ at + 1, 1 };
	if (b[at + 1] == 0x38 || b[at + 1] == 0x3a)
		*v = (struct vector){ at + 2, b[at + 1] == 0x38 ? 2 : 3 };
	return v->opcode < size;
}

/* Three-byte opcodes, except cmpccxadd, bmi and crc32, moves to general registers, and comparisons with a result in rcx */
static bool is_long_vector(const struct vector *v, uint8_t opcode)
{
	if (v->map == 2)
		return opcode < 0xe0;
	return opcode < 0xf0 && !(opcode >= 0x14 && opcode <= 0x17) && opcode != 0x61 && opcode != 0x63;
}

/* Moves and arithmetic on vectors, except moves to general registers. */
static bool is_plain_vector(const struct vector *v, uint8_t opcode)
{
	if (v->map != 1 && v->map <= 3)
		return is_long_vector(v, opcode);
	if (opcode >= 0x10 && opcode <= 0x17)
		return true;
	if (opcode >= 0x28 && opcode <= 0x2f)
		return opcode != 0x2c && opcode != 0x2d;
	if (opcode >= 0x51 && opcode <= 0x7f)
		return opcode != 0x7e && opcode != 0x78 && opcode != 0x79 && opcode != ZEROUPPER;
	return opcode == 0xc2 || opcode == 0xc4 || opcode == 0xc6 || (opcode >= 0xd0 && opcode != 0xd7 && opcode != 0xff);
}

/* The same with VEX and EVEX, except moves of mask registers and conversions to general registers */
static bool is_prefixed_vector(const struct vector *v, uint8_t opcode)
{
	if (v->map != 1 && v->map <= 3)
		return is_long_vector(v, opcode);
	if (v->map != 1)
		return opcode != 0x2c && opcode != 0x2d && opcode != 0x78 && opcode != 0x79 && opcode != 0x7e;
	return opcode != 0x2c && opcode != 0x2d && opcode != 0x50 && opcode != 0x78 && opcode != 0x79 &&
	       opcode != 0x7e && opcode != 0x93 && opcode != 0xae && opcode != 0xc5 && opcode != 0xd7;
}

static bool has_byte(const struct vector *v, uint8_t opcode)
{
	if (v->map != 1)
		return v->map == 3;
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
}

uint32_t vector_instruction_size(const uint8_t *b, size_t available)
{
	struct vector v;
	uint8_t modrm, mod;
	uint32_t at;

	if (read_prefix(b, available, &v)) {
		if (v.map == 1 && b[v.opcode] == ZEROUPPER)
			return v.opcode + 1;
		if (!is_prefixed_vector(&v, b[v.opcode]))
			return 0;
	} else if (!read_plain(b, available, &v) || !is_plain_vector(&v, b[v.opcode])) {
		return 0;
	}
	at = v.opcode + 2;
	if (at > available)
		return 0;
	modrm = b[at - 1];
	mod = modrm >> 6;
	if (mod != 3 && (modrm & 7) == 4) {
		if (at >= available)
			return 0;
		if (mod == 0 && (b[at] & 7) == 5)
			at += 4;
		at++;
	} else if (mod == 0 && (modrm & 7) == 5) {
		at += 4;
	}
	at += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	at += has_byte(&v, b[v.opcode]);
	return at <= available ? at : 0;
}
