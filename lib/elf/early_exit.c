/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/early_exit.h"

#include <string.h>

#define STACK_POINTER 4
#define BELOW_MAX 32760
#define REX_W 0x48
#define REX_R 4
#define REX_B 1

void early_exit_begin(struct early_exit *early)
{
	*early = (struct early_exit){ 0 };
}

/* xor, sub or cmp %fs:0x28, register, of 64 bits: where the C libraries of x86-64 keep the protector's word */
static bool is_comparison(const uint8_t *b, uint32_t size)
{
	static const uint8_t place[] = { 0x25, 0x28, 0, 0, 0 };

	return size == 9 && b[0] == 0x64 && (b[1] & ~REX_R) == REX_W && (b[2] == 0x33 || b[2] == 0x2b || b[2] == 0x3b) &&
	       (b[3] & 0xc7) == 0x04 && !memcmp(b + 4, place, sizeof(place));
}

/* jne, with a distance of one byte or of four */
static bool is_jne(const uint8_t *b, uint32_t size)
{
	return (size == 2 && b[0] == 0x75) || (size == 6 && b[0] == 0x0f && b[1] == 0x85);
}

/* The stack pointer is not let be written by anything but additions and pops. */
static bool write_register(struct early_exit *early, unsigned int number)
{
	if (number == STACK_POINTER)
		return false;
	early->writes |= (uint16_t)(1u << number);
	return true;
}

static bool add_below(struct early_exit *early, int64_t bytes)
{
	if (bytes < 0 || bytes % 8 || early->below + bytes > BELOW_MAX)
		return false;
	early->below += (uint32_t)bytes;
	return true;
}

static bool follow_pop(struct early_exit *early, const uint8_t *b, uint32_t size)
{
	if (size == 1 && b[0] >= 0x58 && b[0] <= 0x5f)
		return write_register(early, b[0] - 0x58u) && add_below(early, 8);
	if (size == 2 && b[0] == 0x41 && b[1] >= 0x58 && b[1] <= 0x5f)
		return write_register(early, b[1] - 0x58u + 8) && add_below(early, 8);
	return false;
}

/* add $..., %rsp */
static bool follow_addition(struct early_exit *early, const uint8_t *b, uint32_t size)
{
	int32_t bytes;

	if (size == 4 && b[0] == REX_W && b[1] == 0x83 && b[2] == 0xc4)
		return add_below(early, (int8_t)b[3]);
	if (size != 7 || b[0] != REX_W || b[1] != 0x81 || b[2] != 0xc4)
		return false;
	memcpy(&bytes, b + 3, sizeof(bytes));
	return add_below(early, bytes);
}

/* mov to a register, from a register or memory; of the number; xor of a register with itself */
static bool follow_move(struct early_exit *early, const uint8_t *b, uint32_t size)
{
	uint8_t rex = b[0] >= 0x40 && b[0] <= 0x4f ? b[0] : 0, modrm;

	if (rex) {
		b++;
		size--;
	}
	if (size < 2)
		return false;
	modrm = b[1];
	if (b[0] == 0x8b)
		return write_register(early, (modrm >> 3 & 7) + (rex & REX_R ? 8 : 0));
	if (b[0] == 0x89 && modrm >> 6 == 3)
		return write_register(early, (modrm & 7) + (rex & REX_B ? 8 : 0));
	if (b[0] == 0x31 && modrm >> 6 == 3 && (modrm & 7) == (modrm >> 3 & 7) && !rex)
		return write_register(early, modrm & 7);
	return b[0] >= 0xb8 && b[0] <= 0xbf && write_register(early, b[0] - 0xb8u + (rex & REX_B ? 8 : 0));
}

static bool is_vzeroupper(const uint8_t *b, uint32_t size)
{
	return size == 3 && b[0] == 0xc5 && b[1] == 0xf8 && b[2] == 0x77;
}

void early_exit_follow(struct early_exit *early, const uint8_t *code, uint32_t size, uint64_t address)
{
	bool compared = early->compared;

	early->compared = is_comparison(code, size);
	if (compared && is_jne(code, size)) {
		*early = (struct early_exit){ .address = address };
		return;
	}
	if (!early->address)
		return;
	if (!follow_pop(early, code, size) && !follow_addition(early, code, size) && !follow_move(early, code, size) &&
	    !is_vzeroupper(code, size))
		early->address = 0;
}
