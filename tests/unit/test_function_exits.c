/* SPDX-License-Identifier: Apache-2.0 */
/* Exits of functions: of hand-assembled functions, and of all functions of this program and the C library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/elf/elf_addresses.h"
#include "lib/elf/elf_extent.h"
#include "lib/elf/function_exits.h"

#define BASE 0x1000
#define PUSH_RBP 0x55
#define POP_RBP 0x5d
#define RET 0xc3
#define NOP 0x90
#define ENDBR64 0xf3, 0x0f, 0x1e, 0xfa
#define JMP(to) 0xeb, (uint8_t)(to)
#define JE(to) 0x74, (uint8_t)(to)
#define TEST_RDI 0x48, 0x85, 0xff

/* Code at BASE, and its pieces, as unwind tables would have them. */
struct scene {
	const uint8_t *code;
	size_t size;
	uint64_t pieces[4][2]; /* start and end, relative to BASE */
};

static size_t read_scene(void *context, uint64_t address, void *buffer, size_t size)
{
	const struct scene *s = context;
	uint64_t at = address - BASE;

	if (at >= s->size)
		return 0;
	if (size > s->size - at)
		size = s->size - at;
	memcpy(buffer, s->code + at, size);
	return size;
}

static int scene_extent(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct scene *s = context;

	for (int i = 0; i < 4; i++)
		if (address - BASE >= s->pieces[i][0] && address - BASE < s->pieces[i][1]) {
			*start = BASE + s->pieces[i][0];
			*end = BASE + s->pieces[i][1];
			return 0;
		}
	return -1;
}

static struct function_exits find(struct scene *scene, enum elf_file_machine machine, uint64_t size)
{
	struct code_source source = { read_scene, scene_extent, scene };
	struct exit_finder *finder = exit_finder_new(machine, &source);
	struct function_exits found;

	assert_non_null(finder);
	assert_int_equal(exit_finder_find(finder, BASE, size, &found), 0);
	exit_finder_free(finder);
	return found;
}

static struct function_exits find_x86(const uint8_t *code, size_t size)
{
	struct scene scene = { .code = code, .size = size };

	return find(&scene, ELF_FILE_X86_64, size);
}

#define EXPECT_DOUBT(why, ...)                                                \
	do {                                                                  \
		const uint8_t code[] = { __VA_ARGS__ };                       \
		struct function_exits found = find_x86(code, sizeof(code));   \
		assert_string_equal(exit_doubt_text(found.doubt), exit_doubt_text(why)); \
		assert_int_equal(found.count, 0);                             \
	} while (0)

static void expect_exit(const struct function_exits *found, size_t index, uint64_t at,
			enum exit_kind kind)
{
	assert_true(index < found->count);
	assert_int_equal(found->exits[index].address, BASE + at);
	assert_int_equal(found->exits[index].kind, kind);
}

static void all_returns(void **state)
{
	const uint8_t code[] = { ENDBR64, TEST_RDI, JE(3), PUSH_RBP, POP_RBP, RET, 0xf3, RET,
				 0xc2, 8, 0 };
	struct function_exits found = find_x86(code, sizeof(code));

	assert_int_equal(found.doubt, EXITS_CLEAN);
	assert_int_equal(found.count, 3);
	expect_exit(&found, 0, 11, EXIT_RETURN);
	expect_exit(&found, 1, 12, EXIT_RETURN); /* with the prefix of some old processors */
	expect_exit(&found, 2, 14, EXIT_RETURN);
	assert_true(found.exits[0].plain && found.exits[1].plain && !found.exits[2].plain);
	assert_true(found.exits[0].stepped);
	function_exits_free(&found);
}

static void what_is_not_clean(void **state)
{
	EXPECT_DOUBT(EXITS_NONE, PUSH_RBP, 0x0f, 0x0b);
	EXPECT_DOUBT(EXITS_CODE, PUSH_RBP, 0x06, RET); /* no instruction of 64-bit code */
	EXPECT_DOUBT(EXITS_CODE, TEST_RDI, JE(2), RET, NOP, 0x06, RET); /* the jump target is behind a return */
	EXPECT_DOUBT(EXITS_CODE, JMP(1), 0x48, 0x85, 0xff, RET); /* into the middle of an instruction */
	EXPECT_DOUBT(EXITS_CODE, NOP, 0x48); /* the last instruction is truncated */
	EXPECT_DOUBT(EXITS_FORM, 0xcb); /* to another segment */
	EXPECT_DOUBT(EXITS_FORM, 0x64, 0xff, 0x20); /* jmp *%fs:(%rax) */
	EXPECT_DOUBT(EXITS_OUTSIDE, TEST_RDI, JE(0x40), RET);
	EXPECT_DOUBT(EXITS_OUTSIDE, 0xe9, 0x00, 0x10, 0x00, 0x00);
}

