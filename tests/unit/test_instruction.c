/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of the probed instruction: in hand-assembled functions, and in all functions of this program and the C
 * library, where the code must not crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/elf/instruction.h"

#define ENDBR64 0xf3, 0x0f, 0x1e, 0xfa
#define PUSH_RBP 0x55
#define PUSH_R12 0x41, 0x54
#define RET 0xc3
#define NOP5 0x0f, 0x1f, 0x44, 0x00, 0x00
#define TEST_RDI 0x48, 0x85, 0xff
#define JE(to) 0x74, (uint8_t)(to)
#define JMP(to) 0xeb, (uint8_t)(to)
#define MOVABS_RAX 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 1
#define MOV_RBP_RSP 0x48, 0x89, 0xe5
#define LOAD_RAX_RIP 0x48, 0x8b, 0x05, 0x10, 0x20, 0x00, 0x00 /* mov 0x2010(%rip),%rax */
#define TEST_RAX 0x48, 0x85, 0xc0

static struct instruction_choice choose(const uint8_t *code, size_t size, uint64_t symbol_size, uint64_t offset,
					bool optimized_nop, bool stack_stays)
{
	struct instruction_decoder *decoder =
		instruction_decoder_new(ELF_FILE_X86_64, optimized_nop);
	/* A copy of exactly that size, so that sanitizers notice a read beyond the end. */
	uint8_t *copy = malloc(size ?: 1);
	struct instruction_choice choice;

	assert_non_null(decoder);
	assert_non_null(copy);
	memcpy(copy, code, size);
	choice = instruction_choose(decoder, copy, size, symbol_size, offset, stack_stays);
	free(copy);
	instruction_decoder_free(decoder);
	return choice;
}

static void expect_at(const uint8_t *code, size_t size, uint64_t symbol_size, uint64_t offset,
		      bool optimized_nop, uint32_t delta, enum instruction_class class)
{
	struct instruction_choice choice = choose(code, size, symbol_size, offset, optimized_nop, true);

	assert_int_equal(choice.delta, delta);
	assert_int_equal(choice.below, 0);
	assert_string_equal(instruction_class_name(choice.class), instruction_class_name(class));
}

#define EXPECT(delta, class, ...)                                                        \
	do {                                                                             \
		const uint8_t code[] = { __VA_ARGS__ };                                  \
		expect_at(code, sizeof(code), sizeof(code), 0x1000, true, delta, class); \
	} while (0)

static void entry_is_cheap(void **state)
{
	EXPECT(0, INSTRUCTION_NOP5, NOP5, RET);
	EXPECT(0, INSTRUCTION_EMULATED, PUSH_RBP, MOV_RBP_RSP, 0x5d, RET);
	EXPECT(0, INSTRUCTION_EMULATED, PUSH_R12, RET);
	EXPECT(0, INSTRUCTION_EMULATED, 0x90, RET); /* nop */
	EXPECT(0, INSTRUCTION_EMULATED, 0x66, 0x90, RET); /* 2-byte nop */
	EXPECT(0, INSTRUCTION_EMULATED, 0x0f, 0x1f, 0x40, 0x00, RET); /* 4-byte nop */
	EXPECT(0, INSTRUCTION_EMULATED, JMP(0x20), RET); /* short jump */
	EXPECT(0, INSTRUCTION_EMULATED, 0xe9, 0x00, 0x10, 0x00, 0x00, RET); /* jump */
	EXPECT(0, INSTRUCTION_EMULATED, 0xe8, 0x00, 0x10, 0x00, 0x00, RET); /* call */
	EXPECT(0, INSTRUCTION_EMULATED, JE(1), RET, RET);
	EXPECT(0, INSTRUCTION_EMULATED, 0x0f, 0x84, 0x00, 0x10, 0x00, 0x00, RET); /* je, long */
}

static void nop_depends_on_kernel_and_page(void **state)
{
	const uint8_t code[] = { NOP5, PUSH_RBP, RET };

	expect_at(code, sizeof(code), sizeof(code), 0x1ffb, true, 0, INSTRUCTION_NOP5);
	expect_at(code, sizeof(code), sizeof(code), 0x1ffc, true, 0, INSTRUCTION_EMULATED);
	expect_at(code, sizeof(code), sizeof(code), 0x1000, false, 5, INSTRUCTION_EMULATED);
}

