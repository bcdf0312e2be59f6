/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/instruction.h"

#include <stdlib.h>

#include "lib/elf/x86_decoder.h"

#define PAGE_SIZE_MIN 4096
#define BELOW_MAX 32760

struct instruction_decoder {
	enum elf_file_machine machine;
	bool optimized_nop;
	struct x86_decoder x86; /* empty for other machines */
};

/*
 * Registers that a probe reads or that the call's frame hangs on, with their
 * parts. Not %rax: it is no argument that can be recorded, and the loaders of
 * OpenCL and Vulkan begin with a load into it.
 */
static const uint16_t precious_registers[] = {
	X86_REG_RSP, X86_REG_ESP, X86_REG_SP,  X86_REG_SPL, X86_REG_RDI, X86_REG_EDI,
	X86_REG_DI,  X86_REG_DIL, X86_REG_RSI, X86_REG_ESI, X86_REG_SI,	 X86_REG_SIL,
	X86_REG_RDX, X86_REG_EDX, X86_REG_DX,  X86_REG_DL,  X86_REG_DH,	 X86_REG_RCX,
	X86_REG_ECX, X86_REG_CX,  X86_REG_CL,  X86_REG_CH,  X86_REG_R8,	 X86_REG_R8D,
	X86_REG_R8W, X86_REG_R8B, X86_REG_R9,  X86_REG_R9D, X86_REG_R9W, X86_REG_R9B,
};

/*
 * Instructions that the probe may be placed behind: plain data movement and arithmetic. Instructions with
 * effects beyond their operands (system calls, string operations, traps) are not in the list.
 */
static const uint16_t harmless_instructions[] = {
	X86_INS_ENDBR64, X86_INS_NOP,	 X86_INS_MOV,	 X86_INS_MOVABS, X86_INS_LEA,
	X86_INS_TEST,	 X86_INS_CMP,	 X86_INS_XOR,	 X86_INS_AND,	 X86_INS_OR,
	X86_INS_ADD,	 X86_INS_SUB,	 X86_INS_MOVZX,	 X86_INS_MOVSX,	 X86_INS_MOVSXD,
	X86_INS_SHL,	 X86_INS_SHR,	 X86_INS_SAR,	 X86_INS_NOT,	 X86_INS_NEG,
	X86_INS_MOVD,	 X86_INS_MOVQ,	 X86_INS_MOVAPS, X86_INS_MOVUPS, X86_INS_MOVAPD,
	X86_INS_MOVUPD,	 X86_INS_MOVDQA, X86_INS_MOVDQU, X86_INS_PXOR,	 X86_INS_XORPS,
	X86_INS_XORPD,	 X86_INS_SETE,	 X86_INS_SETNE,
};

#define CONTAINS(list, value) contains(list, sizeof(list) / sizeof((list)[0]), value)

static bool contains(const uint16_t *list, size_t count, unsigned int value)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == value)
			return true;
	}
	return false;
}

struct instruction_decoder *instruction_decoder_new(enum elf_file_machine machine,
						    bool optimized_nop)
{
	struct instruction_decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return NULL;
	decoder->machine = machine;
	decoder->optimized_nop = optimized_nop;
	if (machine != ELF_FILE_X86_64)
		return decoder;
	if (!x86_decoder_open(&decoder->x86, true)) {
		instruction_decoder_free(decoder);
		return NULL;
	}
	return decoder;
}

void instruction_decoder_free(struct instruction_decoder *decoder)
{
	if (!decoder)
		return;
	x86_decoder_close(&decoder->x86);
	free(decoder);
}

/* The 5-byte nop of the processor manuals, the only form that is rewritten. */
static bool is_nop5(const cs_insn *insn)
{
	const uint8_t *b = insn->bytes;

	return insn->size == 5 && b[0] == 0x0f && b[1] == 0x1f && b[2] == 0x44 && b[3] == 0 &&
	       b[4] == 0;
}

static bool crosses_page(uint64_t offset, size_t size)
{
	return offset % PAGE_SIZE_MIN + size > PAGE_SIZE_MIN;
}

/*
 * Mirrors what arch/x86/kernel/uprobes.c emulates: push of a register, jmp,
 * call and jcc with a displacement, nop. The operand-size prefix (0x66) turns
 * emulation off except before a plain nop.
 */
static bool is_emulated(const struct instruction_decoder *decoder, const cs_insn *insn)
{
	const uint8_t *b = insn->bytes;

	switch (b[0]) {
	case 0x50 ... 0x57: return insn->size == 1;
	case 0x41: return insn->size == 2 && b[1] >= 0x50 && b[1] <= 0x57;
	case 0x70 ... 0x7f:
	case 0xeb:
	case 0xe8:
	case 0xe9:
	case 0x90: return true;
	case 0x66: return insn->size == 2 && b[1] == 0x90;
	case 0x0f:
		return (b[1] >= 0x80 && b[1] <= 0x8f) || (b[1] == 0x1f && decoder->optimized_nop);
	default: return false;
	}
}

