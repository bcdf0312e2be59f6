/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/early_exit.h"

#include <string.h>

#define STACK_POINTER 4
#define BELOW_MAX 32760
#define REX_W 0x48
#define REX_R 4
#define REX_B 1
#define RIP_RELATIVE 5 /* as base, without a displacement */

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

/* Is it jne, with a distance of one byte or of four? */
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
	if (number == early->pointer.reg)
		early->pointer.loads = 0;
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

/* add $..., %rsp, or as compilers add 128: sub $-128, %rsp, which is shorter */
static bool follow_addition(struct early_exit *early, const uint8_t *b, uint32_t size)
{
	int32_t bytes;

	if (size == 4 && b[0] == REX_W && b[1] == 0x83 && b[2] == 0xc4)
		return add_below(early, (int8_t)b[3]);
	if (size == 4 && b[0] == REX_W && b[1] == 0x83 && b[2] == 0xec)
		return add_below(early, -(int64_t)(int8_t)b[3]);
	if (size != 7 || b[0] != REX_W || b[1] != 0x81 || b[2] != 0xc4)
		return false;
	memcpy(&bytes, b + 3, sizeof(bytes));
	return add_below(early, bytes);
}

/* mov displacement(%base), %register, of 64 bits; the stack pointer as base takes another form */
static bool is_load(const uint8_t *b, uint32_t size, struct early_pointer *load)
{
	uint8_t modrm = size < 3 ? 0 : b[2], mode = modrm >> 6;
	int8_t near;

	if (size < 3 || (b[0] & ~(REX_R | REX_B)) != REX_W || b[1] != 0x8b || (modrm & 7) == STACK_POINTER)
		return false;
	load->reg = (modrm >> 3 & 7) + (b[0] & REX_R ? 8 : 0);
	load->base = (modrm & 7) + (b[0] & REX_B ? 8 : 0);
	load->outer = 0;
	if (mode == 1 && size == 4) {
		memcpy(&near, b + 3, sizeof(near));
		load->outer = near;
	} else if (mode == 2 && size == 7) {
		memcpy(&load->outer, b + 3, sizeof(load->outer));
	} else if (mode != 0 || size != 3) {
		return false;
	}
	return mode != 0 || (modrm & 7) != RIP_RELATIVE;
}

/* The content of the load's register after it. */
static struct early_pointer pointer_after(const struct early_exit *early, const struct early_pointer *load)
{
	const struct early_pointer *before = &early->pointer;

	if (before->loads == 1 && before->reg == load->base)
		return (struct early_pointer){ load->reg, before->base, 2, before->outer, load->outer };
	if (early->writes & 1u << load->base)
		return (struct early_pointer){ 0 };
	return (struct early_pointer){ load->reg, load->base, 1, load->outer, 0 };
}

static bool follow_load(struct early_exit *early, const struct early_pointer *load)
{
	struct early_pointer after = pointer_after(early, load);

	if (!write_register(early, load->reg))
		return false;
	early->pointer = after;
	return true;
}

/* mov to a register, from a register or memory; of the number; xor of a register with itself */
static bool follow_move(struct early_exit *early, const uint8_t *b, uint32_t size)
{
	uint8_t rex = b[0] >= 0x40 && b[0] <= 0x4f ? b[0] : 0, modrm;
	struct early_pointer load;

	if (is_load(b, size, &load))
		return follow_load(early, &load);
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
	struct early_pointer load;
	bool compared = early->compared;

	/* What is loaded between the two leaves the result of the comparison alone. */
	early->compared = is_comparison(code, size) || (compared && is_load(code, size, &load));
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
