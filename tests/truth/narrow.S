/* SPDX-License-Identifier: Apache-2.0 */
/*
 * narrow.S - a 32-bit program, made without a 32-bit C library: says "ready", waits for a byte on
 * standard input, ends. Built by tests/e2e/narrow.sh with `as --32` and `ld -m elf_i386`.
 */
	.globl _start, binary_narrow
	.text
_start:
	mov	$4, %eax	/* write(1, ready, 6) */
	mov	$1, %ebx
	mov	$ready, %ecx
	mov	$6, %edx
	int	$0x80
	call	binary_narrow
	mov	$3, %eax	/* read(0, buffer, 1) */
	xor	%ebx, %ebx
	mov	$buffer, %ecx
	mov	$1, %edx
	int	$0x80
	mov	$1, %eax	/* exit(0) */
	xor	%ebx, %ebx
	int	$0x80

	.type	binary_narrow, @function
binary_narrow:
	push	%ebp
	pop	%ebp
	ret
	.size	binary_narrow, . - binary_narrow

	.data
ready:	.ascii	"ready\n"
	.bss
buffer:	.byte	0
	.section .note.GNU-stack, "", @progbits
