/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules derived from instructions: the test runs functions in assembler without unwind tables one instruction at a
 * time; at each instruction the rules must give the caller's frame.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <cmocka.h>

#include "lib/elf/code_entries.h"
#include "lib/elf/code_frames.h"
#include "lib/elf/elf_file.h"
#include "lib/elf/frame_rules.h"
#include "lib/elf/vector_size.h"

#if defined(__x86_64__)

/* As hand-written: FFmpeg's x86inc.asm contains these ways of aligning the stack. */
asm(".text\n"
    ".balign 64\n"
    "code_first:\n"
    /* A leaf that does not change the stack. */
    ".balign 16\n"
    "leaf:\n"
    "	lea 1(%rdi), %rax\n"
    "	vpxor %xmm0, %xmm0, %xmm0\n"
    "	test %rdi, %rdi\n"
    "	je 1f\n"
    "	add $2, %rax\n"
    "1:	ret\n"
    /* Saves registers and has two exits. */
    ".balign 16\n"
    "saves:\n"
    "	push %rbx\n"
    "	push %rbp\n"
    "	sub $24, %rsp\n"
    "	mov %rdi, %rbp\n"
    "	test %rdi, %rdi\n"
    "	je 1f\n"
    "	lea 24(%rsp), %rsp\n"
    "	pop %rbp\n"
    "	pop %rbx\n"
    "	ret\n"
    "1:	xor %ebx, %ebx\n"
    "	add $24, %rsp\n"
    "	pop %rbp\n"
    "	pop %rbx\n"
    "	ret\n"
    /* Aligns the stack and keeps the old stack pointer in a register. */
    ".balign 16\n"
    "aligns:\n"
    "	push %rbx\n"
    "	push %rbp\n"
    "	mov %rsp, %r11\n"
    "	and $-64, %rsp\n"
    "	sub $128, %rsp\n"
    "	xor %ebp, %ebp\n"
    "	mov %rax, 8(%rsp)\n"
    "	mov %r11, %rsp\n"
    "	pop %rbp\n"
    "	pop %rbx\n"
    "	ret\n"
    /* Aligns the stack, saves the old stack pointer above it, and calls another function. */
    ".balign 16\n"
    "aligns_and_calls:\n"
    "	push %rbx\n"
    "	push %rbp\n"
    "	mov %rsp, %rbx\n"
    "	and $-64, %rsp\n"
    "	sub $192, %rsp\n"
    "	mov %rbx, 128(%rsp)\n"
    "	xor %ebx, %ebx\n"
    "	call helper\n"
    "	push %rax\n"
    "	pop %rax\n"
    "	mov 128(%rsp), %rsp\n"
    "	pop %rbp\n"
    "	pop %rbx\n"
    "	ret\n"
    ".balign 16\n"
    "helper:\n"
    "	push %r12\n"
    "	xor %r12d, %r12d\n"
    "	pop %r12\n"
    "	ret\n"
    /* With a frame pointer. */
    ".balign 16\n"
    "frames:\n"
    "	push %rbp\n"
    "	mov %rsp, %rbp\n"
    "	sub $40, %rsp\n"
    "	and $-32, %rsp\n"
    "	mov %rdi, (%rsp)\n"
    "	leave\n"
    "	ret\n"
    /* Saves registers without push. */
    ".balign 16\n"
    "moves:\n"
    "	sub $40, %rsp\n"
    "	mov %rbp, 16(%rsp)\n"
    "	xor %ebp, %ebp\n"
    "	mov 16(%rsp), %rbp\n"
    "	add $40, %rsp\n"
    "	ret\n"
    /* Continues at one of three places, two of which are reached in no other way. */
    ".balign 16\n"
    "jumps:\n"
    "	push %rbp\n"
    "	sub $16, %rsp\n"
    "	lea jump_table(%rip), %rax\n"
    "	movslq (%rax,%rdi,4), %rcx\n"
    "	add %rax, %rcx\n"
    "	jmp *%rcx\n"
    ".balign 16\n"
    "jump_0:	xor %ebp, %ebp\n"
    "	jmp 2f\n"
    ".balign 16\n"
    "jump_1:	lea 1(%rdi), %rax\n"
    "2:	add $16, %rsp\n"
    "	pop %rbp\n"
    "	ret\n"
    ".balign 16\n"
    "code_end:\n"
    ".section .rodata\n"
    "jump_table:\n"
    "	.long jump_0 - jump_table, jump_1 - jump_table\n"
    ".text\n");