static void steps_over_harmless_code(void **state)
{
	EXPECT(4, INSTRUCTION_EMULATED, ENDBR64, PUSH_RBP, RET);
	EXPECT(4, INSTRUCTION_NOP5, ENDBR64, NOP5, RET);
	EXPECT(3, INSTRUCTION_EMULATED, TEST_RDI, JE(1), RET, RET);
	EXPECT(7, INSTRUCTION_EMULATED, LOAD_RAX_RIP, PUSH_RBP, RET);
	EXPECT(10, INSTRUCTION_EMULATED, LOAD_RAX_RIP, TEST_RAX, JE(1), RET, RET);
	EXPECT(3, INSTRUCTION_EMULATED, 0x49, 0x89, 0xfa, PUSH_RBP, RET); /* mov %rdi,%r10 */
	EXPECT(5, INSTRUCTION_EMULATED, 0x4c, 0x8b, 0x54, 0x24, 0x08, /* mov 8(%rsp),%r10 */
	       PUSH_RBP, RET);
	EXPECT(2, INSTRUCTION_EMULATED, 0x31, 0xc0, PUSH_RBP, RET); /* xor %eax,%eax */
	EXPECT(18, INSTRUCTION_EMULATED, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI,
	       PUSH_RBP, RET);
}

static void keeps_arguments_and_stack(void **state)
{
	EXPECT(0, INSTRUCTION_STEPPED, 0x48, 0x89, 0xf7, PUSH_RBP, RET); /* mov %rsi,%rdi */
	EXPECT(0, INSTRUCTION_STEPPED, 0x89, 0xf7, PUSH_RBP, RET); /* mov %esi,%edi */
	EXPECT(0, INSTRUCTION_STEPPED, 0x40, 0xb7, 0x01, PUSH_RBP, RET); /* mov $1,%dil */
	EXPECT(0, INSTRUCTION_STEPPED, 0x31, 0xd2, PUSH_RBP, RET); /* xor %edx,%edx */
	EXPECT(0, INSTRUCTION_STEPPED, 0x49, 0x83, 0xc1, 0x01, PUSH_RBP, RET); /* add $1,%r9 */
	EXPECT(0, INSTRUCTION_STEPPED, 0x48, 0x83, 0xec, 0x18, PUSH_RBP, RET); /* sub $24,%rsp */
	EXPECT(0, INSTRUCTION_STEPPED, 0x48, 0x8d, 0x64, 0x24, 0xe8,
	       PUSH_RBP, /* lea -24(%rsp),%rsp */
	       RET);
	EXPECT(0, INSTRUCTION_STEPPED, ENDBR64, 0x48, 0x83, 0xec, 0x08, PUSH_RBP, RET);
	/* A stack argument or the memory behind a pointer argument may be overwritten. */
	EXPECT(0, INSTRUCTION_STEPPED, 0x48, 0x89, 0x7c, 0x24, 0x08,
	       PUSH_RBP, /* mov %rdi,8(%rsp) */
	       RET);
	EXPECT(0, INSTRUCTION_STEPPED, 0xc6, 0x07, 0x00, PUSH_RBP, RET); /* movb $0,(%rdi) */
	EXPECT(0, INSTRUCTION_STEPPED, 0x0f, 0x94, 0x07, PUSH_RBP, RET); /* sete (%rdi) */
	/* Instructions with effects beyond their operands */
	EXPECT(0, INSTRUCTION_STEPPED, 0x0f, 0x05, PUSH_RBP, RET); /* syscall */
	EXPECT(0, INSTRUCTION_STEPPED, 0xa4, PUSH_RBP, RET); /* movsb */
	EXPECT(0, INSTRUCTION_STEPPED, 0xcc, PUSH_RBP, RET); /* int3 */
	EXPECT(0, INSTRUCTION_STEPPED, 0x0f, 0x0b, PUSH_RBP, RET); /* ud2 */
	EXPECT(0, INSTRUCTION_STEPPED, RET, PUSH_RBP);
	EXPECT(0, INSTRUCTION_STEPPED, 0x58, PUSH_RBP, RET); /* pop %rax */
	EXPECT(0, INSTRUCTION_STEPPED, 0x48, 0xf7, 0xe7, PUSH_RBP, RET); /* mul %rdi: rdx too */
	/* Eight instructions at most */
	EXPECT(24, INSTRUCTION_EMULATED, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI,
	       PUSH_RBP, RET);
	EXPECT(0, INSTRUCTION_STEPPED, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI, TEST_RDI,
	       TEST_RDI, PUSH_RBP, RET);
	/* 63 bytes at most */
	EXPECT(63, INSTRUCTION_EMULATED, MOVABS_RAX, MOVABS_RAX, MOVABS_RAX, MOVABS_RAX, MOVABS_RAX, MOVABS_RAX, TEST_RDI,
	       PUSH_RBP, RET);
	EXPECT(0, INSTRUCTION_STEPPED, MOVABS_RAX, MOVABS_RAX, MOVABS_RAX, MOVABS_RAX, MOVABS_RAX, MOVABS_RAX, 0x83, 0xf8, 1,
	       0x3c, 1, PUSH_RBP, RET); /* cmp $1,%eax; cmp $1,%al */
}

