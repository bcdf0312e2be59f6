/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/stack_effect.h"

#include <stdlib.h>
#include <string.h>

#include "lib/elf/vector_size.h"
#include "lib/elf/x86_decoder.h"

#define WORD 8
#define RSP 4
#define RBP 5
#define KEPT_BY_CALLS (1u << 3 | 1u << RBP | 0xf000u) /* rbx, rbp, r12 to r15 */

struct stack_decoder {
	struct x86_decoder x86;
};

struct stack_decoder *stack_decoder_new(void)
{
	struct stack_decoder *d = calloc(1, sizeof(*d));

	if (d && x86_decoder_open(&d->x86, true))
		return d;
	stack_decoder_free(d);
	return NULL;
}

void stack_decoder_free(struct stack_decoder *d)
{
	if (!d)
		return;
	x86_decoder_close(&d->x86);
	free(d);
}

struct stack_state stack_state_begin(void)
{
	return (struct stack_state){ .pointer_kind = STACK_POINTER_CFA, .pointer = -WORD };
}

/* A part of a function that the function itself calls need not preserve registers that the function has saved. */
struct stack_state stack_state_called(const struct stack_state *from)
{
	struct stack_state state = stack_state_begin();

	if (from->frame_kind == STACK_FRAME_SAVED || from->frame_kind == STACK_FRAME_CALLERS)
		state.frame_kind = STACK_FRAME_CALLERS;
	return state;
}

/* ---- Registers: their numbers, 0 to 15. */

static bool is_copy(const struct stack_state *s, unsigned int number)
{
	return number < 16 && s->copies >> number & 1;
}

static void forget_copy(struct stack_state *s, unsigned int number)
{
	s->copies &= (uint16_t)~(1u << number);
	s->copy[number] = 0;
}

static void lose_stack(struct stack_state *s)
{
	s->pointer_kind = STACK_POINTER_LOST;
	s->pointer = 0;
	s->has_slot = 0;
	s->slot = s->slot_value = 0;
}

/* The stack pointer becomes unknown relative to the CFA; copies of it may still give the CFA. */
static void move_stack_away(struct stack_state *s)
{
	lose_stack(s);
	s->pointer_kind = STACK_POINTER_ALIGNED;
}

static void set_stack(struct stack_state *s, int64_t pointer)
{
	lose_stack(s);
	if (pointer < INT16_MIN * WORD || pointer > 0)
		return;
	s->pointer_kind = STACK_POINTER_CFA;
	s->pointer = (int32_t)pointer;
}

static void move_stack(struct stack_state *s, int64_t by)
{
	int64_t pointer = s->pointer + by;

	if (s->pointer_kind == STACK_POINTER_CFA)
		set_stack(s, pointer);
	else if (pointer < INT32_MIN / 2 || pointer > INT32_MAX / 2)
		lose_stack(s);
	else if (s->pointer_kind == STACK_POINTER_ALIGNED)
		s->pointer = (int32_t)pointer;
}

/* The register has another value. */
static void change(struct stack_state *s, unsigned int number)
{
	if (number >= 16)
		return;
	if (number == RSP)
		move_stack_away(s);
	forget_copy(s, number);
	if (number == RBP && s->frame_kind == STACK_FRAME_SAME)
		s->frame_kind = STACK_FRAME_LOST;
}

static void set_copy(struct stack_state *s, unsigned int number, int64_t value)
{
	change(s, number);
	if (number == RSP) {
		set_stack(s, value);
	} else if (number < 16 && value > INT16_MIN * WORD && value < INT16_MAX * WORD) {
		s->copies |= (uint16_t)(1u << number);
		s->copy[number] = (int32_t)value;
	}
}

/* The register is CFA + *value. */
static bool value_of(const struct stack_state *s, unsigned int number, int64_t *value)
{
	if (number == RSP && s->pointer_kind == STACK_POINTER_CFA) {
		*value = s->pointer;
		return true;
	}
	if (!is_copy(s, number))
		return false;
	*value = s->copy[number];
	return true;
}

/* ---- Instructions */

