/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function whose unlikely part lies elsewhere, as compilers split it; a function that ends with a jump to another
 * one has no such part.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/elf/split_part.h"

#if defined(__x86_64__)
#define JUMP_IF_0 "	test %edi, %edi\n	je "
#define JUMP "	jmp "
#define NOTHING "	nop\n"
#define RETURN "	ret\n"
#elif defined(__aarch64__)
#define JUMP_IF_0 "	cbz w0, "
#define JUMP "	b "
#define NOTHING "	nop\n"
#define RETURN "	ret\n"
#endif

asm(".text\n"
    ".balign 16\n"
    ".globl whole, whole_end, split, split_end, unlikely, unlikely_end\n"
    "whole:\n"
    "	.cfi_startproc\n" NOTHING JUMP "split\n"
    "	.cfi_endproc\n"
    "whole_end:\n"
    ".balign 16\n"
    "unlikely:\n"
    "	.cfi_startproc\n" NOTHING "1:	nop\n" JUMP "2f\n"
    "	.cfi_endproc\n"
    "unlikely_end:\n"
    ".balign 16\n"
    "split:\n"
    "	.cfi_startproc\n" NOTHING JUMP_IF_0 "1b\n"
    "2:\n" RETURN "	.cfi_endproc\n"
    "split_end:\n");

extern const uint8_t __executable_start[], whole[], whole_end[], split[], split_end[], unlikely[], unlikely_end[];

static uint64_t address_of(const uint8_t *code)
{
	return (uint64_t)(code - __executable_start);
}

static void test_parts(void **state)
{
	char error[256];
	struct elf_file *file = elf_file_open("/proc/self/exe", error, sizeof(error));
	uint64_t part = 0, part_end = 0;

	(void)state;
	assert_non_null(file);
	assert_int_equal(split_part_find(file, address_of(split), address_of(split_end), &part, &part_end), 0);
	assert_int_equal(part, address_of(unlikely));
	assert_int_equal(part_end, address_of(unlikely_end));
	assert_int_equal(split_part_find(file, address_of(whole), address_of(whole_end), &part, &part_end), -ENOENT);
	assert_int_equal(split_part_find(file, address_of(split_end), address_of(split), &part, &part_end), -ENOENT);
	assert_int_equal(split_part_find(file, address_of(split), UINT64_MAX, &part, &part_end), -ENOENT);
	elf_file_close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