static enum instruction_class classify(const struct instruction_decoder *decoder,
				       const cs_insn *insn, uint64_t offset)
{
	if (is_nop5(insn) && decoder->optimized_nop && !crosses_page(offset, insn->size))
		return INSTRUCTION_NOP5;
	return is_emulated(decoder, insn) ? INSTRUCTION_EMULATED : INSTRUCTION_STEPPED;
}

static bool writes_memory(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	/* lea and nop have a memory operand but do not touch it; test and cmp only read it. */
	if (insn->id == X86_INS_NOP || insn->id == X86_INS_LEA || insn->id == X86_INS_TEST ||
	    insn->id == X86_INS_CMP)
		return false;
	return x86->op_count && x86->operands[0].type == X86_OP_MEM;
}

/* Not test, cmp and nop, whose first operand is only read. */
static bool writes_first_operand(const cs_insn *insn)
{
	return insn->id != X86_INS_NOP && insn->id != X86_INS_TEST && insn->id != X86_INS_CMP;
}

/* sub $..., %rsp: the bytes; 0 for everything else. */
static int64_t taken_from_stack(const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.operands;

	if (insn->id != X86_INS_SUB || insn->detail->x86.op_count != 2 || op[0].type != X86_OP_REG ||
	    op[0].reg != X86_REG_RSP || op[1].type != X86_OP_IMM)
		return 0;
	return op[1].imm;
}

/* Is memory written that lies within @below bytes from the stack pointer? */
static bool writes_own_frame(const cs_insn *insn, uint32_t below)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0];

	return to->mem.base == X86_REG_RSP && to->mem.index == X86_REG_INVALID && to->mem.segment == X86_REG_INVALID &&
	       to->mem.disp >= 0 && to->mem.disp + to->size <= below;
}

static bool may_step_over(const struct instruction_decoder *decoder, const cs_insn *insn, uint32_t below)
{
	const cs_x86 *x86 = &insn->detail->x86;
	cs_regs read, written;
	uint8_t read_count, written_count;

	if (!CONTAINS(harmless_instructions, insn->id) || (writes_memory(insn) && !writes_own_frame(insn, below)))
		return false;
	/* By operand as well: Capstone's tables of accessed registers have gaps. */
	if (x86->op_count && x86->operands[0].type == X86_OP_REG && writes_first_operand(insn) &&
	    CONTAINS(precious_registers, x86->operands[0].reg))
		return false;
	if (cs_regs_access(decoder->x86.handle, insn, read, &read_count, written, &written_count) !=
	    CS_ERR_OK)
		return false;
	for (unsigned int i = 0; i < written_count; i++) {
		if (CONTAINS(precious_registers, written[i]))
			return false;
	}
	return true;
}

/* Takes the instruction into account if it may be stepped over. */
static bool step_over(const struct instruction_decoder *decoder, const cs_insn *insn, bool stack_stays, uint32_t *below)
{
	int64_t taken = taken_from_stack(insn);

	if (!taken)
		return may_step_over(decoder, insn, *below);
	if (stack_stays || taken < 0 || taken % 8 || *below + taken > BELOW_MAX)
		return false;
	*below += (uint32_t)taken;
	return true;
}

/* The first instruction better than a stepped one; its delta is 0 if there is none within reach. */
static struct instruction_choice find_better(struct instruction_decoder *decoder, const uint8_t *code, size_t size,
					     uint64_t offset, bool stack_stays)
{
	const struct instruction_choice none = { .class = INSTRUCTION_STEPPED, .reason = INSTRUCTION_REACH };
	enum instruction_class class;
	uint64_t address = 0;
	uint32_t below = 0;

	for (int i = 0; i <= INSTRUCTION_SKIP_MAX && address <= INSTRUCTION_DELTA_MAX; i++) {
		uint64_t at = address;

		if (!cs_disasm_iter(decoder->x86.handle, &code, &size, &address, decoder->x86.insn))
			return none;
		class = classify(decoder, decoder->x86.insn, offset + at);
		if (class != INSTRUCTION_STEPPED)
			return (struct instruction_choice){ .delta = at, .below = below, .class = class };
		if (!step_over(decoder, decoder->x86.insn, stack_stays, &below))
			return none;
	}
	return none;
}