/* [rsp + disp] */
static bool on_stack(const cs_x86_op *op)
{
	return op->type == X86_OP_MEM && op->mem.base == X86_REG_RSP && op->mem.index == X86_REG_INVALID &&
	       op->mem.segment == X86_REG_INVALID && op->mem.disp >= INT32_MIN / 4 && op->mem.disp <= INT32_MAX / 4;
}

static bool is_register(const cs_x86_op *op)
{
	return op->type == X86_OP_REG && op->size == WORD && x86_register_number(op->reg) < 16;
}

static void keep_frame_at(struct stack_state *s, int64_t place)
{
	s->frame_kind = STACK_FRAME_SAVED;
	s->frame = (int32_t)place;
}

static void frame_is_back(struct stack_state *s)
{
	forget_copy(s, RBP);
	s->frame_kind = STACK_FRAME_SAME;
	s->frame = 0;
}

static bool in_register(const struct stack_state *s)
{
	return s->frame_kind == STACK_FRAME_SAME || s->frame_kind == STACK_FRAME_CALLERS;
}

static bool is_saved_at(const struct stack_state *s, int64_t place)
{
	return s->frame_kind == STACK_FRAME_SAVED && s->pointer_kind == STACK_POINTER_CFA && s->frame == place;
}

static void push(struct stack_state *s, const cs_x86_op *op)
{
	bool frame = op && is_register(op) && x86_register_number(op->reg) == RBP && in_register(s);

	move_stack(s, op && op->size == 2 ? -2 : -WORD);
	if (frame && s->pointer_kind == STACK_POINTER_CFA)
		keep_frame_at(s, s->pointer);
}

static void pop(struct stack_state *s, const cs_x86_op *op)
{
	unsigned int number = op && op->type == X86_OP_REG ? x86_register_number(op->reg) : X86_NO_REGISTER;
	bool back = number == RBP && is_saved_at(s, s->pointer);

	move_stack(s, op && op->size == 2 ? 2 : WORD);
	if (back)
		frame_is_back(s);
	else
		change(s, number);
}

static void leave(struct stack_state *s)
{
	int64_t value;

	if (value_of(s, RBP, &value))
		set_stack(s, value);
	else
		lose_stack(s);
	pop(s, NULL);
	if (is_saved_at(s, (int64_t)s->pointer - WORD))
		frame_is_back(s);
	else
		change(s, RBP);
}

static void load(struct stack_state *s, unsigned int number, const cs_x86_op *from)
{
	int64_t place = s->pointer + from->mem.disp;

	if (s->pointer_kind == STACK_POINTER_ALIGNED && s->has_slot && s->slot == place)
		set_copy(s, number, s->slot_value);
	else if (number == RBP && is_saved_at(s, place))
		frame_is_back(s);
	else
		change(s, number);
}

static void store(struct stack_state *s, const cs_x86_op *to, const cs_x86_op *from)
{
	int64_t place = s->pointer + to->mem.disp, value;
	unsigned int number = from->type == X86_OP_REG ? x86_register_number(from->reg) : X86_NO_REGISTER;
	bool whole = is_register(from);

	if (s->pointer_kind == STACK_POINTER_ALIGNED && whole && value_of(s, number, &value)) {
		s->has_slot = 1;
		s->slot = (int32_t)place;
		s->slot_value = (int32_t)value;
	} else if (s->pointer_kind == STACK_POINTER_ALIGNED && s->has_slot && s->slot == place) {
		s->has_slot = 0;
		s->slot = s->slot_value = 0;
	} else if (s->pointer_kind == STACK_POINTER_CFA && whole && number == RBP && place <= -2 * WORD &&
		   place >= INT16_MIN * WORD && in_register(s)) {
		keep_frame_at(s, place);
	}
}

