/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early_exit.h - an instruction shortly before a return that is cheaper to probe than the return itself.
 *
 * The kernel single-steps a return instruction, which costs ten times as much as an instruction that it emulates. x86-64
 * code with a stack protector (-fstack-protector and similar) compares the canary in its frame with the thread's before
 * it returns:
 *
 *	sub  %fs:0x28,%rax	or xor, cmp; a load of a register may follow
 *	jne  to a call of __stack_chk_fail
 *	add  $0x38,%rsp		any of: add to the stack pointer, pop, mov to a register
 *	pop  %rbx
 *	ret			or a jump to another function
 *
 * Compilers put this comparison on each path to the return. So after the conditional jump, which the kernel emulates,
 * the function returns or the program ends. The instructions in between are known, and with them how far the stack
 * pointer is below its value at the return, and whether %rax, the returned value, is set in between. For a tail jump
 * through a register that is loaded in between, as in a virtual method call at the end of a function, the
 * address of the load is known.
 */
#ifndef PROFBPF_LIB_ELF_EARLY_EXIT_H
#define PROFBPF_LIB_ELF_EARLY_EXIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The content of a register: the word at @base + @outer; with two @loads the word at offset @inner behind that pointer. */
struct early_pointer {
	uint8_t reg, base; /* numbers as in instructions; the value of base is that at the conditional jump */
	uint8_t loads; /* 0 = the content is unknown */
	int32_t outer, inner;
};

struct early_exit {
	uint64_t address; /* of the conditional jump; 0 = there is none */
	uint32_t below; /* bytes by which the stack pointer at the jump is below its value now */
	uint16_t writes; /* a bit for each register, by its number in instructions, that was written since */
	struct early_pointer pointer; /* the register loaded last */
	bool compared; /* the last instruction was the comparison, or one that loads a register behind it */
};

#define EARLY_EXIT_VALUE 1 /* early_exit.writes: %rax */

/* early_exit_begin - starts a piece of code */
void early_exit_begin(struct early_exit *early);

/* early_exit_follow - takes the next x86-64 instruction: @size bytes at @code, whose address is @address */
void early_exit_follow(struct early_exit *early, const uint8_t *code, uint32_t size, uint64_t address);

#endif /* PROFBPF_LIB_ELF_EARLY_EXIT_H */