/*
 * Checks the choice if the stack pointer may be lower than at the entry, @below bytes at the chosen place; and the
 * choice in the same code if it may not.
 */
static void expect_below(const uint8_t *code, size_t size, uint32_t delta, uint32_t below)
{
	struct instruction_choice choice = choose(code, size, size, 0x1000, true, false);

	assert_int_equal(choice.delta, delta);
	assert_int_equal(choice.below, below);
	assert_int_equal(choice.class, delta ? INSTRUCTION_EMULATED : INSTRUCTION_STEPPED);
	choice = choose(code, size, size, 0x1000, true, true);
	assert_int_equal(choice.delta, 0);
	assert_int_equal(choice.below, 0);
	assert_int_equal(choice.class, INSTRUCTION_STEPPED);
}

#define EXPECT_BELOW(delta, below, ...)                          \
	do {                                                     \
		const uint8_t code[] = { __VA_ARGS__ };          \
		expect_below(code, sizeof(code), delta, below);  \
	} while (0)

#define SUB_RSP(bytes) 0x48, 0x83, 0xec, bytes
#define SUB_RSP_FAR(bytes) 0x48, 0x81, 0xec, (bytes) & 0xff, (bytes) >> 8 & 0xff, (bytes) >> 16 & 0xff, 0
#define LOAD_GUARD 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0 /* mov %fs:0x28,%rax */
#define STORE_RAX(to) 0x48, 0x89, 0x44, 0x24, (uint8_t)(to) /* mov %rax,to(%rsp) */
#define STORE_EAX(to) 0x89, 0x44, 0x24, (uint8_t)(to)
#define ZERO_EAX 0x31, 0xc0