/* The state of the walk over a function, with the previous instruction. */
struct walk {
	uint32_t limit; /* jumps to 1..limit are forbidden */
	uint16_t loaded_register; /* just loaded from memory without an index: a pointer */
	/* By number, a bit for each register, anywhere in the function: */
	uint32_t jumps; /* the target of an indirect jump that nothing right before it explains */
	uint32_t loaded; /* loaded as such a pointer */
	uint32_t computed; /* changed in a way in which an entry of a jump table may get there */
};

/*
 * An indirect jump is a jump table, whose targets we do not know, unless it goes
 * through a pointer that was loaded without an index, as a tail call through a
 * dispatch table or the global offset table does: right before the jump, or anywhere
 * in a function that does not compute an address in the same register. Compilers mark
 * jump-table jumps with notrack when they build for control-flow protection.
 */
static bool is_tail_call(const cs_insn *insn, const struct walk *walk)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *target = &x86->operands[0];

	if (insn->bytes[0] == 0x3e)
		return false;
	if (target->type == X86_OP_MEM)
		return target->mem.index == X86_REG_INVALID;
	return target->type == X86_OP_REG && target->reg == walk->loaded_register;
}

/* Jumps of all kinds, and calls within the function. */
static bool may_go_back(const struct instruction_decoder *decoder, const cs_insn *insn)
{
	if (cs_insn_group(decoder->x86.handle, insn, CS_GRP_CALL))
		return insn->detail->x86.operands[0].type == X86_OP_IMM;
	return cs_insn_group(decoder->x86.handle, insn, CS_GRP_JUMP) || insn->id == X86_INS_LOOP ||
	       insn->id == X86_INS_LOOPE || insn->id == X86_INS_LOOPNE ||
	       insn->id == X86_INS_XBEGIN;
}

/* A jump by a register: whether a table's entry may be in it is known when the whole function was read. */
static bool is_undecided(const cs_insn *insn, struct walk *walk)
{
	const cs_x86_op *target = &insn->detail->x86.operands[0];

	if (insn->detail->x86.op_count != 1 || target->type != X86_OP_REG || insn->bytes[0] == 0x3e)
		return false;
	walk->jumps |= 1u << x86_register_number(target->reg);
	return true;
}

static bool jump_allowed(const cs_insn *insn, struct walk *walk)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return is_tail_call(insn, walk) || is_undecided(insn, walk);
	return x86->operands[0].imm <= 0 || x86->operands[0].imm > walk->limit;
}

static bool is_load(const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.operands;

	return insn->id == X86_INS_MOV && op[0].type == X86_OP_REG && op[0].size == 8 && op[1].type == X86_OP_MEM &&
	       op[1].mem.index == X86_REG_INVALID;
}

static void note_load(const cs_insn *insn, struct walk *walk)
{
	walk->loaded_register = is_load(insn) ? insn->detail->x86.operands[0].reg : X86_REG_INVALID;
}

/* Is the register certainly no address of code after it? Set to 0 or a small number, or compared with the stack protector. */
static bool makes_no_address(const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.operands;

	if (insn->id == X86_INS_MOV)
		return op[1].type == X86_OP_IMM && op[1].imm >= 0 && op[1].imm < PAGE_SIZE_MIN;
	return insn->id == X86_INS_XOR && ((op[1].type == X86_OP_REG && op[1].reg == op[0].reg) ||
					   (op[1].type == X86_OP_MEM && op[1].mem.segment == X86_REG_FS));
}

/* The registers that @insn writes, by number; by operand as well, as in may_step_over(). */
static uint32_t written_by(const struct instruction_decoder *decoder, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	uint8_t read_count, written_count;
	cs_regs read, written;
	uint32_t mask = 0;

	if (cs_regs_access(decoder->x86.handle, insn, read, &read_count, written, &written_count) != CS_ERR_OK)
		return UINT32_MAX;
	for (unsigned int i = 0; i < written_count; i++)
		mask |= 1u << x86_register_number(written[i]);
	if (x86->op_count && x86->operands[0].type == X86_OP_REG && writes_first_operand(insn))
		mask |= 1u << x86_register_number(x86->operands[0].reg);
	return mask & ~(1u << X86_NO_REGISTER);
}

static void note_written(const struct instruction_decoder *decoder, const cs_insn *insn, struct walk *walk)
{
	if (is_load(insn))
		walk->loaded |= 1u << x86_register_number(insn->detail->x86.operands[0].reg);
	else if (!may_go_back(decoder, insn) && !makes_no_address(insn))
		walk->computed |= written_by(decoder, insn);
}

/* Whether @insn may leave the pointer just loaded alone: restoring the stack before a tail call. */
static bool is_epilogue(const cs_insn *insn, const struct walk *walk)
{
	const cs_x86_op *op = insn->detail->x86.operands;

	if (insn->id == X86_INS_POP || insn->id == X86_INS_LEAVE || insn->id == X86_INS_NOP)
		return insn->id != X86_INS_POP || op[0].reg != walk->loaded_register;
	return insn->id == X86_INS_ADD && op[0].type == X86_OP_REG && op[0].reg == X86_REG_RSP;
}

