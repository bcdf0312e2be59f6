/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables: of hand-made instructions, and of this program and the C library. The test walks its own stack with
 * the tables and compares the result with that of the compiler's library.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#include <cmocka.h>

#include "lib/elf/call_frames.h"
#include "lib/elf/code_maps.h"
#include "lib/elf/frame_rules.h"
#include "tests/unit/elf_sample.h"

#define ROWS_MAX 16

struct rows {
	uint64_t address[ROWS_MAX];
	struct frame_rule rule[ROWS_MAX];
	size_t count;
};

static int take_row(void *context, uint64_t address, const struct frame_rule *rule)
{
	struct rows *rows = context;

	assert_true(rows->count < ROWS_MAX);
	rows->address[rows->count] = address;
	rows->rule[rows->count++] = *rule;
	return 0;
}

static const struct frame_machine X86 = { 7, 6, 16, true }, ARM = { 31, 29, 30, false };

static struct rows run(const struct frame_machine *machine, const uint8_t *first, size_t first_size,
		       const uint8_t *code, size_t size)
{
	const struct frame_common common = { .code_factor = machine->x86 ? 1 : 4,
					     .data_factor = -8,
					     .return_register = machine->back,
					     .instructions = { first, first + first_size } };
	const struct frame_entry entry = { 0x1000, 0x1040, { code, code + size } };
	struct rows rows = { .count = 0 };

	assert_int_equal(call_frames_run(machine, &common, &entry, take_row, &rows), 0);
	return rows;
}

static void expect(const struct rows *rows, size_t i, uint64_t address, struct frame_rule rule)
{
	assert_true(i < rows->count);
	assert_int_equal(rows->address[i], address);
	assert_memory_equal(&rows->rule[i], &rule, sizeof(rule));
}

/* def_cfa rsp + 8, return address at CFA - 8 */
static const uint8_t X86_FIRST[] = { 0x0c, 7, 8, 0x90, 1 };

static void test_x86(void **state)
{
	static const uint8_t code[] = {
		0x41, 0x0e, 16, 0x86, 2, /* push rbp */
		0x43, 0x0d, 6, /* mov rbp, rsp */
		0x0a, 0x44, 0x0c, 7, 8, 0xc6, /* leave */
		0x41, 0x0b, /* ret; restores the rules */
		0x02, 4, 0x07, 16, /* undefined: no caller */
	};
	struct rows rows = run(&X86, X86_FIRST, sizeof(X86_FIRST), code, sizeof(code));

	(void)state;
	assert_int_equal(rows.count, 6);
	expect(&rows, 0, 0x1000, (struct frame_rule){ FRAME_RULE_STACK, FRAME_POINTER_SAME, 0, -1, 0, 8 });
	expect(&rows, 1, 0x1001, (struct frame_rule){ FRAME_RULE_STACK, FRAME_POINTER_AT_CFA, -2, -1, 0, 16 });
	expect(&rows, 2, 0x1004, (struct frame_rule){ FRAME_RULE_FRAME, FRAME_POINTER_AT_CFA, -2, -1, 0, 16 });
	expect(&rows, 3, 0x1008, (struct frame_rule){ FRAME_RULE_STACK, FRAME_POINTER_SAME, 0, -1, 0, 8 });
	expect(&rows, 4, 0x1009, (struct frame_rule){ FRAME_RULE_FRAME, FRAME_POINTER_AT_CFA, -2, -1, 0, 16 });
	expect(&rows, 5, 0x100d, (struct frame_rule){ .kind = FRAME_RULE_FIRST });
}