/* Data in the code that looks like a return is not an exit. */
static void data_behind_the_code(void **state)
{
	const uint8_t code[] = { TEST_RDI, JE(1), RET, RET, 0x61, 'm', RET, 0x06 };
	struct function_exits found = find_x86(code, sizeof(code));

	assert_int_equal(found.doubt, EXITS_CLEAN);
	assert_int_equal(found.count, 2);
	expect_exit(&found, 0, 5, EXIT_RETURN);
	expect_exit(&found, 1, 6, EXIT_RETURN);
	function_exits_free(&found);
}

static void parts_and_tail_calls(void **state)
{
	/* A function of 10 bytes, its cold part at 16, and its continuation at 32. */
	static const uint8_t code[48] = { TEST_RDI, JE(11), JMP(25), NOP, NOP, RET,
					  [16] = PUSH_RBP, POP_RBP, RET, [32] = NOP, RET };
	struct scene scene = { code, sizeof(code), { { 0, 10 }, { 16, 19 }, { 32, 34 } } };
	struct function_exits found = find(&scene, ELF_FILE_X86_64, 10);

	assert_int_equal(found.doubt, EXITS_CLEAN);
	assert_int_equal(found.count, 4);
	expect_exit(&found, 0, 5, EXIT_JUMP);
	assert_false(found.exits[0].stepped);
	expect_exit(&found, 1, 9, EXIT_RETURN);
	expect_exit(&found, 2, 18, EXIT_RETURN);
	expect_exit(&found, 3, 33, EXIT_RETURN);
	function_exits_free(&found);
	/* The unwind tables give the size if no symbol does. */
	found = find(&scene, ELF_FILE_X86_64, 0);
	assert_int_equal(found.count, 4);
	function_exits_free(&found);
}

/* A table that one piece loads from gives no information about a jump in the next piece. */
static void pieces_apart(void **state)
{
	static const uint8_t code[20] = { 0x48, 0x63, 0x00, /* movslq (%rax),%rax */
					  JMP(11), [16] = 0xff, 0xe0 /* jmp *%rax */ };
	struct scene scene = { code, sizeof(code), { { 0, 5 }, { 16, 18 } } };
	struct function_exits found = find(&scene, ELF_FILE_X86_64, 5);

	assert_int_equal(found.count, 2);
	expect_exit(&found, 0, 3, EXIT_JUMP);
	expect_exit(&found, 1, 16, EXIT_JUMP_INDIRECT);
	function_exits_free(&found);
}

/* Overlapping pieces, which no compiler makes: an exit in both would be probed twice. */
static void pieces_that_overlap(void **state)
{
	static const uint8_t code[20] = { JE(6), NOP, RET, [8] = RET };
	struct scene scene = { code, sizeof(code), { { 2, 9 } } };
	struct function_exits found = find(&scene, ELF_FILE_X86_64, 4);

	assert_int_equal(found.doubt, EXITS_CODE);
	assert_int_equal(found.count, 0);
}

#define COMPARE(operation) 0x64, 0x48, operation, 0x04, 0x25, 0x28, 0, 0, 0 /* xor, sub, cmp %fs:0x28, %rax */
#define XOR 0x33
#define SUB 0x2b
#define CMP 0x3b
#define JNE(to) 0x75, (uint8_t)(to)
#define JNE_FAR(to) 0x0f, 0x85, (uint8_t)(to), 0, 0, 0
#define ADD_RSP(bytes) 0x48, 0x83, 0xc4, (uint8_t)(bytes)
#define ADD_RSP_FAR(bytes) 0x48, 0x81, 0xc4, (uint8_t)(bytes), (uint8_t)((bytes) >> 8), 0, 0
#define SUB_RSP(bytes) 0x48, 0x83, 0xec, (uint8_t)(bytes)
#define LOAD_RDI 0x48, 0x8b, 0xbf, 0xc0, 0, 0, 0 /* mov 0xc0(%rdi), %rdi */
#define POP_RBX 0x5b
#define POP_R12 0x41, 0x5c
#define POP_RSP 0x5c
#define MOV_RAX_R12 0x4c, 0x89, 0xe0
#define LOAD_RAX 0x48, 0x8b, 0x44, 0x24, 0x40 /* mov 0x40(%rsp), %rax */
#define LEA_RSP 0x48, 0x8d, 0x65, 0xf0 /* lea -0x10(%rbp), %rsp */
#define JMP_RAX 0xff, 0xe0
#define UD2 0x0f, 0x0b

