/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/control_flow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/elf/x86_decoder.h"

/* How many instructions before its jump the offset of a jump table is loaded. */
#define TABLE_REACH 6

struct flow_decoder {
	enum elf_file_machine machine;
	struct x86_decoder x86; /* empty for other machines */
	unsigned int table_near; /* instructions for which a load from a jump table is near */
};

struct flow_decoder *flow_decoder_new(enum elf_file_machine machine)
{
	struct flow_decoder *d;

	if (machine != ELF_FILE_X86_64 && machine != ELF_FILE_AARCH64)
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->machine = machine;
	if (machine != ELF_FILE_X86_64)
		return d;
	if (!x86_decoder_open(&d->x86, false)) {
		flow_decoder_free(d);
		return NULL;
	}
	return d;
}

void flow_decoder_free(struct flow_decoder *d)
{
	if (!d)
		return;
	x86_decoder_close(&d->x86);
	free(d);
}

/* ---- x86-64 */

/* An instruction's prefixes, and where its opcode is. */
struct prefixes {
	size_t opcode;
	uint8_t rex;
	bool segment, operand_size, notrack;
};

static struct prefixes read_prefixes(const uint8_t *b, size_t size)
{
	struct prefixes p = { 0 };

	for (; p.opcode < size; p.opcode++) {
		uint8_t byte = b[p.opcode];

		if (byte == 0x3e)
			p.notrack = true;
		else if (byte == 0x64 || byte == 0x65)
			p.segment = true;
		else if (byte == 0x66)
			p.operand_size = true;
		else if (byte != 0xf2 && byte != 0xf3 && byte != 0x2e && byte != 0x67)
			break;
	}
	if (p.opcode < size && b[p.opcode] >= 0x40 && b[p.opcode] <= 0x4f)
		p.rex = b[p.opcode++];
	return p;
}

static int32_t read_signed(const uint8_t *b, size_t size)
{
	int32_t value;

	if (size == 1)
		return (int8_t)b[0];
	memcpy(&value, b, sizeof(value));
	return value;
}

/* The scale, index and base byte that follows some ModRM bytes. */
static void read_sib(struct flow_step *step, uint8_t sib, uint8_t rex, uint8_t mod)
{
	uint8_t index = (sib >> 3 & 7) | (rex & 2) << 2;

	step->scale = 1 << (sib >> 6);
	step->index = index == 4 ? FLOW_REGISTER_NONE : index;
	step->base = (sib & 7) == 5 && mod == 0 ? FLOW_REGISTER_NONE : (sib & 7) | (rex & 1) << 3;
}

/* The operand of a jump by register or memory; @at is its ModRM byte. */
static bool read_operand(struct flow_step *step, const uint8_t *at, const uint8_t *end, uint8_t rex)
{
	uint8_t modrm = *at++, mod = modrm >> 6, rm = modrm & 7;
	size_t bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	step->index = FLOW_REGISTER_NONE;
	step->scale = 1;
	step->base = rm | (rex & 1) << 3;
	if (mod == 3)
		return true;
	step->in_memory = true;
	if (rm == 4) {
		if (at == end)
			return false;
		read_sib(step, *at++, rex, mod);
		if (step->base == FLOW_REGISTER_NONE)
			bytes = 4;
	} else if (rm == 5 && mod == 0) {
		step->base = FLOW_REGISTER_IP;
		bytes = 4;
	}
	if ((size_t)(end - at) < bytes)
		return false;
	if (bytes)
		step->displacement = read_signed(at, bytes);
	return true;
}

/* jmp through a register or memory. Compilers mark a jump by a table with a prefix, or load its target by an index. */
static void decode_indirect(const struct flow_decoder *d, struct flow_step *step, const uint8_t *b,
			    const struct prefixes *p)
{
	const uint8_t *at = b + p->opcode + 1, *end = b + step->size;

	step->flow = FLOW_ODD;
	step->stepped = true;
	if (p->segment || p->operand_size || at == end || (*at >> 3 & 7) == 5)
		return;
	if (p->notrack || (d->table_near && *at >> 6 == 3))
		step->flow = FLOW_TABLE;
	else if (read_operand(step, at, end, p->rex))
		step->flow = FLOW_INDIRECT;
	/* The instruction pointer is that of the next instruction. */
	if (step->flow == FLOW_INDIRECT && step->base == FLOW_REGISTER_IP)
		step->displacement += step->size;
}

static void decode_relative(struct flow_step *step, enum flow flow, const uint8_t *b,
			    uint64_t address, size_t bytes)
{
	if (step->size < bytes)
		return;
	step->flow = flow;
	step->target = address + step->size + read_signed(b + step->size - bytes, bytes);
}

