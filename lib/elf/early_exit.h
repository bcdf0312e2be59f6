/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early_exit.h - an instruction shortly before a return that is cheaper to probe than the return itself.
 *
 * The kernel steps over a return instruction, ten times as expensive as an instruction that it emulates. x86-64 code with
 * a stack protector (-fstack-protector and its like) compares a word of its frame with the thread's before it returns:
 *
 *	sub  %fs:0x28,%rax	or xor, cmp
 *	jne  to where the program ends itself
 *	add  $0x38,%rsp		any of: add to the stack pointer, pop, mov to a register
 *	pop  %rbx
 *	ret			or a jump to another function
 *
 * Compilers put this comparison on each way to the return. So whoever comes to the conditional jump, which the kernel
 * emulates, returns, or ends the program. All that lies between is known: how far below its place at the return the
 * stack pointer is, and whether %rax, the value that is returned, is set after it. Of a jump to another function by a
 * register that is loaded in between, as where a method of an object is called last, it is known where from.
 */
#ifndef PROFBPF_LIB_ELF_EARLY_EXIT_H
#define PROFBPF_LIB_ELF_EARLY_EXIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a register holds: what lies at @outer of what @base points to, or with two @loads at @inner of what that points to. */
struct early_pointer {
	uint8_t reg, base; /* as instructions number them; base as it is at the conditional jump */
	uint8_t loads; /* 0 = nothing is known */
	int32_t outer, inner;
};

struct early_exit {
	uint64_t address; /* of the conditional jump; 0 = there is none */
	uint32_t below; /* bytes that the stack pointer is below its place at what comes next */
	uint16_t writes; /* a bit for each register, as instructions number them, that is written since */
	struct early_pointer pointer; /* the register loaded last */
	bool compared; /* the instruction before was the comparison */
};

#define EARLY_EXIT_VALUE 1 /* early_exit.writes: %rax */

/* early_exit_begin - at the begin of a piece of code */
void early_exit_begin(struct early_exit *early);

/* early_exit_follow - the code goes on with the x86-64 instruction of @size bytes at @code, which lies at @address */
void early_exit_follow(struct early_exit *early, const uint8_t *code, uint32_t size, uint64_t address);

#endif /* PROFBPF_LIB_ELF_EARLY_EXIT_H */