static void test_expressions(void **state)
{
	static const uint8_t plt[] = { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 };
	/* An aligned stack: the CFA is the word at rbp - 8, rbp itself is saved at rbp + 0. */
	static const uint8_t aligned[] = { 0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78, 0x06 };
	static const uint8_t other[] = { 0x0f, 2, 0x7a, 0, 0x41, 0x0c, 10, 0 };
	struct rows rows = run(&X86, X86_FIRST, sizeof(X86_FIRST), plt, sizeof(plt));

	(void)state;
	expect(&rows, 0, 0x1000, (struct frame_rule){ FRAME_RULE_PLT, FRAME_POINTER_SAME, 0, -1, 0, 11 });
	rows = run(&X86, X86_FIRST, sizeof(X86_FIRST), aligned, sizeof(aligned));
	expect(&rows, 0, 0x1000, (struct frame_rule){ FRAME_RULE_FRAME_WORD, FRAME_POINTER_AT_FRAME, 0, -1, 0, -8 });
	/* Rules relative to an untracked register are unknown. */
	rows = run(&X86, X86_FIRST, sizeof(X86_FIRST), other, sizeof(other));
	assert_int_equal(rows.count, 1);
	expect(&rows, 0, 0x1000, (struct frame_rule){ .kind = FRAME_RULE_NONE });
}

static void test_arm(void **state)
{
	static const uint8_t first[] = { 0x0c, 31, 0 };
	static const uint8_t code[] = {
		0x2d, 0x41, /* paciasp */
		0x0e, 32, 0x9d, 4, 0x9e, 3, /* stp x29, x30, [sp, #-32]! */
		0x43, 0xdd, 0xde, 0x0e, 0, /* ldp x29, x30, [sp], #32 */
	};
	struct rows rows = run(&ARM, first, sizeof(first), code, sizeof(code));

	(void)state;
	assert_int_equal(rows.count, 3);
	expect(&rows, 0, 0x1000, (struct frame_rule){ FRAME_RULE_STACK, FRAME_POINTER_SAME, 0, 0, 0, 0 });
	expect(&rows, 1, 0x1004, (struct frame_rule){ FRAME_RULE_STACK, FRAME_POINTER_AT_CFA, -4, -3, 0, 32 });
	expect(&rows, 2, 0x1010, (struct frame_rule){ FRAME_RULE_STACK, FRAME_POINTER_SAME, 0, 0, 0, 0 });
}

/* Truncated instructions, and unknown ones. */
static void test_damaged(void **state)
{
	static const uint8_t unknown[] = { 0x41, 0x3e, 0x0e, 16 };
	uint8_t code[64];
	struct rows rows = run(&X86, X86_FIRST, sizeof(X86_FIRST), unknown, sizeof(unknown));

	(void)state;
	assert_int_equal(rows.count, 2);
	expect(&rows, 1, 0x1001, (struct frame_rule){ .kind = FRAME_RULE_NONE });
	srandom(1);
	for (int i = 0; i < 100000; i++) {
		for (size_t j = 0; j < sizeof(code); j++)
			code[j] = (uint8_t)random();
		/* Steps as long as the function yield few rows. */
		code[0] = 0x02;
		code[1] = 0x30;
		run(&X86, X86_FIRST, sizeof(X86_FIRST), code, 2 + (size_t)random() % (ROWS_MAX - 2));
	}
}

static struct elf_file *open_map(const struct process_map *map)
{
	char error[256];

	return elf_file_open(map->path, error, sizeof(error));
}

/* The rule at one address. */
struct wanted {
	uint64_t address, last;
	struct frame_rule rule;
};

static int take_wanted(void *context, uint64_t address, const struct frame_rule *rule)
{
	struct wanted *w = context;

	assert_true(!w->last || address > w->last);
	w->last = address;
	if (address <= w->address)
		w->rule = *rule;
	return 0;
}

static struct frame_rule rule_at(const struct code_maps *maps, uint64_t address)
{
	const struct code_map *map = code_maps_find(maps, address);
	struct wanted w = { 0 };
	struct elf_file *file;
	uint64_t bias;

	assert_non_null(map);
	file = open_map(&map->map);
	assert_non_null(file);
	assert_int_equal(elf_file_bias(file, map->map.start, map->map.end, map->map.offset, &bias), 0);
	w.address = address - bias;
	assert_int_equal(frame_rules_read(file, take_wanted, &w), 0);
	elf_file_close(file);
	return w.rule;
}

struct registers {
	uint64_t address, stack, frame, link;
};

static uint64_t word_at(uint64_t address)
{
	uint64_t word;

	memcpy(&word, (const void *)address, sizeof(word));
	return word;
}