/* Handles mov and lea of tracked values; returns false for other instructions. */
static bool move(struct stack_state *s, const cs_insn *insn)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0], *from = to + 1;
	int64_t value;

	if (insn->detail->x86.op_count != 2)
		return false;
	if (insn->id == X86_INS_MOV && on_stack(to)) {
		store(s, to, from);
		return true;
	}
	if (!is_register(to))
		return false;
	if (insn->id == X86_INS_MOV && on_stack(from)) {
		load(s, x86_register_number(to->reg), from);
	} else if (insn->id == X86_INS_MOV && is_register(from) && value_of(s, x86_register_number(from->reg), &value)) {
		set_copy(s, x86_register_number(to->reg), value);
	} else if (insn->id == X86_INS_LEA && x86_register_number(to->reg) == RSP && on_stack(from)) {
		move_stack(s, from->mem.disp);
	} else if (insn->id == X86_INS_LEA && from->mem.index == X86_REG_INVALID &&
		   value_of(s, x86_register_number(from->mem.base), &value)) {
		set_copy(s, x86_register_number(to->reg), value + (int32_t)from->mem.disp);
	} else {
		return false;
	}
	return true;
}

/* Handles add, sub and and on the stack pointer; returns false for other instructions. */
static bool compute(struct stack_state *s, const cs_insn *insn)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0], *by = to + 1;

	if (insn->detail->x86.op_count != 2 || !is_register(to) || x86_register_number(to->reg) != RSP)
		return false;
	/* The distance is unknown: an alignment, or a variable amount in a register (alloca). */
	if (insn->id == X86_INS_AND || is_register(by)) {
		move_stack_away(s);
		return true;
	}
	if (by->type != X86_OP_IMM || by->imm < INT32_MIN || by->imm > INT32_MAX)
		return false;
	move_stack(s, insn->id == X86_INS_ADD ? by->imm : -by->imm);
	return true;
}

/* Registers that the instruction writes lose their tracked values. */
static void change_written(struct stack_state *s, const cs_insn *insn)
{
	const cs_detail *detail = insn->detail;

	for (unsigned int i = 0; i < detail->x86.op_count; i++) {
		const cs_x86_op *op = &detail->x86.operands[i];

		if (op->type == X86_OP_REG && op->access & CS_AC_WRITE)
			change(s, x86_register_number(op->reg));
	}
	for (unsigned int i = 0; i < detail->regs_write_count; i++)
		change(s, x86_register_number(detail->regs_write[i]));
}

static void run(struct stack_state *s, const cs_insn *insn)
{
	const cs_x86_op *op = insn->detail->x86.op_count ? &insn->detail->x86.operands[0] : NULL;

	switch (insn->id) {
	case X86_INS_PUSH: push(s, op); return;
	case X86_INS_POP: pop(s, op); return;
	case X86_INS_PUSHFQ: push(s, NULL); return;
	case X86_INS_POPFQ: pop(s, NULL); return;
	case X86_INS_LEAVE: leave(s); return;
	case X86_INS_CALL:
		for (unsigned int i = 0; i < 16; i++)
			if (!(KEPT_BY_CALLS >> i & 1))
				forget_copy(s, i);
		return;
	case X86_INS_MOV:
	case X86_INS_LEA:
		if (move(s, insn))
			return;
		break;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
		if (compute(s, insn))
			return;
		break;
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_NOP:
	case X86_INS_RET: return;
	default: break;
	}
	change_written(s, insn);
}

static struct stack_step step_of(csh handle, const cs_insn *insn)
{
	const cs_x86_op *op = &insn->detail->x86.operands[0];
	struct stack_step step = { .flow = FLOW_NEXT, .size = insn->size };
	bool direct = insn->detail->x86.op_count && op->type == X86_OP_IMM;

	step.padding = insn->id == X86_INS_NOP || insn->id == X86_INS_INT3;
	if (insn->id == X86_INS_CALL) {
		step.call = true;
		step.target = direct ? (uint64_t)op->imm : 0;
	} else if (insn->id == X86_INS_JMP) {
		step.flow = direct ? FLOW_JUMP : FLOW_INDIRECT;
		step.target = direct ? (uint64_t)op->imm : 0;
	} else if (cs_insn_group(handle, insn, CS_GRP_RET) || cs_insn_group(handle, insn, CS_GRP_IRET)) {
		step.flow = FLOW_RETURN;
	} else if ((cs_insn_group(handle, insn, CS_GRP_JUMP) || insn->id == X86_INS_LOOP || insn->id == X86_INS_LOOPE ||
		    insn->id == X86_INS_LOOPNE) &&
		   direct) {
		step.flow = FLOW_BRANCH;
		step.target = (uint64_t)op->imm;
	} else if (insn->id == X86_INS_UD2 || insn->id == X86_INS_INT3 || insn->id == X86_INS_HLT) {
		step.flow = FLOW_STOP;
	}
	return step;
}