static void behind_the_making_of_a_frame(void **state)
{
	EXPECT_BELOW(4, 0x18, SUB_RSP(0x18), PUSH_RBP, RET);
	EXPECT_BELOW(8, 8, ENDBR64, SUB_RSP(8), PUSH_RBP, RET);
	EXPECT_BELOW(11, 0x220, SUB_RSP(0x20), SUB_RSP_FAR(0x200), PUSH_RBP, RET);
	EXPECT_BELOW(20, 0x18, SUB_RSP(0x18), LOAD_GUARD, STORE_RAX(8), ZERO_EAX, JE(1), RET, RET);
	/* The last bytes of the frame, and those after it: the return address. */
	EXPECT_BELOW(9, 0x18, SUB_RSP(0x18), STORE_RAX(0x10), PUSH_RBP, RET);
	EXPECT_BELOW(8, 0x18, SUB_RSP(0x18), STORE_EAX(0x14), PUSH_RBP, RET);
	EXPECT_BELOW(0, 0, SUB_RSP(0x18), STORE_RAX(0x11), PUSH_RBP, RET);
	EXPECT_BELOW(0, 0, SUB_RSP(0x18), STORE_EAX(0x15), PUSH_RBP, RET);
	EXPECT_BELOW(0, 0, SUB_RSP(0x18), STORE_RAX(0x20), PUSH_RBP, RET);
	/* Below the stack pointer; with an index; with another register */
	EXPECT_BELOW(0, 0, SUB_RSP(0x18), STORE_RAX(-8), PUSH_RBP, RET);
	EXPECT_BELOW(0, 0, SUB_RSP(0x18), 0x48, 0x89, 0x44, 0x1c, 0x08, PUSH_RBP, RET); /* mov %rax,8(%rsp,%rbx) */
	EXPECT_BELOW(0, 0, SUB_RSP(0x18), 0x48, 0x89, 0x43, 0x08, PUSH_RBP, RET); /* mov %rax,8(%rbx) */
	EXPECT_BELOW(0, 0, SUB_RSP(0x18), 0x64, 0x48, 0x89, 0x44, 0x24, 8, PUSH_RBP, RET); /* mov %rax,%fs:8(%rsp) */
	/* An unknown amount; not of whole words; too large */
	EXPECT_BELOW(0, 0, 0x48, 0x29, 0xc4, PUSH_RBP, RET); /* sub %rax,%rsp */
	EXPECT_BELOW(0, 0, 0x83, 0xec, 0x08, PUSH_RBP, RET); /* sub $8,%esp */
	EXPECT_BELOW(0, 0, SUB_RSP(0x0c), PUSH_RBP, RET);
	EXPECT_BELOW(0, 0, SUB_RSP((uint8_t)-8), PUSH_RBP, RET);
	EXPECT_BELOW(7, 0x7ff8, SUB_RSP_FAR(0x7ff8), PUSH_RBP, RET);
	EXPECT_BELOW(0, 0, SUB_RSP_FAR(0x8000), PUSH_RBP, RET);
	/* A jump back */
	EXPECT_BELOW(0, 0, SUB_RSP(0x18), PUSH_RBP, JMP(-3), RET);
}

static void nothing_may_jump_back(void **state)
{
	/* 0: test; 3: je 9; 5: push; 6: pop; 7: jmp ...; 9: ret */
	EXPECT(3, INSTRUCTION_EMULATED, TEST_RDI, JE(4), PUSH_RBP, 0x5d, JMP(0), RET);
	/* jmp back to the je (3), into the middle of test (1): probed again within one call */
	EXPECT(0, INSTRUCTION_STEPPED, TEST_RDI, JE(4), PUSH_RBP, 0x5d, JMP(-6), RET);
	EXPECT(0, INSTRUCTION_STEPPED, TEST_RDI, JE(4), PUSH_RBP, 0x5d, JMP(-8), RET);
	/* to the entry: a call of itself, seen at both places alike */
	EXPECT(3, INSTRUCTION_EMULATED, TEST_RDI, JE(4), PUSH_RBP, 0x5d, JMP(-9), RET);
	/* just after the probe, and before the function */
	EXPECT(3, INSTRUCTION_EMULATED, TEST_RDI, JE(4), PUSH_RBP, 0x5d, JMP(-4), RET);
	EXPECT(3, INSTRUCTION_EMULATED, TEST_RDI, JE(4), PUSH_RBP, 0x5d, JMP(-20), RET);
	/* a conditional jump, loop and a call into the prologue */
	EXPECT(0, INSTRUCTION_STEPPED, TEST_RDI, JE(4), PUSH_RBP, 0x5d, 0x75, 0xfa, RET);
	EXPECT(0, INSTRUCTION_STEPPED, TEST_RDI, JE(4), PUSH_RBP, 0x5d, 0xe2, 0xfa, RET);
	EXPECT(0, INSTRUCTION_STEPPED, TEST_RDI, JE(4), 0xe8, 0xf9, 0xff, 0xff, 0xff, RET);
}

