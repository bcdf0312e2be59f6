/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_effect.h - the effect of an x86-64 instruction on the state that a stack walk needs: the stack pointer, the
 * caller's frame pointer, and copies of the stack pointer from before it was aligned.
 *
 * Addresses are relative to the function's canonical frame address (CFA): the stack pointer before the call.
 */
#ifndef PROFBPF_LIB_ELF_STACK_EFFECT_H
#define PROFBPF_LIB_ELF_STACK_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/control_flow.h"
#include "lib/elf/frame_rule.h"

/* The value of the stack pointer. */
enum stack_pointer {
	STACK_POINTER_LOST,
	STACK_POINTER_CFA, /* CFA + pointer */
	STACK_POINTER_ALIGNED, /* its value right after it was aligned, or moved by a variable amount, + pointer */
};

/* Where the caller's frame pointer is. */
enum stack_frame {
	STACK_FRAME_SAME, /* in its register */
	STACK_FRAME_SAVED, /* at CFA + frame */
	STACK_FRAME_LOST,
	STACK_FRAME_CALLERS, /* the caller's own frame pointer, in its register; the caller has saved that of its caller */
};

/* Compared as bytes: unused members are 0. */
struct stack_state {
	uint8_t pointer_kind;
	uint8_t frame_kind;
	uint16_t copies; /* a bit for each register, by its number in instructions, whose value is CFA + copy[number] */
	int32_t pointer;
	int32_t frame;
	int32_t slot; /* with has_slot: the word at this offset of the aligned stack is CFA + slot_value */
	int32_t slot_value;
	uint32_t has_slot;
	int32_t copy[16];
};

/*
 * stack_state_begin - the state at a function's first instruction
 * stack_state_called - the state there if the function is called in state @from
 */
struct stack_state stack_state_begin(void);
struct stack_state stack_state_called(const struct stack_state *from);

/* stack_state_rule - the unwind rule for this state; FRAME_RULE_NONE: there is none */
struct frame_rule stack_state_rule(const struct stack_state *state);

/*
 * stack_state_join - merges @b into @a, where two paths meet
 *
 * Returns false if they contradict each other; then @a is STACK_POINTER_LOST.
 */
bool stack_state_join(struct stack_state *a, const struct stack_state *b);

struct stack_decoder;

/* stack_decoder_new - NULL without memory */
struct stack_decoder *stack_decoder_new(void);
void stack_decoder_free(struct stack_decoder *decoder);

struct stack_step {
	enum flow flow; /* a FLOW_TABLE is reported as FLOW_INDIRECT */
	uint32_t size; /* 0 with FLOW_UNKNOWN */
	uint64_t target; /* of FLOW_JUMP, FLOW_BRANCH, and of a direct call; else 0 */
	bool call;
	bool padding; /* a no-op */
};

/* stack_effect - decodes the instruction at @code, whose address is @address, and changes @state to the state behind it */
struct stack_step stack_effect(struct stack_decoder *decoder, const uint8_t *code, size_t available, uint64_t address,
			       struct stack_state *state);

#endif /* PROFBPF_LIB_ELF_STACK_EFFECT_H */
