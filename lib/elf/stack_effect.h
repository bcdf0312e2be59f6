/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_effect.h - what an x86-64 instruction does to what a walk of the stack needs: the stack pointer, the caller's
 * frame pointer, and copies of the stack pointer from before it was aligned.
 *
 * Places are told relative to the function's canonical frame address (CFA): the stack pointer before the call.
 */
#ifndef PROFBPF_LIB_ELF_STACK_EFFECT_H
#define PROFBPF_LIB_ELF_STACK_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/control_flow.h"
#include "lib/elf/frame_rule.h"

/* What the stack pointer is. */
enum stack_pointer {
	STACK_POINTER_LOST,
	STACK_POINTER_CFA, /* CFA + pointer */
	STACK_POINTER_ALIGNED, /* what it was when it was aligned, or moved by what only the run knows, + pointer */
};

/* Where the caller's frame pointer is. */
enum stack_frame {
	STACK_FRAME_SAME, /* in its register */
	STACK_FRAME_SAVED, /* at CFA + frame */
	STACK_FRAME_LOST,
	STACK_FRAME_CALLERS, /* in its register as far as the caller knows, who has saved its own caller's */
};

/* Compared as bytes: what does not count is 0. */
struct stack_state {
	uint8_t pointer_kind;
	uint8_t frame_kind;
	uint16_t copies; /* a bit for each register, as instructions number them, that is CFA + copy[it] */
	int32_t pointer;
	int32_t frame;
	int32_t slot; /* with has_slot: at this place of an aligned stack stands CFA + slot_value */
	int32_t slot_value;
	uint32_t has_slot;
	int32_t copy[16];
};

/* stack_state_begin - at a function's first instruction; stack_state_called - if one is called in state @from */
struct stack_state stack_state_begin(void);
struct stack_state stack_state_called(const struct stack_state *from);

/* stack_state_rule - how the caller's frame is found in this state; FRAME_RULE_NONE: in no way */
struct frame_rule stack_state_rule(const struct stack_state *state);

/*
 * stack_state_join - what holds where code comes from both @a and @b, into @a
 *
 * False: they do not fit; then @a is STACK_POINTER_LOST.
 */
bool stack_state_join(struct stack_state *a, const struct stack_state *b);

struct stack_decoder;

/* stack_decoder_new - NULL without memory */
struct stack_decoder *stack_decoder_new(void);
void stack_decoder_free(struct stack_decoder *decoder);

struct stack_step {
	enum flow flow; /* FLOW_TABLE is told as FLOW_INDIRECT */
	uint32_t size; /* 0 with FLOW_UNKNOWN */
	uint64_t target; /* of FLOW_JUMP, FLOW_BRANCH, and of a call of a known place; else 0 */
	bool call;
	bool padding; /* it does nothing */
};

/* stack_effect - decode the instruction at @code, which lies at @address; @state becomes what holds behind it */
struct stack_step stack_effect(struct stack_decoder *decoder, const uint8_t *code, size_t available, uint64_t address,
			       struct stack_state *state);

#endif /* PROFBPF_LIB_ELF_STACK_EFFECT_H */