static void jump_tables_are_not_trusted(void **state)
{
	EXPECT(0, INSTRUCTION_STEPPED, ENDBR64, PUSH_RBP, 0xff, 0x24, 0xc5, 0, 0x20, 0,
	       0); /* jmp *0x2000(,%rax,8) */
	EXPECT(0, INSTRUCTION_STEPPED, ENDBR64, PUSH_RBP, 0x48, 0x01, 0xd0, /* add %rdx,%rax */
	       0xff, 0xe0); /* jmp *%rax */
	EXPECT(0, INSTRUCTION_STEPPED, ENDBR64, PUSH_RBP, 0x3e, 0xff, 0xe0); /* notrack jmp *%rax */
	EXPECT(0, INSTRUCTION_STEPPED, ENDBR64, PUSH_RBP, 0x48, 0x8b, 0x04,
	       0xc2, /* mov (%rdx,%rax,8),%rax */
	       0xff, 0xe0);
	/* mov (%rdi),%rax; notrack jmp *%rax */
	EXPECT(0, INSTRUCTION_STEPPED, ENDBR64, PUSH_RBP, 0x48, 0x8b, 0x07, 0x3e, 0xff, 0xe0);
	/* the jump uses another register than the loaded one */
	EXPECT(0, INSTRUCTION_STEPPED, ENDBR64, PUSH_RBP, 0x48, 0x8b, 0x07, 0xff, 0xe2);
	/* pop overwrites the loaded pointer */
	EXPECT(0, INSTRUCTION_STEPPED, ENDBR64, PUSH_RBP, 0x48, 0x8b, 0x07, 0x58, 0xff, 0xe0);
}

static void tail_calls_are_told_apart(void **state)
{
	EXPECT(4, INSTRUCTION_EMULATED, ENDBR64, PUSH_RBP, 0x5d, 0xff, 0xa0, 0x78, 1, 0,
	       0); /* jmp *0x178(%rax) */
	EXPECT(4, INSTRUCTION_EMULATED, ENDBR64, PUSH_RBP, 0x5d, 0xff, 0x25, 0, 0x20, 0,
	       0); /* jmp *0x2000(%rip) */
	EXPECT(4, INSTRUCTION_EMULATED, ENDBR64, PUSH_RBP, 0x48, 0x8b, 0x07, /* mov (%rdi),%rax */
	       0x5b, 0x48, 0x83, 0xc4, 0x08, /* pop %rbx; add $8,%rsp */
	       0xff, 0xe0); /* jmp *%rax */
	/* The pointer is loaded long before: MindSpore's NativeCpuKernelMod::Launch() tests it in between; and what may follow the load. */
#define LAUNCH(...)                                                                                    \
	SUB_RSP(0x18), 0x48, 0x8b, 0x07, /* mov (%rdi),%rax */                                         \
		0x48, 0x39, 0xf0, 0x75, 0x0a, /* cmp %rsi,%rax; jne */                                 \
		__VA_ARGS__, 0x48, 0x83, 0xc4, 0x18, RET, /* ...; add $0x18,%rsp; ret */               \
		0x4c, 0x8b, 0x44, 0x24, 0x08, /* mov 0x8(%rsp),%r8 */                                  \
		0x48, 0x83, 0xc4, 0x18, 0xff, 0xe0 /* add $0x18,%rsp; jmp *%rax */
	EXPECT_BELOW(10, 0x18, LAUNCH(0xb8, 1, 0, 0, 0)); /* mov $1,%eax */
	EXPECT_BELOW(10, 0x18, LAUNCH(0x31, 0xc0)); /* xor %eax,%eax */
	EXPECT_BELOW(10, 0x18, LAUNCH(0x64, 0x48, 0x33, 0x04, 0x25, 0x28, 0, 0, 0)); /* xor %fs:0x28,%rax */
	EXPECT_BELOW(0, 0, LAUNCH(0xb8, 0, 0x20, 0, 0)); /* mov $0x2000,%eax: may be code */
	EXPECT_BELOW(0, 0, LAUNCH(0x48, 0x01, 0xd0)); /* add %rdx,%rax */
	EXPECT_BELOW(0, 0, LAUNCH(0x48, 0x8b, 0x04, 0xc2)); /* mov (%rdx,%rax,8),%rax */
	EXPECT_BELOW(0, 0, LAUNCH(0x48, 0x8d, 0x05, 0, 0, 0, 0)); /* lea (%rip),%rax */
	EXPECT_BELOW(0, 0, LAUNCH(0x48, 0x31, 0xd0)); /* xor %rdx,%rax */
	EXPECT_BELOW(0, 0, LAUNCH(0x48, 0x92)); /* xchg %rax,%rdx */
	/* clFinish of Debian 12's ocl-icd, whole */
	EXPECT(10, INSTRUCTION_EMULATED, 0x48, 0x8b, 0x05, 0xf1, 0x7b, 0x00, 0x00, 0x48, 0x85, 0xc0,
	       0x75, 0x14, 0x48, 0x85, 0xff, 0x74, 0x15, 0x48, 0x8b, 0x07, 0xff, 0xa0, 0x78, 0x01,
	       0x00, 0x00, 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xff, 0xa0, 0x80, 0x01, 0x00, 0x00,
	       0xb8, 0xdc, 0xff, 0xff, 0xff, 0xc3);
}