static bool step(struct registers *r, const struct frame_rule *rule)
{
	uint64_t cfa = (rule->kind == FRAME_RULE_STACK ? r->stack : r->frame) + (uint64_t)(int64_t)rule->cfa;

	if (rule->kind == FRAME_RULE_FIRST)
		return false;
	if (rule->kind == FRAME_RULE_FRAME_WORD)
		cfa = word_at(cfa);
	else
		assert_true(rule->kind == FRAME_RULE_STACK || rule->kind == FRAME_RULE_FRAME);
	if (rule->pointer_kind != FRAME_POINTER_SAME)
		r->frame = word_at((rule->pointer_kind == FRAME_POINTER_AT_CFA ? cfa : r->frame) +
				   (uint64_t)(rule->pointer * 8ll));
	r->address = rule->back ? word_at(cfa + (uint64_t)(rule->back * 8ll)) : r->link;
	r->stack = cfa;
	return true;
}

#define DEPTH_MAX 64

struct trace {
	uint64_t address[DEPTH_MAX];
	int count;
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *data)
{
	struct trace *trace = data;

	if (trace->count < DEPTH_MAX)
		trace->address[trace->count++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static __attribute__((noinline)) void check_own_stack(void)
{
	struct code_maps maps;
	struct registers r;
	struct trace known = { .count = 0 };
	ucontext_t context;

	assert_int_equal(code_maps_read(getpid(), &maps), 0);
	assert_int_equal(getcontext(&context), 0);
#if defined(__x86_64__)
	r = (struct registers){ (uint64_t)context.uc_mcontext.gregs[REG_RIP],
				(uint64_t)context.uc_mcontext.gregs[REG_RSP],
				(uint64_t)context.uc_mcontext.gregs[REG_RBP], 0 };
#else
	r = (struct registers){ context.uc_mcontext.pc, context.uc_mcontext.sp, context.uc_mcontext.regs[29],
				context.uc_mcontext.regs[30] };
#endif
	_Unwind_Backtrace(take_frame, &known);
	assert_true(known.count > 3 && known.count < DEPTH_MAX);
	/* Above a thread's first function there is a frame with address 0. */
	if (!known.address[known.count - 1])
		known.count--;
	for (int i = 1; i < known.count; i++) {
		struct frame_rule rule = rule_at(&maps, r.address - (i > 1));

		assert_true(step(&r, &rule));
		assert_int_equal(r.address, known.address[i]);
	}
	assert_int_equal(rule_at(&maps, r.address - 1).kind, FRAME_RULE_FIRST);
	code_maps_free(&maps);
}

static int in_a_comparison(const void *a, const void *b)
{
	static bool done;
	volatile char room[300];

	(void)a;
	(void)b;
	room[299] = 1;
	if (!done)
		check_own_stack();
	done = true;
	return room[299] - 1;
}

static void test_own_stack(void **state)
{
	int numbers[] = { 2, 1 };

	(void)state;
	qsort(numbers, 2, sizeof(numbers[0]), in_a_comparison);
}

static int count_rows(void *context, uint64_t address, const struct frame_rule *rule)
{
	(void)address;
	(void)rule;
	return ++*(uint64_t *)context > 1u << 20 ? -E2BIG : 0;
}

/* A file whose bytes were changed: the rules may be wrong, but nothing outside of the file is read. */
static void test_damaged_files(void **state)
{
	static uint8_t bytes[256 << 10];
	FILE *file = fopen("/proc/self/exe", "re");
	size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	struct elf_file *elf;
	char error[256];
	uint64_t rows;

	(void)state;
	assert_true(size > 4096);
	fclose(file);
	srandom(2);
	for (int i = 0; i < 300; i++) {
		int fd = elf_sample_file(bytes, size);

		for (int j = 0; j < 64; j++) {
			uint8_t byte = (uint8_t)random();

			assert_int_equal(pwrite(fd, &byte, 1, 4096 + random() % (long)(size - 4096)), 1);
		}
		elf = elf_file_open_fd(fd, "damaged", error, sizeof(error));
		rows = 0;
		if (elf)
			frame_rules_read(elf, count_rows, &rows);
		elf_file_close(elf);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_own_stack),
		cmocka_unit_test(test_damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
