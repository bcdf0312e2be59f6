/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_rule.h - what walking a stack takes to know of a place in code: where the caller's frame begins (its canonical
 * frame address, CFA), where the return address lies and where the caller's frame pointer.
 */
#ifndef PROFBPF_LIB_ELF_FRAME_RULE_H
#define PROFBPF_LIB_ELF_FRAME_RULE_H

#include <stdint.h>

enum frame_rule_kind {
	FRAME_RULE_NONE, /* the table does not cover this place, or tells what is not understood */
	FRAME_RULE_STACK, /* CFA = stack pointer + cfa */
	FRAME_RULE_FRAME, /* CFA = frame pointer + cfa */
	FRAME_RULE_FRAME_WORD, /* CFA = the word at frame pointer + cfa */
	FRAME_RULE_STACK_WORD, /* CFA = the word at stack pointer + cfa, + add */
	FRAME_RULE_REGISTER, /* x86-64: CFA = register number "add", as instructions number them, + cfa */
	FRAME_RULE_PLT, /* x86-64: CFA = stack pointer + 8, and + 8 more from the byte cfa of each 16 on */
	FRAME_RULE_SIGNAL, /* x86-64: the registers lie where the kernel puts them for a signal */
	FRAME_RULE_FIRST, /* there is no caller: a thread starts here */
};

/* Where the caller's frame pointer is. */
enum frame_rule_pointer {
	FRAME_POINTER_SAME, /* in its register, still */
	FRAME_POINTER_AT_CFA, /* at CFA + pointer */
	FRAME_POINTER_AT_FRAME, /* at frame pointer + pointer */
};

struct frame_rule {
	uint8_t kind;
	uint8_t pointer_kind;
	int16_t pointer; /* in words of 8 bytes */
	int16_t back; /* where the return address is: CFA + this, in words; 0 = in its register (AArch64) */
	uint16_t derived; /* 1: from instructions (code_frames.h), not from a table */
	int32_t cfa; /* bytes */
	int16_t add;
	uint16_t reserved; /* 0 */
};

/* Takes the rule from @address (in the file's own address space) on to the next one's. Not 0: no more. */
typedef int frame_rule_taker(void *context, uint64_t address, const struct frame_rule *rule);

#endif /* PROFBPF_LIB_ELF_FRAME_RULE_H */