extern const uint8_t code_first[], code_end[];
extern void leaf(long), saves(long), aligns(long), aligns_and_calls(long), helper(long), frames(long), moves(long), jumps(long);

typedef void function(long argument);
/* Written where the dynamic linker puts the addresses. */
static function *const FUNCTIONS[] = { leaf, saves, aligns, aligns_and_calls, helper, frames, moves, jumps };
#define FUNCTION_COUNT (sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]))

#define BYTES_MAX 1024

/* Rules by byte offset in the code. */
struct rules {
	uint64_t first; /* address of byte 0 */
	uint64_t last;
	struct frame_rule rule[BYTES_MAX];
};

static int take(void *context, uint64_t address, const struct frame_rule *rule)
{
	struct rules *rules = context;

	assert_true(!rules->last || address > rules->last);
	rules->last = address;
	for (uint64_t i = address > rules->first ? address - rules->first : 0; i < BYTES_MAX; i++)
		rules->rule[i] = *rule;
	return 0;
}

/* A function's frame while it runs, nested in another one. */
struct frame {
	uint64_t cfa, pointer; /* the caller's */
};

static const struct rules *rules;
static struct frame frames_now[4];
static int depth, steps, wrong;

static bool is_entry(uint64_t address)
{
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		if (address == (uint64_t)FUNCTIONS[i])
			return true;
	return false;
}

static uint64_t word_at(uint64_t address)
{
	uint64_t word;

	memcpy(&word, (const void *)address, sizeof(word));
	return word;
}

static uint64_t register_of(const greg_t *r, int number)
{
	static const int registers[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
					   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

	return (uint64_t)r[registers[number]];
}

static uint64_t cfa_of(const struct frame_rule *rule, const greg_t *r)
{
	uint64_t by = (uint64_t)(int64_t)rule->cfa, stack = (uint64_t)r[REG_RSP];

	switch (rule->kind) {
	case FRAME_RULE_STACK: return stack + by;
	case FRAME_RULE_FRAME: return (uint64_t)r[REG_RBP] + by;
	case FRAME_RULE_STACK_WORD: return word_at(stack + by) + (uint64_t)(int64_t)rule->add;
	case FRAME_RULE_REGISTER: return register_of(r, rule->add) + by;
	default: return 0;
	}
}

/* Runs after each instruction; assertions are not allowed in the signal handler. */
static void on_step(int signal, siginfo_t *info, void *context)
{
	const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t at = (uint64_t)r[REG_RIP], stack = (uint64_t)r[REG_RSP], pointer = (uint64_t)r[REG_RBP], cfa;
	const struct frame_rule *rule;

	(void)signal;
	(void)info;
	while (depth && stack >= frames_now[depth - 1].cfa)
		depth--;
	if (at < (uint64_t)code_first || at >= (uint64_t)code_end)
		return;
	if (is_entry(at) && depth < 4)
		frames_now[depth++] = (struct frame){ stack + 8, pointer };
	rule = &rules->rule[at - (uint64_t)code_first];
	cfa = cfa_of(rule, r);
	steps++;
	if (rule->pointer_kind == FRAME_POINTER_AT_CFA && cfa)
		pointer = word_at(cfa + (uint64_t)(rule->pointer * 8ll));
	if (!rule->derived || rule->back != -1 || cfa != frames_now[depth - 1].cfa ||
	    pointer != frames_now[depth - 1].pointer) {
		print_error("%s+%lu: rule %u\n", "code", (unsigned long)(at - (uint64_t)code_first), rule->kind);
		wrong++;
	}
}

static void run_stepped(function *f, long argument)
{
	asm volatile("sub $128, %%rsp\n"
		     "pushfq\n"
		     "orq $0x100, (%%rsp)\n"
		     "popfq\n"
		     "call *%[f]\n"
		     "pushfq\n"
		     "andq $~0x100, (%%rsp)\n"
		     "popfq\n"
		     "add $128, %%rsp\n"
		     : "+D"(argument)
		     : [f] "r"(f)
		     : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0");
}

static void expect_truth(const struct rules *r)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_ONSTACK }, before;

	rules = r;
	steps = wrong = depth = 0;
	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		for (long argument = 0; argument < 2; argument++)
			run_stepped(FUNCTIONS[i], argument);
	sigaction(SIGTRAP, &before, NULL);
	assert_int_equal(wrong, 0);
	assert_true(steps > 100);
}

