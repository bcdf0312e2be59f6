/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No function that runs in a uprobe program uses more stack than newer kernels leave on the kernel's own stack
 * (reason: bpf/api.bpf.c). The test reads the instructions of the built object, as the kernel does.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <gelf.h>
#include <libelf.h>
#include <linux/bpf.h>

#define STACK_MAX 48
#define FUNCTIONS_MAX 512
#define CALLS_MAX 64
#define FRAME_POINTER 10

struct function {
	const char *name;
	size_t section;
	size_t first; /* its first instruction in the section */
	size_t count;
	bool uprobe; /* a uprobe program, or a function that such a program calls */
	int stack;
	size_t calls[CALLS_MAX]; /* called instructions in .text */
	size_t call_count;
};

struct object {
	int fd;
	Elf *elf;
	size_t text; /* index of section .text */
	struct function functions[FUNCTIONS_MAX];
	size_t count;
};

static Elf_Scn *section_with(struct object *o, size_t info, const char *prefix)
{
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Shdr header;

	assert_int_equal(elf_getshdrstrndx(o->elf, &names), 0);
	while ((section = elf_nextscn(o->elf, section))) {
		const char *name;

		assert_non_null(gelf_getshdr(section, &header));
		name = elf_strptr(o->elf, names, header.sh_name);
		if (info ? header.sh_type == SHT_REL && header.sh_info == info
			 : name && !strcmp(name, prefix))
			return section;
	}
	return NULL;
}

static const char *section_name(struct object *o, size_t index)
{
	Elf_Scn *section = elf_getscn(o->elf, index);
	GElf_Shdr header;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(o->elf, &names), 0);
	assert_non_null(section);
	assert_non_null(gelf_getshdr(section, &header));
	return elf_strptr(o->elf, names, header.sh_name);
}

/* Returns the lowest byte below the frame pointer that is accessed, by @insn or through a copy of the pointer. */
static int stack_of(const struct bpf_insn *insn, size_t count)
{
	bool copy[16] = { [FRAME_POINTER] = true };
	int lowest = 0;

	for (size_t i = 0; i < count; i++, insn++) {
		int class = BPF_CLASS(insn->code), offset = 0;
		bool wide = insn->code == (BPF_LD | BPF_IMM | BPF_DW);

		if (class == BPF_LDX && copy[insn->src_reg])
			offset = insn->off;
		else if ((class == BPF_STX || class == BPF_ST) && copy[insn->dst_reg])
			offset = insn->off;
		else if (insn->code == (BPF_ALU64 | BPF_ADD | BPF_K) && copy[insn->dst_reg])
			offset = insn->imm;
		lowest = offset < lowest ? offset : lowest;
		if (insn->code == (BPF_ALU64 | BPF_MOV | BPF_X) && insn->dst_reg != FRAME_POINTER)
			copy[insn->dst_reg] = insn->src_reg == FRAME_POINTER;
		else if ((class == BPF_ALU64 || class == BPF_ALU || class == BPF_LDX || wide) &&
			 insn->dst_reg != FRAME_POINTER)
			copy[insn->dst_reg] = false;
		if (wide) {
			i++;
			insn++;
		}
	}
	return -lowest;
}

/* Finds the symbol that an instruction of a section is relocated to; returns false if there is none. */
static bool relocated(struct object *o, size_t section, size_t instruction, GElf_Sym *symbol)
{
	Elf_Scn *relocations = section_with(o, section, NULL);
	Elf_Scn *table = section_with(o, 0, ".symtab");
	Elf_Data *data = relocations ? elf_getdata(relocations, NULL) : NULL;
	GElf_Rel rel;

	for (int i = 0; data && gelf_getrel(data, i, &rel); i++)
		if (rel.r_offset == instruction * sizeof(struct bpf_insn))
			return gelf_getsym(elf_getdata(table, NULL), GELF_R_SYM(rel.r_info),
					   symbol) != NULL;
	return false;
}

/* Records the targets of calls: the compiler writes a distance in .text, a relocation elsewhere. */
static void note_calls(struct object *o, struct function *f, const struct bpf_insn *insn)
{
	for (size_t i = 0; i < f->count; i++) {
		size_t target = f->first + i + 1 + insn[i].imm;
		GElf_Sym symbol;

		if (insn[i].code != (BPF_JMP | BPF_CALL) || insn[i].src_reg != BPF_PSEUDO_CALL)
			continue;
		if (relocated(o, f->section, f->first + i, &symbol)) {
			if (symbol.st_shndx != o->text)
				continue; /* a kernel function */
			target = symbol.st_value / sizeof(*insn);
			if (GELF_ST_TYPE(symbol.st_info) == STT_SECTION)
				target += insn[i].imm + 1;
		}
		assert_true(f->call_count < CALLS_MAX);
		f->calls[f->call_count++] = target;
	}
}

