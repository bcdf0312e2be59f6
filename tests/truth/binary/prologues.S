/* SPDX-License-Identifier: Apache-2.0 */
/* prologues.S - functions whose first instructions are known, for x86-64; see tests/e2e/catalog_match.sh */
	.macro function name
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro end name
	.size	\name, . - \name
	.endm

	.text
	.balign	4096
function binary_nop5
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	ret
end binary_nop5

function binary_push
	push	%rbp
	pop	%rbp
	ret
end binary_push

/* Stepped over: endbr64 leaves all alone. */
function binary_endbr
	endbr64
	push	%rbp
	pop	%rbp
	ret
end binary_endbr

/* Not stepped over: it changes an argument. */
function binary_argument
	mov	%rsi, %rdi
	push	%rbp
	pop	%rbp
	ret
end binary_argument

/* Not stepped over: the function jumps back to the push. */
function binary_loop
	xor	%eax, %eax
1:	push	%rbp
	pop	%rbp
	dec	%edi
	jg	1b
	ret
end binary_loop

/* Of unknown size. */
function binary_sizeless
	xor	%eax, %eax
	push	%rbp
	pop	%rbp
	ret

	.section .note.GNU-stack, "", @progbits