static void decode_x86_flow(const struct flow_decoder *d, struct flow_step *step, const uint8_t *b,
			    uint64_t address)
{
	struct prefixes p = read_prefixes(b, step->size);
	uint8_t opcode = p.opcode < step->size ? b[p.opcode] : 0;
	uint8_t second = p.opcode + 1 < step->size ? b[p.opcode + 1] : 0;

	step->stepped = p.operand_size;
	switch (opcode) {
	case 0x70 ... 0x7f: decode_relative(step, FLOW_BRANCH, b, address, 1); break;
	case 0xe0 ... 0xe3:
		decode_relative(step, FLOW_BRANCH, b, address, 1);
		step->stepped = true;
		break;
	case 0xeb: decode_relative(step, FLOW_JUMP, b, address, 1); break;
	case 0xe9: decode_relative(step, FLOW_JUMP, b, address, 4); break;
	case 0xc2:
	case 0xc3:
		step->flow = FLOW_RETURN;
		step->stepped = true;
		step->plain = opcode == 0xc3;
		break;
	case 0xca: /* to another segment */
	case 0xcb:
	case 0xcf: step->flow = FLOW_ODD; break;
	case 0xc7: /* xbegin: an abort continues at its target */
		if (second == 0xf8)
			step->flow = FLOW_ODD;
		break;
	case 0xf4:
	case 0xcc: step->flow = FLOW_STOP; break;
	case 0x0f:
		if (second >= 0x80 && second <= 0x8f)
			decode_relative(step, FLOW_BRANCH, b, address, 4);
		else if (second == 0x0b || second == 0xb9 || second == 0xff)
			step->flow = FLOW_STOP;
		break;
	case 0xff:
		if ((second >> 3 & 6) == 4)
			decode_indirect(d, step, b, &p);
		break;
	}
}

static struct flow_step decode_x86(struct flow_decoder *d, const uint8_t *code, size_t available,
				   uint64_t address)
{
	struct flow_step step = { .flow = FLOW_UNKNOWN };
	const uint8_t *next = code;
	uint64_t at = address;

	if (!cs_disasm_iter(d->x86.handle, &next, &available, &at, d->x86.insn))
		return step;
	step.flow = FLOW_NEXT;
	step.size = d->x86.insn->size;
	if (d->table_near)
		d->table_near--;
	decode_x86_flow(d, &step, code, address);
	if (d->x86.insn->id == X86_INS_MOVSXD)
		d->table_near = TABLE_REACH;
	return step;
}

/* ---- AArch64 */

static int64_t signed_field(uint32_t insn, unsigned int shift, unsigned int bits)
{
	return (int64_t)((uint64_t)(insn >> shift) << (64 - bits)) >> (64 - bits);
}

static void decode_aarch64_branch(struct flow_step *step, uint32_t insn, uint64_t address)
{
	if ((insn & 0xfc000000) == 0x14000000) { /* b */
		step->flow = FLOW_JUMP;
		step->target = address + 4 * signed_field(insn, 0, 26);
	} else if ((insn & 0xff000000) == 0x54000000 || (insn & 0x7e000000) == 0x34000000) {
		step->flow = FLOW_BRANCH; /* b.cond, bc.cond, cbz, cbnz */
		step->target = address + 4 * signed_field(insn, 5, 19);
	} else if ((insn & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		step->flow = FLOW_BRANCH;
		step->target = address + 4 * signed_field(insn, 5, 14);
	}
}

/*
 * Compilers jump to other functions through x16 and x17 only, as branch target identification
 * requires; jumps through other registers use a table.
 */
static void decode_aarch64_register(struct flow_step *step, uint32_t insn)
{
	uint8_t number = insn >> 5 & 31;

	if ((insn & 0xfffffc1f) == 0xd65f0000) { /* ret xN */
		step->flow = number == 30 ? FLOW_RETURN : FLOW_ODD;
	} else if ((insn & 0xfffffc1f) == 0xd61f0000) { /* br xN */
		step->flow = number == 16 || number == 17 ? FLOW_INDIRECT : FLOW_TABLE;
		step->base = number;
		step->index = FLOW_REGISTER_NONE;
		step->scale = 1;
	} else if ((insn & 0xfffffbff) == 0xd65f0bff || (insn & 0xfefff800) == 0xd61f0800 ||
		   (insn & 0xffe0001f) == 0x5500001f) {
		step->flow = FLOW_ODD; /* retaa, retab, braa, brab, retaasppc */
	} else if (insn >> 16 == 0 || (insn & 0xffe0001f) == 0xd4200000) {
		step->flow = FLOW_STOP; /* udf, brk */
	}
}

static struct flow_step decode_aarch64(const uint8_t *code, size_t available, uint64_t address)
{
	struct flow_step step = { .flow = FLOW_UNKNOWN };
	uint32_t insn;

	if (available < sizeof(insn))
		return step;
	memcpy(&insn, code, sizeof(insn));
	step.flow = FLOW_NEXT;
	step.size = sizeof(insn);
	decode_aarch64_branch(&step, insn, address);
	decode_aarch64_register(&step, insn);
	if ((insn & 0x3b000000) == 0x18000000) { /* ldr from near the code */
		step.reads_code = true;
		step.target = address + 4 * signed_field(insn, 5, 19);
	}
	return step;
}

struct flow_step flow_decode(struct flow_decoder *d, const uint8_t *code, size_t available,
			     uint64_t address)
{
	return d->machine == ELF_FILE_X86_64 ? decode_x86(d, code, available, address)
					     : decode_aarch64(code, available, address);
}

void flow_decoder_begin(struct flow_decoder *d)
{
	d->table_near = 0;
}

struct flow_step flow_decode_apart(struct flow_decoder *d, const uint8_t *code, size_t available,
				   uint64_t address)
{
	unsigned int table_near = d->table_near;
	struct flow_step step;

	flow_decoder_begin(d);
	step = flow_decode(d, code, available, address);
	d->table_near = table_near;
	return step;
}
