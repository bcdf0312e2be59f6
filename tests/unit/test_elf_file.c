/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF reader: on a small library built in memory, and on real files. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/elf_sample.h"

static struct elf_file *open_bytes(const void *bytes, size_t size, char *error, size_t error_size)
{
	int fd = elf_sample_file(bytes, size);
	struct elf_file *file = elf_file_open_fd(fd, "sample", error, error_size);

	close(fd);
	return file;
}

static struct elf_file *open_sample(const struct elf_sample *sample)
{
	char error[256] = "";
	struct elf_file *file = open_bytes(sample->bytes, sample->size, error, sizeof(error));

	if (!file)
		fail_msg("%s", error);
	return file;
}

static const struct elf_symbol *find(const struct elf_symbols *found, const char *name,
				     uint64_t offset)
{
	for (size_t i = 0; i < found->count; i++) {
		if (strcmp(found->symbol[i].name, name) == 0 && found->symbol[i].offset == offset)
			return &found->symbol[i];
	}
	return NULL;
}

static void expect_symbol(const struct elf_symbols *found, const char *name, uint64_t into,
			  uint64_t size, uint32_t flags)
{
	const struct elf_symbol *symbol = find(found, name, TEXT_OFFSET + into);

	if (!symbol) {
		fail_msg("%s is missing", name);
		return;
	}
	assert_int_equal(symbol->address, TEXT_ADDRESS + into);
	assert_int_equal(symbol->size, size);
	assert_int_equal(symbol->flags, flags);
	assert_non_null(symbol->match);
}

static void finds_functions(void **state)
{
	struct elf_asked asked = { "cl", 0 };
	struct elf_symbols found;
	struct elf_file *file;
	struct elf_sample sample;
	uint8_t code[4];

	elf_sample_make(&sample);
	file = open_sample(&sample);
	assert_int_equal(elf_file_find(file, elf_by_prefix, &asked, &found), 0);
	assert_string_equal(elf_file_error(file), "");
	expect_symbol(&found, "clFinish", 0x10, 0x20, ELF_SYMBOL_DYNAMIC);
	expect_symbol(&found, "clFinishAlias", 0x10, 0x20, ELF_SYMBOL_DYNAMIC);
	expect_symbol(&found, "clFlush", 0xf0, 0x10, ELF_SYMBOL_DYNAMIC | ELF_SYMBOL_WEAK);
	expect_symbol(&found, "clPicked", 0x60, 0x10, ELF_SYMBOL_DYNAMIC | ELF_SYMBOL_IFUNC);
	expect_symbol(&found, "clLocal", 0x80, 0, ELF_SYMBOL_LOCAL);
	expect_symbol(&found, "clVersioned", 0x90, 4, 0);
	expect_symbol(&found, "clVersioned", 0xa0, 4, 0);
	expect_symbol(&found, "clFinish.constprop.0", 0xb8, 4, ELF_SYMBOL_LOCAL);
	assert_int_equal(found.count, 8);
	for (size_t i = 1; i < found.count; i++)
		assert_true(found.symbol[i - 1].offset <= found.symbol[i].offset);
	/* from .dynsym: without the undefined symbol, the variable and the symbol without a name */
	assert_int_equal(asked.count, 6 + 7);
	assert_int_equal(elf_file_read(file, TEXT_OFFSET + 0x10, code, 4), 4);
	assert_int_equal(code[0], 0x10);
	elf_symbols_free(&found);
	elf_file_close(file);
}

static void tells_identity(void **state)
{
	struct elf_file *file;
	struct elf_sample sample;
	const uint8_t *id;

	elf_sample_make(&sample);
	file = open_sample(&sample);
	assert_int_equal(elf_file_machine(file), ELF_FILE_X86_64);
	assert_true(elf_file_has_symbols(file));
	assert_int_equal(elf_file_build_id(file, &id), 20);
	assert_int_equal(id[0], 1);
	assert_int_equal(id[19], 20);
	elf_file_close(file);

	sample.header.e_machine = EM_AARCH64;
	sample.header.e_phnum = 2; /* no notes */
	file = open_sample(&sample);
	assert_int_equal(elf_file_machine(file), ELF_FILE_AARCH64);
	assert_int_equal(elf_file_build_id(file, &id), 0);
	elf_file_close(file);
}