static void test_rules(void **state)
{
	static struct rules r;
	const struct code_span span = { code_first, (uint64_t)code_first, (uint64_t)code_end };
	struct code_entry entry[FUNCTION_COUNT];

	(void)state;
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		entry[i] = (struct code_entry){ (uint64_t)FUNCTIONS[i], true };
	r.first = span.first;
	assert_int_equal(code_frames_run(&span, entry, FUNCTION_COUNT, take, &r), 0);
	expect_truth(&r);
}

/* In the file, the beginnings of functions are found by references to them. */
static void test_file(void **state)
{
	static struct rules r;
	char error[256];
	struct elf_file *file = elf_file_open("/proc/self/exe", error, sizeof(error));
	extern const uint8_t __executable_start[];
	uint64_t left;

	(void)state;
	assert_non_null(file);
	r.first = (uint64_t)(code_first - __executable_start);
	/* Tables alone give fewer rules, and the reader returns how much they leave out. */
	assert_int_equal(frame_rules_read_told(file, take, &r, &left), 0);
	assert_true(left >= (uint64_t)(code_end - code_first));
	for (size_t i = 0; i < (size_t)(code_end - code_first); i++)
		assert_int_equal(r.rule[i].kind, FRAME_RULE_NONE);
	r = (struct rules){ .first = r.first };
	assert_int_equal(frame_rules_read(file, take, &r), 0);
	elf_file_close(file);
	expect_truth(&r);
}

static struct rules run(const uint8_t *code, size_t size, const struct code_entry *entry, size_t entries)
{
	const struct code_span span = { code, 0x1000, 0x1000 + size };
	static struct rules r;

	r = (struct rules){ .first = 0x1000 };
	assert_int_equal(code_frames_run(&span, entry, entries, take, &r), 0);
	return r;
}

/* Code reached with two stack depths, or never, has no rule; nor has the code after it. */
static void test_unknown(void **state)
{
	static const uint8_t two_ways[] = { 0x74, 0x01, /* je over the push */
					    0x53, /* push rbx */
					    0x90, 0xc3, /* nop, ret */
					    0x53, 0xc3 };
	static const uint8_t lost[] = { 0x48, 0x89, 0xfc, /* mov rsp, rdi */
					0x90, 0xc3 };
	static const uint8_t unsaved[] = { 0x31, 0xed, /* xor ebp, ebp */
					   0xc3 };
	static const struct code_entry entry[] = { { 0x1000, true } };
	struct rules r = run(two_ways, sizeof(two_ways), entry, 1);

	(void)state;
	assert_int_equal(r.rule[0].kind, FRAME_RULE_STACK);
	assert_int_equal(r.rule[2].cfa, 8);
	for (size_t i = 3; i < sizeof(two_ways); i++)
		assert_int_equal(r.rule[i].kind, FRAME_RULE_NONE);
	r = run(lost, sizeof(lost), entry, 1);
	assert_int_equal(r.rule[0].kind, FRAME_RULE_STACK);
	assert_int_equal(r.rule[3].kind, FRAME_RULE_NONE);
	r = run(unsaved, sizeof(unsaved), entry, 1);
	assert_int_equal(r.rule[0].kind, FRAME_RULE_STACK);
	assert_int_equal(r.rule[2].kind, FRAME_RULE_NONE);
	r = run(two_ways, sizeof(two_ways), entry, 0);
	assert_int_equal(r.rule[0].kind, FRAME_RULE_NONE);
}