/*
 * Checks the only exit of @code: the earlier instruction that is probed instead lies @before bytes before it, and its
 * stack pointer is @below bytes lower.
 */
static void expect_early(const uint8_t *code, size_t size, uint64_t before, uint32_t below, bool sets_value)
{
	struct function_exits found = find_x86(code, size);
	struct function_exit exit;

	assert_int_equal(found.doubt, EXITS_CLEAN);
	assert_int_equal(found.count, 1);
	exit = found.exits[0];
	assert_int_equal(exit.below, 0);
	function_exits_early(&found);
	assert_int_equal(found.exits[0].is_early, before != 0);
	if (before) {
		assert_int_equal(exit.early_sets_value, sets_value);
		assert_int_equal(exit.address - found.exits[0].address, before);
		assert_int_equal(exit.offset - found.exits[0].offset, before);
		assert_int_equal(found.exits[0].below, below);
		assert_false(found.exits[0].stepped || found.exits[0].plain);
	} else {
		assert_int_equal(found.exits[0].address, exit.address);
		assert_int_equal(found.exits[0].below, 0);
	}
	function_exits_free(&found);
}

#define EXPECT_EARLY(before, below, sets_value, ...)                             \
	do {                                                                     \
		const uint8_t code[] = { __VA_ARGS__ };                          \
		expect_early(code, sizeof(code), before, below, sets_value);     \
	} while (0)

static void before_returns_of_guarded_functions(void **state)
{
	EXPECT_EARLY(7, 0x30, false, PUSH_RBP, COMPARE(SUB), JNE(6), ADD_RSP(0x28), POP_RBX, RET, UD2);
	EXPECT_EARLY(12, 0x38, true, COMPARE(XOR), JNE(11), ADD_RSP(0x28), MOV_RAX_R12, POP_RBX, POP_R12, RET, UD2);
	EXPECT_EARLY(21, 0x248, true, COMPARE(CMP), JNE_FAR(16), LOAD_RAX, ADD_RSP_FAR(0x238), POP_RBX, POP_R12, RET, UD2);
	EXPECT_EARLY(7, 0x88, false, COMPARE(XOR), JNE(6), SUB_RSP(-128), POP_RBX, RET, UD2);
	/* Another register is loaded between the comparison and the jump. */
	EXPECT_EARLY(6, 0x28, false, COMPARE(XOR), LOAD_RDI, JNE(5), ADD_RSP(0x28), RET, UD2);
}

static void what_is_not_certain_is_no_place_before(void **state)
{
	/* Another comparison, another jump, an instruction between the two, or after them. */
	EXPECT_EARLY(0, 0, false, TEST_RDI, JNE(5), ADD_RSP(0x28), RET, UD2);
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), JE(5), ADD_RSP(0x28), RET, UD2);
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), NOP, JNE(5), ADD_RSP(0x28), RET, UD2);
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), JNE(6), ADD_RSP(0x28), NOP, RET, UD2);
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), JNE(9), LEA_RSP, ADD_RSP(8), RET, UD2);
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), JNE(6), ADD_RSP(8), POP_RSP, RET, UD2);
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), JNE(5), ADD_RSP(-8), RET, UD2);
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), JNE(5), ADD_RSP(4), RET, UD2);
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), JNE(5), SUB_RSP(8), RET, UD2);
	EXPECT_EARLY(0, 0, false, LOAD_RDI, JNE(5), ADD_RSP(8), RET, UD2);
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), TEST_RDI, JNE(5), ADD_RSP(8), RET, UD2);
	/* A return that also removes arguments from the stack is no plain return. */
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), JNE(7), ADD_RSP(8), 0xc2, 8, 0, UD2);
	/* Other code jumps into the sequence: back to the pop. */
	EXPECT_EARLY(0, 0, false, COMPARE(SUB), JNE(8), ADD_RSP(8), POP_RBX, RET, JE(-4), UD2);
	/* A jump to the probed instruction itself is allowed. */
	EXPECT_EARLY(7, 0x10, false, COMPARE(SUB), JNE(8), ADD_RSP(8), POP_RBX, RET, JE(-10), UD2);
}