static void expect_refused(const struct elf_sample *sample, size_t size, const char *message)
{
	char error[256] = "";
	struct elf_file *file = open_bytes(sample->bytes, size, error, sizeof(error));

	assert_int_equal(errno, ENOEXEC);
	assert_null(file);
	assert_string_equal(error, message);
}

static void refuses_other_files(void **state)
{
	struct elf_sample sample;

	elf_sample_make(&sample);
	expect_refused(&sample, 0, "sample: an empty file, not an ELF file");
	expect_refused(&sample, 40, "sample: ELF file cut off within its header (40 bytes)");
	sample.bytes[0] = 'M';
	expect_refused(&sample, sample.size, "sample: not an ELF file");
	expect_refused(&sample, 2, "sample: not an ELF file");
	elf_sample_make(&sample);
	sample.bytes[EI_CLASS] = ELFCLASS32;
	expect_refused(&sample, sample.size,
		       "sample: a 32-bit ELF file; only 64-bit programs can be traced");
	sample.bytes[EI_CLASS] = 7;
	expect_refused(&sample, sample.size,
		       "sample: damaged ELF file: class 7 is neither 32- nor 64-bit");
	elf_sample_make(&sample);
	sample.bytes[EI_DATA] = ELFDATA2MSB;
	expect_refused(&sample, sample.size, "sample: not a little-endian ELF file");
	elf_sample_make(&sample);
	sample.header.e_type = ET_REL;
	expect_refused(&sample, sample.size,
		       "sample: neither an executable nor a shared library (ELF type 1)");
	elf_sample_make(&sample);
	sample.header.e_shnum = 0;
	expect_refused(&sample, sample.size, "sample: damaged ELF file: implausible header counts");
}

static void refuses_other_paths(void **state)
{
	char error[256];

	assert_null(elf_file_open("/nonexistent/lib.so", error, sizeof(error)));
	assert_int_equal(errno, ENOENT);
	assert_string_equal(error, "/nonexistent/lib.so: cannot open: No such file or directory");
	assert_null(elf_file_open("/dev/null", error, sizeof(error)));
	assert_string_equal(error, "/dev/null: not a regular file");
	assert_null(elf_file_open("/", error, sizeof(error)));
	assert_string_equal(error, "/: not a regular file");
	assert_null(elf_file_open_fd(-1, "it", error, sizeof(error)));
	assert_int_equal(errno, EBADF);
}

/*
 * Damages one section's header; expects that the search reports it, and still returns the symbols of the other table.
 */
static void expect_damaged(struct elf_sample *sample, const char *message, const char *remaining)
{
	struct elf_asked asked = { "cl", 0 };
	struct elf_symbols found;
	struct elf_file *file = open_sample(sample);

	assert_int_equal(elf_file_find(file, elf_by_prefix, &asked, &found), -ENOEXEC);
	assert_string_equal(elf_file_error(file), message);
	assert_true(found.count > 0);
	assert_non_null(find(&found, remaining, found.symbol[0].offset));
	elf_symbols_free(&found);
	elf_file_close(file);
}

static void reports_damaged_tables(void **state)
{
	struct elf_sample sample;

	elf_sample_make(&sample);
	sample.section[SYMTAB].sh_size = 1ull << 60;
	expect_damaged(&sample,
		       "sample: .symtab ends beyond the end of the file (cut off?); its functions "
		       "are not known",
		       "clFinish");
	elf_sample_make(&sample);
	sample.section[DYNSTR].sh_offset = UINT64_MAX - 4;
	expect_damaged(&sample,
		       "sample: .dynsym ends beyond the end of the file (cut off?); its functions "
		       "are not known",
		       "clFinish");
	elf_sample_make(&sample);
	sample.section[SYMTAB].sh_link = 77;
	expect_damaged(&sample,
		       "sample: .symtab names no string table; its functions are not known",
		       "clFinish");
	elf_sample_make(&sample);
	sample.section[SYMTAB].sh_entsize = 16;
	expect_damaged(&sample,
		       "sample: .symtab has entries of a wrong size; its functions are not known",
		       "clFinish");
}

static void reads_stripped_files(void **state)
{
	struct elf_asked asked = { "cl", 0 };
	struct elf_symbols found;
	struct elf_file *file;
	struct elf_sample sample;

	elf_sample_make(&sample);
	sample.header.e_shoff = 0;
	sample.header.e_shnum = 0;
	file = open_sample(&sample);
	assert_false(elf_file_has_symbols(file));
	assert_int_equal(elf_file_find(file, elf_by_prefix, &asked, &found), 0);
	assert_int_equal(found.count, 0);
	assert_int_equal(asked.count, 0);
	elf_symbols_free(&found);
	elf_file_close(file);
}