/* Whether no instruction of the whole function jumps to an offset in 1..limit: NO_REASON, or why not. */
static enum instruction_reason scan_jumps(struct instruction_decoder *decoder, const uint8_t *code,
					  size_t size, uint32_t limit)
{
	struct walk walk = { .limit = limit, .loaded_register = X86_REG_INVALID };
	const cs_insn *insn = decoder->x86.insn;
	uint64_t address = 0;

	while (size) {
		if (!cs_disasm_iter(decoder->x86.handle, &code, &size, &address, decoder->x86.insn))
			return INSTRUCTION_UNKNOWN;
		if (may_go_back(decoder, insn) && !jump_allowed(insn, &walk))
			return INSTRUCTION_JUMP;
		if (!is_epilogue(insn, &walk))
			note_load(insn, &walk);
		note_written(decoder, insn, &walk);
	}
	return walk.jumps & (walk.computed | ~walk.loaded) ? INSTRUCTION_JUMP : INSTRUCTION_NO_REASON;
}

/*
 * The older kernels' list (arch/arm64/kernel/probes): branches, adr and literal
 * loads. Newer ones simulate more; calling those stepped errs on the safe side.
 */
static bool aarch64_simulated(uint32_t insn)
{
	return (insn & 0x7c000000) == 0x14000000 || /* b, bl */
	       (insn & 0xff000010) == 0x54000000 || /* b.cond */
	       (insn & 0x7e000000) == 0x34000000 || /* cbz, cbnz */
	       (insn & 0x7e000000) == 0x36000000 || /* tbz, tbnz */
	       (insn & 0xff9ffc1f) == 0xd61f0000 || /* br, blr, ret */
	       (insn & 0x1f000000) == 0x10000000 || /* adr, adrp */
	       (insn & 0xbf000000) == 0x18000000 || /* ldr (literal) */
	       (insn & 0xff000000) == 0x98000000; /* ldrsw (literal) */
}

static struct instruction_choice choose_aarch64(const uint8_t *code, size_t available)
{
	struct instruction_choice choice = { .class = INSTRUCTION_STEPPED, .reason = INSTRUCTION_MACHINE };
	uint32_t insn;

	if (available < sizeof(insn))
		return choice;
	insn = code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;
	if (aarch64_simulated(insn))
		choice = (struct instruction_choice){ .class = INSTRUCTION_EMULATED };
	return choice;
}

struct instruction_choice instruction_choose(struct instruction_decoder *decoder,
					     const uint8_t *code, size_t available, uint64_t size,
					     uint64_t offset, bool stack_stays)
{
	struct instruction_choice choice = { .class = INSTRUCTION_STEPPED, .reason = INSTRUCTION_UNKNOWN }, better;
	const uint8_t *first = code;
	size_t left = available;
	uint64_t address = 0;

	if (decoder->machine == ELF_FILE_AARCH64)
		return choose_aarch64(code, available);
	if (decoder->machine != ELF_FILE_X86_64 ||
	    !cs_disasm_iter(decoder->x86.handle, &first, &left, &address, decoder->x86.insn))
		return choice;
	choice.class = classify(decoder, decoder->x86.insn, offset);
	choice.reason = INSTRUCTION_NO_REASON;
	if (choice.class != INSTRUCTION_STEPPED)
		return choice;
	choice.reason = INSTRUCTION_SIZE;
	if (size == 0 || size > available || size > INSTRUCTION_SCAN_MAX)
		return choice;
	better = find_better(decoder, code, size, offset, stack_stays);
	choice.reason = better.reason;
	if (better.delta)
		choice.reason = scan_jumps(decoder, code, size, better.delta);
	return choice.reason ? choice : better;
}

const char *instruction_class_name(enum instruction_class class)
{
	switch (class) {
	case INSTRUCTION_NOP5: return "nop5";
	case INSTRUCTION_EMULATED: return "emulated";
	case INSTRUCTION_STEPPED: return "stepped";
	}
	return "?";
}

const char *instruction_reason_text(enum instruction_reason reason)
{
	switch (reason) {
	case INSTRUCTION_NO_REASON: return "";
	case INSTRUCTION_MACHINE: return "only entries are probed on this machine";
	case INSTRUCTION_SIZE: return "of unknown size, or too large";
	case INSTRUCTION_REACH: return "nothing cheaper within reach";
	case INSTRUCTION_UNKNOWN: return "holds what cannot be decoded";
	case INSTRUCTION_JUMP: return "it may jump to the cheaper instruction";
	}
	return "?";
}