static void before_jumps_by_register(void **state)
{
	EXPECT_EARLY(6, 0x18, false, COMPARE(XOR), JNE(6), ADD_RSP(0x18), JMP_RAX, UD2);
	/* The register is set in between. */
	EXPECT_EARLY(0, 0, false, COMPARE(XOR), JNE(11), LOAD_RAX, ADD_RSP(0x18), JMP_RAX, UD2);
}

/*
 * Checks an indirect jump whose register is loaded earlier: where the register is loaded from; without @loads:
 * unknown.
 */
static void expect_loads(const uint8_t *code, size_t size, uint8_t loads, uint8_t base, int32_t outer, int32_t inner)
{
	struct function_exits found = find_x86(code, size);
	struct function_exit *exit = found.exits;

	assert_int_equal(found.count, 1);
	assert_int_equal(exit->kind, EXIT_JUMP_INDIRECT);
	assert_int_equal(exit->early != 0, loads != 0);
	if (loads) {
		function_exits_early(&found);
		assert_int_equal(exit->loads, loads);
		assert_int_equal(exit->base, base);
		assert_int_equal(exit->index, EXIT_REGISTER_NONE);
		assert_int_equal(exit->displacement, outer);
		assert_int_equal(exit->inner, inner);
	}
	function_exits_free(&found);
}

#define EXPECT_LOADS(loads, base, outer, inner, ...)                                        \
	do {                                                                                \
		const uint8_t code[] = { COMPARE(XOR), JNE(-11), __VA_ARGS__ };               \
		expect_loads(code, sizeof(code), loads, base, outer, inner);                \
	} while (0)

#define RDI 7
#define R13 13
#define RDI_TO_RAX 0x48, 0x8b, 0x07 /* mov (%rdi), %rax */
#define RDI_TO_RDI 0x48, 0x8b, 0x3f
#define R13_TO_RAX(at) 0x49, 0x8b, 0x45, (uint8_t)(at)
#define RAX_TO_RAX_FAR(at) 0x48, 0x8b, 0x80, (at) & 0xff, (at) >> 8 & 0xff, 0, 0
#define RDI_TO_RAX_AT(at) 0x48, 0x8b, 0x47, (uint8_t)(at)
#define JMP_AT_RAX(at) 0xff, 0x60, (uint8_t)(at) /* jmp *at(%rax) */
#define POP_RDI 0x5f
#define LOAD_RIP 0x48, 0x8b, 0x05, 0, 1, 0, 0 /* mov 0x100(%rip), %rax */
#define LOAD_EAX 0x8b, 0x07 /* mov (%rdi), %eax */

static void before_jumps_to_what_is_loaded(void **state)
{
	EXPECT_LOADS(1, RDI, 0, 0, RDI_TO_RAX, ADD_RSP(0x18), JMP_RAX);
	EXPECT_LOADS(1, R13, -8, 0, R13_TO_RAX(-8), ADD_RSP(0x18), JMP_RAX);
	EXPECT_LOADS(2, RDI, 0, 0x1c0, RDI_TO_RAX, RAX_TO_RAX_FAR(0x1c0), ADD_RSP(0x18), JMP_RAX);
	EXPECT_LOADS(2, RDI, 8, 0x10, RDI_TO_RAX_AT(8), ADD_RSP(0x18), JMP_AT_RAX(0x10));
	/* The register is loaded through itself. */
	EXPECT_LOADS(2, RDI, 0, 8, RDI_TO_RDI, RDI_TO_RAX_AT(8), JMP_RAX);
	/* A second load; the base is set before; the register after it; not a whole address, or not from a register */
	EXPECT_LOADS(0, 0, 0, 0, RDI_TO_RAX, RAX_TO_RAX_FAR(8), RAX_TO_RAX_FAR(8), JMP_RAX);
	EXPECT_LOADS(0, 0, 0, 0, RDI_TO_RAX, RAX_TO_RAX_FAR(8), JMP_AT_RAX(8));
	EXPECT_LOADS(0, 0, 0, 0, POP_RDI, RDI_TO_RAX, JMP_RAX);
	EXPECT_LOADS(0, 0, 0, 0, RDI_TO_RAX, MOV_RAX_R12, JMP_RAX);
	EXPECT_LOADS(0, 0, 0, 0, MOV_RAX_R12, JMP_AT_RAX(8));
	EXPECT_LOADS(0, 0, 0, 0, LOAD_EAX, JMP_RAX);
	EXPECT_LOADS(0, 0, 0, 0, LOAD_RIP, JMP_RAX);
	EXPECT_LOADS(0, 0, 0, 0, LOAD_RAX, JMP_RAX);
}