/* Compares the offset of one of this program's own functions with the running program. */
static void agrees_with_the_running_program(void **state)
{
	struct elf_asked asked = { "agrees_with_the_running_program", 0 };
	uint8_t code[16], *here = (uint8_t *)agrees_with_the_running_program;
	struct elf_symbols found;
	char error[256];
	struct elf_file *file = elf_file_open("/proc/self/exe", error, sizeof(error));
	Dl_info info;

	assert_non_null(file);
	assert_int_equal(elf_file_find(file, elf_by_prefix, &asked, &found), 0);
	assert_int_equal(found.count, 1);
	assert_true(dladdr(here, &info));
	assert_ptr_equal((uint8_t *)info.dli_fbase + found.symbol[0].address, here);
	assert_int_equal(elf_file_read(file, found.symbol[0].offset, code, sizeof(code)),
			 sizeof(code));
	assert_memory_equal(code, here, sizeof(code));
	assert_true(found.symbol[0].size > 100);
	elf_symbols_free(&found);
	elf_file_close(file);
}

static void reads_the_c_library(void **state)
{
	struct elf_asked asked = { "getpid", 0 };
	struct elf_symbols found;
	struct elf_file *file;
	char error[256];
	Dl_info info;

	assert_true(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &info));
	file = elf_file_open(info.dli_fname, error, sizeof(error));
	assert_non_null(file);
	assert_int_equal(elf_file_find(file, elf_by_prefix, &asked, &found), 0);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.symbol[0].name, "getpid");
	assert_int_equal(found.symbol[0].flags & ~ELF_SYMBOL_WEAK, ELF_SYMBOL_DYNAMIC);
	assert_ptr_equal((uint8_t *)info.dli_fbase + found.symbol[0].address,
			 dlsym(RTLD_NEXT, "getpid"));
	elf_symbols_free(&found);
	elf_file_close(file);
}

/* One pass: each of 450,000 symbols is passed to the matcher once. */
static void asks_once_per_symbol(void **state)
{
	const size_t count = 450000, name = sizeof("function_000000");
	struct elf_asked asked = { "function_44999", 0 };
	struct elf_symbols found;
	struct elf_sample sample;
	struct elf_file *file;
	char *bytes, *strings;
	Elf64_Sym *symbols;
	size_t size;

	elf_sample_make(&sample);
	size = sizeof(sample.bytes) + (count + 1) * sizeof(*symbols) + count * name;
	bytes = calloc(1, size);
	assert_non_null(bytes);
	symbols = (void *)(bytes + sizeof(sample.bytes));
	strings = (char *)(symbols + count + 1);
	for (size_t i = 0; i < count; i++) {
		symbols[i + 1] = (Elf64_Sym){ i * name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0,
					      1,	TEXT_ADDRESS + i % TEXT_SIZE,	     1 };
		snprintf(strings + i * name, name, "function_%06zu", i);
	}
	sample.section[SYMTAB].sh_offset = (char *)symbols - bytes;
	sample.section[SYMTAB].sh_size = (count + 1) * sizeof(*symbols);
	sample.section[STRTAB].sh_offset = strings - bytes;
	sample.section[STRTAB].sh_size = count * name;
	memcpy(bytes, sample.bytes, sizeof(sample.bytes));
	file = open_bytes(bytes, size, NULL, 0);
	assert_non_null(file);
	assert_int_equal(elf_file_find(file, elf_by_prefix, &asked, &found), 0);
	assert_int_equal(asked.count, count + 6);
	assert_int_equal(found.count, 10);
	elf_symbols_free(&found);
	elf_file_close(file);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_functions),
		cmocka_unit_test(tells_identity),
		cmocka_unit_test(refuses_other_files),
		cmocka_unit_test(refuses_other_paths),
		cmocka_unit_test(reports_damaged_tables),
		cmocka_unit_test(reads_stripped_files),
		cmocka_unit_test(agrees_with_the_running_program),
		cmocka_unit_test(reads_the_c_library),
		cmocka_unit_test(asks_once_per_symbol),
	};

	return cmocka_run_group_tests_name("elf_file", tests, NULL, NULL);
}