static void add_function(struct object *o, const GElf_Sym *symbol, const char *name)
{
	Elf_Data *data = elf_getdata(elf_getscn(o->elf, symbol->st_shndx), NULL);
	const char *section = section_name(o, symbol->st_shndx);
	const struct bpf_insn *insn;
	struct function *f = &o->functions[o->count++];

	assert_true(o->count < FUNCTIONS_MAX);
	assert_non_null(data);
	assert_true(symbol->st_value + symbol->st_size <= data->d_size);
	insn = (const struct bpf_insn *)((const char *)data->d_buf + symbol->st_value);
	f->name = name;
	f->section = symbol->st_shndx;
	f->first = symbol->st_value / sizeof(*insn);
	f->count = symbol->st_size / sizeof(*insn);
	f->stack = stack_of(insn, f->count);
	f->uprobe = !strncmp(section, "uprobe", 6) || !strncmp(section, "uretprobe", 9) ||
		    !strncmp(section, "usdt", 4);
	note_calls(o, f, insn);
}

static int setup(void **state)
{
	const char *build = getenv("BUILD");
	struct object *o = calloc(1, sizeof(*o));
	Elf_Scn *table;
	GElf_Shdr header;
	GElf_Sym symbol;
	char path[256];

	snprintf(path, sizeof(path), "%s/bpf/profbpf.o", build ? build : "build");
	o->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (o->fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		fail_msg("%s: %s", path, strerror(errno));
	o->elf = elf_begin(o->fd, ELF_C_READ, NULL);
	assert_non_null(o->elf);
	o->text = elf_ndxscn(section_with(o, 0, ".text"));
	table = section_with(o, 0, ".symtab");
	assert_non_null(table);
	gelf_getshdr(table, &header);
	for (int i = 0; gelf_getsym(elf_getdata(table, NULL), i, &symbol); i++)
		if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
			add_function(o, &symbol,
				     elf_strptr(o->elf, header.sh_link, symbol.st_name));
	*state = o;
	return 0;
}

static int teardown(void **state)
{
	struct object *o = *state;

	elf_end(o->elf);
	close(o->fd);
	free(o);
	return 0;
}

static struct function *function_at(struct object *o, size_t instruction)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->functions[i].section == o->text && o->functions[i].first == instruction)
			return &o->functions[i];
	return NULL;
}

/* A function that a uprobe program calls also runs in a uprobe. */
static void follow_calls(struct object *o)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < o->count; i++) {
			struct function *f = &o->functions[i];

			for (size_t c = 0; f->uprobe && c < f->call_count; c++) {
				struct function *called = function_at(o, f->calls[c]);

				assert_non_null(called);
				more |= !called->uprobe;
				called->uprobe = true;
			}
		}
	}
}

static void uprobe_programs_use_little_stack(void **state)
{
	struct object *o = *state;
	size_t programs = 0, called = 0, too_large = 0;

	follow_calls(o);
	for (size_t i = 0; i < o->count; i++) {
		const struct function *f = &o->functions[i];

		if (!f->uprobe)
			continue;
		if (f->section == o->text)
			called++;
		else
			programs++;
		if (f->stack <= STACK_MAX)
			continue;
		print_error("%s uses %d bytes of stack, more than %d\n", f->name, f->stack,
			    STACK_MAX);
		too_large++;
	}
	assert_int_equal(too_large, 0);
	/* The reader works: it finds the four programs of api.bpf.c and the functions that they call. */
	assert_true(programs >= 4);
	assert_true(called >= 3);
}

/* The reader finds stack use that exists: the programs for switches need stack for kernel reads. */
static void stack_is_found(void **state)
{
	struct object *o = *state;
	int largest = 0;

	for (size_t i = 0; i < o->count; i++)
		if (o->functions[i].stack > largest)
			largest = o->functions[i].stack;
	assert_true(largest >= 32);
	assert_true(largest <= 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uprobe_programs_use_little_stack),
		cmocka_unit_test(stack_is_found),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