/* A piece that was split off jumps back to the pop. */
static void entered_from_another_piece(void **state)
{
	const uint8_t code[] = { JE(19), COMPARE(SUB), JNE(6), ADD_RSP(8), POP_RBX, RET, UD2, JMP(-6) };
	struct scene scene = { .code = code, .size = sizeof(code), .pieces = { { 0, 21 }, { 21, 23 } } };
	struct function_exits found = find(&scene, ELF_FILE_X86_64, 21);

	assert_int_equal(found.doubt, EXITS_CLEAN);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.exits[0].early, 0);
	function_exits_free(&found);
}

static void jumps_by_register_and_memory(void **state)
{
	const uint8_t code[] = {
		0xff, 0xe0, /* jmp *%rax */
		0x41, 0xff, 0x64, 0xdc, 0x10, /* jmp *0x10(%r12,%rbx,8) */
		0xff, 0x25, 0x00, 0x01, 0x00, 0x00, /* jmp *0x100(%rip) */
		0x3e, 0xff, 0xe1, /* notrack jmp *%rcx: from a table */
	};
	struct function_exits found = find_x86(code, sizeof(code));
	const struct function_exit *e = found.exits;

	assert_int_equal(found.count, 3);
	expect_exit(&found, 0, 0, EXIT_JUMP_INDIRECT);
	assert_int_equal(e[0].base, 0);
	assert_int_equal(e[0].index, EXIT_REGISTER_NONE);
	assert_int_equal(e[0].loads, 0);
	assert_int_equal(e[0].own_start, BASE);
	assert_int_equal(e[0].own_end, BASE + sizeof(code));
	assert_int_equal(e[1].base, 12);
	assert_int_equal(e[1].index, 3);
	assert_int_equal(e[1].scale, 8);
	assert_int_equal(e[1].displacement, 0x10);
	assert_int_equal(e[1].loads, 1);
	assert_int_equal(e[2].base, EXIT_REGISTER_IP);
	assert_int_equal(e[2].displacement, 0x106); /* relative to the instruction's first byte */
	function_exits_free(&found);
}

/* A jump through the linkage table: the place in memory is that of the table's entry. */
static void jumps_to_a_linkage_table(void **state)
{
	static const uint8_t code[40] = { JMP(14), RET, [16] = ENDBR64, 0xff, 0x25, 0x20, 0, 0, 0 };
	struct scene scene = { code, sizeof(code), { { 0, 3 }, { 16, 40 } } };
	struct function_exits found = find(&scene, ELF_FILE_X86_64, 3);

	assert_int_equal(found.count, 2);
	expect_exit(&found, 0, 0, EXIT_JUMP_INDIRECT);
	assert_int_equal(found.exits[0].base, EXIT_REGISTER_IP);
	assert_int_equal(found.exits[0].displacement, 16 + 4 + 6 + 0x20);
	assert_false(found.exits[0].stepped); /* the jump itself is direct */
	function_exits_free(&found);
}

