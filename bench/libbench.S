/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libbench.S - functions that do nothing, each beginning with another
 * instruction: it decides what a probe costs. bench_KIND_at is the cheapest
 * instruction that a probe may stand on without missing an argument.
 */
#if !defined(__x86_64__)
#error "bench/ chooses x86-64 instructions by hand; it needs a column for this architecture"
#endif

	.text

.macro begin name
	.balign 64
	.globl bench_\name, bench_\name\()_at
	.type bench_\name, @function
bench_\name:
.endm

.macro at name
bench_\name\()_at:
.endm

.macro end name
	.size bench_\name, . - bench_\name
.endm

	begin push
	at push
	push %rbp
	pop %rbp
	xor %eax, %eax
	ret
	end push

	begin nop5
	at nop5
	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00
	xor %eax, %eax
	ret
	end nop5

	begin endbr64
	endbr64
	at endbr64
	push %rbp
	pop %rbp
	xor %eax, %eax
	ret
	end endbr64

	begin mov
	mov %rdi, %rax
	at mov
	push %rbp
	pop %rbp
	xor %eax, %eax
	ret
	end mov

	/* The stack pointer moves at once: no other place to stand on. */
	begin stepped
	at stepped
	sub $8, %rsp
	add $8, %rsp
	xor %eax, %eax
	ret
	end stepped

	/* As push; but nobody vouches for it, so the end is seen at its return instruction. */
	begin exits
	at exits
	push %rbp
	pop %rbp
	xor %eax, %eax
	ret
	end exits

	.section .note.GNU-stack, "", @progbits