static void unknown_code_is_left_alone(void **state)
{
	const uint8_t good[] = { ENDBR64, PUSH_RBP, RET };
	const uint8_t cut[] = { 0xf3, 0x0f };
	const uint8_t bad_later[] = { ENDBR64, PUSH_RBP, 0x06, RET }; /* 0x06: invalid in 64 bit */

	/* unknown size; not all bytes present; no bytes; truncated within an instruction */
	expect_at(good, sizeof(good), 0, 0, true, 0, INSTRUCTION_STEPPED);
	expect_at(good, sizeof(good), sizeof(good) + 1, 0, true, 0, INSTRUCTION_STEPPED);
	expect_at(good, 0, sizeof(good), 0, true, 0, INSTRUCTION_STEPPED);
	expect_at(cut, sizeof(cut), sizeof(cut), 0, true, 0, INSTRUCTION_STEPPED);
	expect_at(bad_later, sizeof(bad_later), sizeof(bad_later), 0, true, 0, INSTRUCTION_STEPPED);
	/* the class of the entry is known without a size */
	expect_at(good + 4, 2, 0, 0, true, 0, INSTRUCTION_EMULATED);
	/* the function ends before the better instruction */
	expect_at(good, sizeof(good), 4, 0, true, 0, INSTRUCTION_STEPPED);
}

static void prefixes_prevent_emulation(void **state)
{
	EXPECT(0, INSTRUCTION_STEPPED, 0x66, 0xe9, 0x00, 0x10, RET, RET,
	       RET); /* jmp, 16-bit prefix */
	EXPECT(0, INSTRUCTION_STEPPED, 0x48, 0x50, RET); /* rex.w push */
	EXPECT(0, INSTRUCTION_STEPPED, 0xf3, 0x90, 0x58, RET); /* pause */
	EXPECT(0, INSTRUCTION_STEPPED, 0xff, 0x35, 0, 0, 0, 0, RET); /* push memory */
	EXPECT(0, INSTRUCTION_STEPPED, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, RET);
}

static void expect_aarch64(uint32_t insn, enum instruction_class class)
{
	struct instruction_decoder *decoder = instruction_decoder_new(ELF_FILE_AARCH64, true);
	const uint8_t code[] = { insn, insn >> 8, insn >> 16, insn >> 24 };
	struct instruction_choice choice = instruction_choose(decoder, code, 4, 4, 0, false);

	assert_int_equal(choice.delta, 0);
	assert_int_equal(choice.class, class);
	choice = instruction_choose(decoder, code, 3, 4, 0, false);
	assert_int_equal(choice.class, INSTRUCTION_STEPPED);
	instruction_decoder_free(decoder);
}

static void aarch64_stays_at_the_entry(void **state)
{
	expect_aarch64(0x14000010, INSTRUCTION_EMULATED); /* b */
	expect_aarch64(0x94000010, INSTRUCTION_EMULATED); /* bl */
	expect_aarch64(0x54000041, INSTRUCTION_EMULATED); /* b.ne */
	expect_aarch64(0xb4000040, INSTRUCTION_EMULATED); /* cbz x0 */
	expect_aarch64(0x35000040, INSTRUCTION_EMULATED); /* cbnz w0 */
	expect_aarch64(0x36000040, INSTRUCTION_EMULATED); /* tbz w0 */
	expect_aarch64(0xd61f0200, INSTRUCTION_EMULATED); /* br x16 */
	expect_aarch64(0xd65f03c0, INSTRUCTION_EMULATED); /* ret */
	expect_aarch64(0x90000010, INSTRUCTION_EMULATED); /* adrp x16 */
	expect_aarch64(0x58000010, INSTRUCTION_EMULATED); /* ldr x16, literal */
	expect_aarch64(0x98000010, INSTRUCTION_EMULATED); /* ldrsw x16, literal */
	expect_aarch64(0xa9bf7bfd, INSTRUCTION_STEPPED); /* stp x29, x30, [sp, #-16]! */
	expect_aarch64(0xd503233f, INSTRUCTION_STEPPED); /* paciasp */
	expect_aarch64(0xd503245f, INSTRUCTION_STEPPED); /* bti c */
	expect_aarch64(0xd10083ff, INSTRUCTION_STEPPED); /* sub sp, sp, #32 */
	expect_aarch64(0xf9400000, INSTRUCTION_STEPPED); /* ldr x0, [x0] */
	expect_aarch64(0x1c000010, INSTRUCTION_STEPPED); /* ldr s16, literal: not simulated */
}