static void on_aarch64(void **state)
{
	static const uint32_t code[] = {
		0xb4000060, /* cbz x0, +12 */
		0xd61f0200, /* br x16 */
		0xd65f03c0, /* ret */
		0xd65f03c0, /* ret */
	};
	static const uint32_t signs[] = { 0xd65f0bff }; /* retaa */
	static const uint32_t reads[] = { 0x58000040, 0xd65f03c0, 0xd65f03c0 }; /* ldr x0, +8: the last is data */
	struct scene scene = { (const uint8_t *)code, sizeof(code), { { 0 } } };
	struct function_exits found = find(&scene, ELF_FILE_AARCH64, sizeof(code));

	assert_int_equal(found.count, 3);
	expect_exit(&found, 0, 4, EXIT_JUMP_INDIRECT);
	assert_int_equal(found.exits[0].base, 16);
	expect_exit(&found, 1, 8, EXIT_RETURN);
	assert_false(found.exits[1].stepped);
	function_exits_free(&found);
	scene = (struct scene){ (const uint8_t *)signs, sizeof(signs), { { 0 } } };
	assert_int_equal(find(&scene, ELF_FILE_AARCH64, sizeof(signs)).doubt, EXITS_FORM);
	scene = (struct scene){ (const uint8_t *)reads, sizeof(reads), { { 0 } } };
	assert_int_equal(find(&scene, ELF_FILE_AARCH64, sizeof(reads)).doubt, EXITS_CODE);
	scene.size = 4;
	assert_int_equal(find(&scene, ELF_FILE_OTHER, 4).doubt, EXITS_MACHINE);
}

static void *any(void *context, const char *name, size_t length)
{
	return context;
}

/* Real code: nearly all of it is understood, and every exit lies within a function's code. */
static void of_a_file(const char *path, size_t at_least)
{
	struct elf_symbols symbols = { 0 };
	size_t functions = 0, clean = 0;
	struct code_source source;
	struct exit_finder *finder;
	struct elf_file *elf;
	char error[512];

	elf = elf_file_open(path, error, sizeof(error));
	assert_non_null(elf);
	source = elf_code_source(elf);
	finder = exit_finder_new(elf_file_machine(elf), &source);
	assert_non_null(finder);
	assert_int_equal(elf_file_find(elf, any, &symbols, &symbols), 0);
	for (size_t i = 0; i < symbols.count; i++) {
		const struct elf_symbol *s = &symbols.symbol[i];
		struct function_exits found;
		uint64_t address, offset;

		if (s->flags & ELF_SYMBOL_IFUNC || !elf_file_address(elf, s->offset, &address))
			continue;
		assert_int_equal(exit_finder_find(finder, address, s->size, &found), 0);
		functions++;
		clean += found.doubt == EXITS_CLEAN || found.doubt == EXITS_NONE;
		for (size_t k = 0; k < found.count; k++)
			assert_true(elf_file_code_offset(elf, found.exits[k].address, &offset));
		function_exits_free(&found);
	}
	assert_true(functions > at_least);
	assert_true(clean * 100 >= functions * 90);
	elf_symbols_free(&symbols);
	exit_finder_free(finder);
	elf_file_close(elf);
}

static void of_this_program(void **state)
{
	of_a_file("/proc/self/exe", 20);
}


/* The unwind tables give the begin and end of a function of this program. */
static void extent_of_a_function(void **state)
{
	struct elf_symbols symbols = { 0 };
	char error[512];
	struct elf_file *elf = elf_file_open("/proc/self/exe", error, sizeof(error));
	size_t agreed = 0;

	assert_non_null(elf);
	assert_int_equal(elf_file_find(elf, any, &symbols, &symbols), 0);
	for (size_t i = 0; i < symbols.count; i++) {
		const struct elf_symbol *s = &symbols.symbol[i];
		uint64_t start, end;

		if (elf_file_extent(elf, s->address + s->size / 2, &start, &end))
			continue;
		assert_true(start <= s->address + s->size / 2 && s->address + s->size / 2 < end);
		agreed += start == s->address && end == s->address + s->size;
	}
	assert_true(agreed > symbols.count / 2);
	elf_symbols_free(&symbols);
	elf_file_close(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_returns),
		cmocka_unit_test(what_is_not_clean),
		cmocka_unit_test(data_behind_the_code),
		cmocka_unit_test(parts_and_tail_calls),
		cmocka_unit_test(pieces_apart),
		cmocka_unit_test(pieces_that_overlap),
		cmocka_unit_test(before_returns_of_guarded_functions),
		cmocka_unit_test(what_is_not_certain_is_no_place_before),
		cmocka_unit_test(before_jumps_by_register),
		cmocka_unit_test(before_jumps_to_what_is_loaded),
		cmocka_unit_test(entered_from_another_piece),
		cmocka_unit_test(jumps_by_register_and_memory),
		cmocka_unit_test(jumps_to_a_linkage_table),
		cmocka_unit_test(on_aarch64),
		cmocka_unit_test(of_this_program),
		cmocka_unit_test(extent_of_a_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