struct stack_step stack_effect(struct stack_decoder *d, const uint8_t *code, size_t available, uint64_t address,
			       struct stack_state *state)
{
	uint32_t size = vector_instruction_size(code, available);
	const uint8_t *next = code;
	size_t left = available;

	if (size)
		return (struct stack_step){ .flow = FLOW_NEXT, .size = size };
	if (!cs_disasm_iter(d->x86.handle, &next, &left, &address, d->x86.insn))
		return (struct stack_step){ .flow = FLOW_UNKNOWN };
	run(state, d->x86.insn);
	return step_of(d->x86.handle, d->x86.insn);
}

/* ---- States */

bool stack_state_join(struct stack_state *a, const struct stack_state *b)
{
	/* A function that has other callers, too, saves the frame pointer. */
	if (a->frame_kind == STACK_FRAME_SAME && b->frame_kind == STACK_FRAME_CALLERS)
		a->frame_kind = STACK_FRAME_CALLERS;
	if (a->pointer_kind != b->pointer_kind || a->pointer != b->pointer || a->frame != b->frame ||
	    (a->frame_kind != b->frame_kind &&
	     (a->frame_kind != STACK_FRAME_CALLERS || b->frame_kind != STACK_FRAME_SAME))) {
		*a = (struct stack_state){ .pointer_kind = STACK_POINTER_LOST };
		return false;
	}
	for (unsigned int i = 0; i < 16; i++)
		if (is_copy(a, i) && (!is_copy(b, i) || a->copy[i] != b->copy[i]))
			forget_copy(a, i);
	if (a->has_slot && (!b->has_slot || a->slot != b->slot || a->slot_value != b->slot_value)) {
		a->has_slot = 0;
		a->slot = a->slot_value = 0;
	}
	return true;
}

/* Does the slot fit into a rule, which has 16 bits for the addend? */
static bool is_slot_told(const struct stack_state *s)
{
	return s->pointer_kind == STACK_POINTER_ALIGNED && s->has_slot && s->slot >= s->pointer &&
	       s->slot_value >= -INT16_MAX && s->slot_value <= INT16_MAX;
}

static bool put_cfa(const struct stack_state *s, struct frame_rule *rule)
{
	static const uint8_t order[] = { RBP, 3, 12, 13, 14, 15, 0, 10, 11, 1, 2, 6, 7, 8, 9 };

	if (s->pointer_kind == STACK_POINTER_CFA) {
		rule->kind = FRAME_RULE_STACK;
		rule->cfa = -s->pointer;
		return s->pointer <= -WORD;
	}
	if (is_slot_told(s)) {
		rule->kind = FRAME_RULE_STACK_WORD;
		rule->cfa = s->slot - s->pointer;
		rule->add = (int16_t)-s->slot_value;
		return true;
	}
	for (unsigned int i = 0; i < sizeof(order); i++) {
		if (!is_copy(s, order[i]))
			continue;
		rule->kind = order[i] == RBP ? FRAME_RULE_FRAME : FRAME_RULE_REGISTER;
		rule->cfa = -s->copy[order[i]];
		rule->add = order[i] == RBP ? 0 : (int16_t)order[i];
		return true;
	}
	return false;
}

struct frame_rule stack_state_rule(const struct stack_state *s)
{
	const struct frame_rule none = { .kind = FRAME_RULE_NONE };
	struct frame_rule rule = { .back = -1, .derived = 1 };

	if (s->frame_kind == STACK_FRAME_LOST || s->frame % WORD || !put_cfa(s, &rule))
		return none;
	if (s->frame_kind == STACK_FRAME_SAVED) {
		rule.pointer_kind = FRAME_POINTER_AT_CFA;
		rule.pointer = (int16_t)(s->frame / WORD);
	}
	return rule;
}