static void *any(void *context, const char *name, size_t length)
{
	return context;
}

/* Random bytes: the chosen place is within the function and has one of the three classes. */
static void survives_any_bytes(void **state)
{
	struct instruction_decoder *decoder = instruction_decoder_new(ELF_FILE_X86_64, true);
	uint64_t random = 88172645463325252ull;
	uint8_t code[64];

	assert_non_null(decoder);
	for (int i = 0; i < 50000; i++) {
		struct instruction_choice choice;
		size_t size = i % sizeof(code);

		for (size_t j = 0; j < size; j++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			code[j] = random;
		}
		choice = instruction_choose(decoder, code, size, size, i, false);
		assert_true(choice.delta == 0 || choice.delta < size);
		assert_string_not_equal(instruction_class_name(choice.class), "?");
		if (choice.delta)
			assert_int_not_equal(choice.class, INSTRUCTION_STEPPED);
	}
	instruction_decoder_free(decoder);
}

/* All functions of this program: each moved probe saves a single step. */
static void handles_a_whole_program(void **state)
{
	char error[256];
	struct elf_file *file = elf_file_open("/proc/self/exe", error, sizeof(error));
	struct instruction_decoder *decoder;
	uint8_t *code = malloc(INSTRUCTION_SCAN_MAX);
	struct elf_symbols found;
	size_t cheap = 0;

	assert_non_null(file);
	assert_non_null(code);
	decoder = instruction_decoder_new(elf_file_machine(file), true);
	assert_non_null(decoder);
	assert_int_equal(elf_file_find(file, any, file, &found), 0);
	assert_true(found.count > 20);
	for (size_t i = 0; i < found.count; i++) {
		const struct elf_symbol *symbol = &found.symbol[i];
		ssize_t n = elf_file_read(
			file, symbol->offset, code,
			symbol->size < INSTRUCTION_SCAN_MAX ? symbol->size : INSTRUCTION_SCAN_MAX);
		struct instruction_choice choice;

		assert_true(n >= 0);
		choice = instruction_choose(decoder, code, n, symbol->size, symbol->offset, false);
		assert_true(choice.delta == 0 || choice.delta < symbol->size);
		cheap += choice.class != INSTRUCTION_STEPPED;
	}
	if (elf_file_machine(file) == ELF_FILE_X86_64)
		assert_true(cheap > 0);
	elf_symbols_free(&found);
	elf_file_close(file);
	instruction_decoder_free(decoder);
	free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entry_is_cheap),
		cmocka_unit_test(nop_depends_on_kernel_and_page),
		cmocka_unit_test(steps_over_harmless_code),
		cmocka_unit_test(keeps_arguments_and_stack),
		cmocka_unit_test(behind_the_making_of_a_frame),
		cmocka_unit_test(nothing_may_jump_back),
		cmocka_unit_test(jump_tables_are_not_trusted),
		cmocka_unit_test(tail_calls_are_told_apart),
		cmocka_unit_test(unknown_code_is_left_alone),
		cmocka_unit_test(prefixes_prevent_emulation),
		cmocka_unit_test(aarch64_stays_at_the_entry),
		cmocka_unit_test(survives_any_bytes),
		cmocka_unit_test(handles_a_whole_program),
	};

	return cmocka_run_group_tests_name("instruction", tests, NULL, NULL);
}
