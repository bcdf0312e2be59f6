/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_rule.h - the unwind rule at an address of code: how to compute the canonical frame address (CFA), and where the
 * return address and the caller's frame pointer are.
 */
#ifndef PROFBPF_LIB_ELF_FRAME_RULE_H
#define PROFBPF_LIB_ELF_FRAME_RULE_H

#include <stdint.h>

enum frame_rule_kind {
	FRAME_RULE_NONE, /* the table does not cover this address, or its entry is not understood */
	FRAME_RULE_STACK, /* CFA = stack pointer + cfa */
	FRAME_RULE_FRAME, /* CFA = frame pointer + cfa */
	FRAME_RULE_FRAME_WORD, /* CFA = the word at frame pointer + cfa */
	FRAME_RULE_STACK_WORD, /* CFA = the word at stack pointer + cfa, + add */
	FRAME_RULE_REGISTER, /* x86-64: CFA = register number "add", as in instructions, + cfa */
	FRAME_RULE_PLT, /* x86-64: CFA = stack pointer + 8, and 8 more from byte cfa of each 16-byte entry on */
	FRAME_RULE_SIGNAL, /* x86-64: a signal frame, in which the kernel has saved the registers */
	FRAME_RULE_FIRST, /* there is no caller: a thread starts here */
};

/* Where the caller's frame pointer is. */
enum frame_rule_pointer {
	FRAME_POINTER_SAME, /* still in its register */
	FRAME_POINTER_AT_CFA, /* at CFA + pointer */
	FRAME_POINTER_AT_FRAME, /* at frame pointer + pointer */
};

struct frame_rule {
	uint8_t kind;
	uint8_t pointer_kind;
	int16_t pointer; /* in words of 8 bytes */
	int16_t back; /* offset of the return address from the CFA, in words; 0 = in the link register (AArch64) */
	uint16_t derived; /* 1: from instructions (code_frames.h), not from a table */
	int32_t cfa; /* bytes */
	int16_t add;
	uint16_t reserved; /* 0 */
};

/* Takes the rule that holds from @address (in the file's own address space) to the next rule's address. Not 0: stop. */
typedef int frame_rule_taker(void *context, uint64_t address, const struct frame_rule *rule);

#endif /* PROFBPF_LIB_ELF_FRAME_RULE_H */