/* Arbitrary bytes: the reader terminates and reads nothing outside of them. */
static void test_anything(void **state)
{
	static struct code_entry entry[64];

	(void)state;
	srandom(3);
	for (size_t i = 0; i < 64; i++)
		entry[i] = (struct code_entry){ 0x1000 + i * 16, i % 2 };
	for (int i = 0; i < 300; i++) {
		uint8_t *code = malloc(1000);

		assert_non_null(code);
		for (size_t j = 0; j < 1000; j++)
			code[j] = (uint8_t)random();
		run(code, 1000, entry, (size_t)random() % 64);
		free(code);
	}
}

/* A saved stack pointer that lies too far from the caller's frame for a rule: another copy is used. */
static void test_far_copy(void **state)
{
	static const uint8_t code[] = { 0x48, 0x89, 0xe0, /* mov rax, rsp */
					0x48, 0x81, 0xec, 0, 0, 1, 0, /* sub rsp, 65536 */
					0x48, 0x89, 0xe1, /* mov rcx, rsp */
					0x48, 0x83, 0xe4, 0xc0, /* and rsp, -64 */
					0x48, 0x89, 0x4c, 0x24, 0x08, /* mov [rsp + 8], rcx */
					0xc3 };
	static const struct code_entry entry[] = { { 0x1000, true } };
	struct rules r = run(code, sizeof(code), entry, 1);
	const struct frame_rule *last = &r.rule[sizeof(code) - 1];

	(void)state;
	assert_int_equal(last->kind, FRAME_RULE_REGISTER);
	assert_int_equal(last->add, 0);
	assert_int_equal(last->cfa, 8);
}

static void test_vectors(void **state)
{
	static const uint8_t zeroupper[] = { 0xc5, 0xf8, 0x77 };
	static const uint8_t plain[] = { 0xc5, 0xe9, 0xfe, 0xcb }; /* vpaddd xmm1, xmm2, xmm3 */
	static const uint8_t byte[] = { 0xc5, 0xf9, 0x70, 0xc1, 0x1b }; /* vpshufd xmm0, xmm1, 27 */
	static const uint8_t place[] = { 0xc4, 0xe2, 0x7d, 0x18, 0x05, 1, 2, 3, 4 }; /* vbroadcastss ymm0, [rip] */
	static const uint8_t wide[] = { 0x62, 0xf2, 0x75, 0x48, 0x50, 0x84, 0x8b, 0, 1, 0, 0 }; /* vpdpbusd zmm0, zmm1, [rbx+rcx*4+256] */
	static const uint8_t near[] = { 0x62, 0xf3, 0x75, 0x48, 0x25, 0x44, 0x24, 0x01, 0xff }; /* vpternlogd zmm0, zmm1, [rsp+64], 255 */

	(void)state;
	assert_int_equal(vector_instruction_size(zeroupper, sizeof(zeroupper)), sizeof(zeroupper));
	assert_int_equal(vector_instruction_size(plain, sizeof(plain)), sizeof(plain));
	assert_int_equal(vector_instruction_size(byte, sizeof(byte)), sizeof(byte));
	assert_int_equal(vector_instruction_size(place, sizeof(place)), sizeof(place));
	assert_int_equal(vector_instruction_size(wide, sizeof(wide)), sizeof(wide));
	assert_int_equal(vector_instruction_size(near, sizeof(near)), sizeof(near));
	for (size_t i = 0; i < sizeof(wide); i++)
		assert_int_equal(vector_instruction_size(wide, i), 0);
	assert_int_equal(vector_instruction_size((const uint8_t *)"\x48\x89\xe5\x90", 4), 0);
	/* pcmpistri xmm0, xmm1, 12; cmpccxadd [rdi], rax, rcx: they write general registers */
	assert_int_equal(vector_instruction_size((const uint8_t *)"\x66\x0f\x3a\x63\xc1\x0c\x90", 7), 0);
	assert_int_equal(vector_instruction_size((const uint8_t *)"\xc4\xe2\xf1\xe6\x07\x90", 6), 0);
}

int main(void)
{
	static uint8_t stack[64 << 10];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),	 cmocka_unit_test(test_file),	 cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_anything), cmocka_unit_test(test_vectors), cmocka_unit_test(test_far_copy),
	};

	/* Nothing may be written below the stack pointer of the code under test. */
	if (sigaltstack(&other, NULL))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 0;
}

#endif
