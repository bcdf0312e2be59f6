/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF reader: on a small library made in memory, on real files, and on
 * thousands of damaged ones.
 */
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

#include "lib/elf_file.h"

/* Where the sample's code lies: file offset and address differ, so that mixing them up shows. */
#define TEXT_OFFSET 0x200
#define TEXT_ADDRESS 0x10200
#define TEXT_SIZE 0x100
#define DATA_ADDRESS 0x20300

/* Each table is followed by its strings. */
enum section { NONE, DYNSYM, DYNSTR, SYMTAB, STRTAB, DYNAMIC, DYNAMIC_STRINGS, SECTIONS };

struct sample {
	union {
		uint8_t bytes[4096];
		Elf64_Ehdr header;
	};
	size_t size;
	Elf64_Shdr *section; /* points into bytes */
};

struct sample_symbol {
	const char *name;
	unsigned int bind, type, index;
	uint64_t address, size;
};

static const struct sample_symbol dynsym[] = {
	{ "clFinish", STB_GLOBAL, STT_FUNC, 1, TEXT_ADDRESS + 0x10, 0x20 },
	{ "clFinishAlias", STB_GLOBAL, STT_FUNC, 1, TEXT_ADDRESS + 0x10, 0x20 },
	{ "clFlush", STB_WEAK, STT_FUNC, 1, TEXT_ADDRESS + 0xf0, 0x4000 },
	{ "clUndefined", STB_GLOBAL, STT_FUNC, SHN_UNDEF, TEXT_ADDRESS + 0x50, 0 },
	{ "clVariable", STB_GLOBAL, STT_OBJECT, 1, DATA_ADDRESS, 8 },
	{ "clInData", STB_GLOBAL, STT_FUNC, 1, DATA_ADDRESS + 8, 8 },
	{ "clPicked", STB_GLOBAL, STT_GNU_IFUNC, 1, TEXT_ADDRESS + 0x60, 0x10 },
	{ "clNowhere", STB_GLOBAL, STT_FUNC, 1, 0x99999999, 8 },
	{ "", STB_GLOBAL, STT_FUNC, 1, TEXT_ADDRESS + 0x70, 8 },
};

static const struct sample_symbol symtab[] = {
	{ "clFinish", STB_GLOBAL, STT_FUNC, 1, TEXT_ADDRESS + 0x10, 0x20 },
	{ "clLocal", STB_LOCAL, STT_FUNC, 1, TEXT_ADDRESS + 0x80, 0 },
	{ "clVersioned@@OPENCL_2.0", STB_GLOBAL, STT_FUNC, 1, TEXT_ADDRESS + 0x90, 4 },
	{ "clVersioned@OPENCL_1.0", STB_GLOBAL, STT_FUNC, 1, TEXT_ADDRESS + 0xa0, 4 },
	{ "clFinish.cold", STB_LOCAL, STT_FUNC, 1, TEXT_ADDRESS + 0xb0, 4 },
	{ "clFinish.part.0", STB_LOCAL, STT_FUNC, 1, TEXT_ADDRESS + 0xb4, 4 },
	{ "clFinish.constprop.0", STB_LOCAL, STT_FUNC, 1, TEXT_ADDRESS + 0xb8, 4 },
};

static size_t put(struct sample *sample, const void *data, size_t size)
{
	size_t at = sample->size;

	assert_true(at + size <= sizeof(sample->bytes));
	memcpy(sample->bytes + at, data, size);
	sample->size = (at + size + 7) & ~7ul;
	return at;
}

static void put_section(struct sample *sample, enum section section, uint32_t type, size_t at,
			size_t size, size_t entry, enum section link)
{
	sample->section[section] = (Elf64_Shdr){
		.sh_type = type,
		.sh_offset = at,
		.sh_size = size,
		.sh_entsize = entry,
		.sh_link = link,
	};
}

static void put_symbols(struct sample *sample, enum section section, uint32_t type,
			const struct sample_symbol *symbols, size_t count)
{
	Elf64_Sym table[32] = { 0 };
	char strings[512] = "";
	size_t used = 1, table_at, strings_at;

	for (size_t i = 0; i < count; i++) {
		table[i + 1] = (Elf64_Sym){
			.st_name = *symbols[i].name ? used : 0,
			.st_info = ELF64_ST_INFO(symbols[i].bind, symbols[i].type),
			.st_shndx = symbols[i].index,
			.st_value = symbols[i].address,
			.st_size = symbols[i].size,
		};
		strcpy(strings + used, symbols[i].name);
		used += strlen(symbols[i].name) + 1;
	}
	table_at = put(sample, table, (count + 1) * sizeof(*table));
	strings_at = put(sample, strings, used);
	put_section(sample, section, type, table_at, (count + 1) * sizeof(*table), sizeof(*table),
		    section + 1);
	put_section(sample, section + 1, SHT_STRTAB, strings_at, used, 0, NONE);
}

static void put_dynamic(struct sample *sample)
{
	static const char names[] = "\0libsample.so.1\0libc.so.6\0libm.so.6";
	const Elf64_Dyn dynamic[] = {
		{ DT_NEEDED, { 16 } }, { DT_NEEDED, { 26 } }, { DT_SONAME, { 1 } },
		{ DT_NULL, { 0 } },    { DT_NEEDED, { 1 } },
	};
	size_t strings = put(sample, names, sizeof(names));
	size_t at = put(sample, dynamic, sizeof(dynamic));

	put_section(sample, DYNAMIC, SHT_DYNAMIC, at, sizeof(dynamic), sizeof(*dynamic),
		    DYNAMIC_STRINGS);
	put_section(sample, DYNAMIC_STRINGS, SHT_STRTAB, strings, sizeof(names), 0, NONE);
}

static void make_sample(struct sample *sample)
{
	struct {
		Elf64_Nhdr header;
		char name[4];
		uint8_t id[20];
	} note = { { 4, 20, NT_GNU_BUILD_ID }, "GNU", { 0 } };
	Elf64_Phdr segments[3] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = TEXT_OFFSET,
		  .p_vaddr = TEXT_ADDRESS,
		  .p_filesz = TEXT_SIZE,
		  .p_memsz = TEXT_SIZE },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_W,
		  .p_offset = 0x300,
		  .p_vaddr = DATA_ADDRESS,
		  .p_filesz = 0x40,
		  .p_memsz = 0x40 },
		{ .p_type = PT_NOTE, .p_flags = PF_R, .p_filesz = sizeof(note), .p_align = 4 },
	};

	memset(sample, 0, sizeof(*sample));
	for (unsigned int i = 0; i < sizeof(note.id); i++)
		note.id[i] = i + 1;
	for (unsigned int i = 0; i < TEXT_SIZE; i++)
		sample->bytes[TEXT_OFFSET + i] = i;
	sample->size = 0x340;
	segments[2].p_offset = put(sample, &note, sizeof(note));
	memcpy(sample->bytes + sizeof(Elf64_Ehdr), segments, sizeof(segments));
	sample->section = (void *)(sample->bytes + sample->size);
	sample->header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = sample->size,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
	};
	sample->size += SECTIONS * sizeof(Elf64_Shdr);
	put_symbols(sample, DYNSYM, SHT_DYNSYM, dynsym, sizeof(dynsym) / sizeof(*dynsym));
	put_symbols(sample, SYMTAB, SHT_SYMTAB, symtab, sizeof(symtab) / sizeof(*symtab));
	put_dynamic(sample);
}

static int memory_file(const void *bytes, size_t size)
{
	int fd = memfd_create("sample", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	return fd;
}

static struct elf_file *open_bytes(const void *bytes, size_t size, char *error, size_t error_size)
{
	int fd = memory_file(bytes, size);
	struct elf_file *file = elf_file_open_fd(fd, "sample", error, error_size);

	close(fd);
	return file;
}

static struct elf_file *open_sample(const struct sample *sample)
{
	char error[256] = "";
	struct elf_file *file = open_bytes(sample->bytes, sample->size, error, sizeof(error));

	if (!file)
		fail_msg("%s", error);
	return file;
}

struct asked {
	const char *prefix;
	size_t count;
};

/* Wants all names with a prefix; counts how often it is asked. */
static void *by_prefix(void *context, const char *name, size_t length)
{
	struct asked *asked = context;
	size_t prefix = strlen(asked->prefix);

	asked->count++;
	assert_int_not_equal(length, 0);
	return length >= prefix && memcmp(name, asked->prefix, prefix) == 0 ? asked : NULL;
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
	struct asked asked = { "cl", 0 };
	struct elf_symbols found;
	struct elf_file *file;
	struct sample sample;
	uint8_t code[4];

	make_sample(&sample);
	file = open_sample(&sample);
	assert_int_equal(elf_file_find(file, by_prefix, &asked, &found), 0);
	assert_string_equal(elf_file_error(file), "");
	expect_symbol(&found, "clFinish", 0x10, 0x20, ELF_SYMBOL_DYNAMIC);
	expect_symbol(&found, "clFinishAlias", 0x10, 0x20, ELF_SYMBOL_DYNAMIC);
	expect_symbol(&found, "clFlush", 0xf0, 0x10, ELF_SYMBOL_DYNAMIC);
	expect_symbol(&found, "clPicked", 0x60, 0x10, ELF_SYMBOL_DYNAMIC | ELF_SYMBOL_IFUNC);
	expect_symbol(&found, "clLocal", 0x80, 0, ELF_SYMBOL_LOCAL);
	expect_symbol(&found, "clVersioned", 0x90, 4, 0);
	expect_symbol(&found, "clVersioned", 0xa0, 4, 0);
	expect_symbol(&found, "clFinish.constprop.0", 0xb8, 4, ELF_SYMBOL_LOCAL);
	assert_int_equal(found.count, 8);
	for (size_t i = 1; i < found.count; i++)
		assert_true(found.symbol[i - 1].offset <= found.symbol[i].offset);
	/* of .dynsym: not the undefined one, the variable and the one without a name */
	assert_int_equal(asked.count, 6 + 7);
	assert_int_equal(elf_file_read(file, TEXT_OFFSET + 0x10, code, 4), 4);
	assert_int_equal(code[0], 0x10);
	elf_symbols_free(&found);
	elf_file_close(file);
}

static void tells_identity(void **state)
{
	const char *const *needed;
	struct elf_file *file;
	struct sample sample;
	const uint8_t *id;
	size_t count;

	make_sample(&sample);
	file = open_sample(&sample);
	assert_int_equal(elf_file_machine(file), ELF_FILE_X86_64);
	assert_true(elf_file_has_symbols(file));
	assert_string_equal(elf_file_soname(file), "libsample.so.1");
	needed = elf_file_needed(file, &count);
	assert_int_equal(count, 2);
	assert_string_equal(needed[0], "libc.so.6");
	assert_string_equal(needed[1], "libm.so.6");
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

static void expect_refused(const struct sample *sample, size_t size, const char *message)
{
	char error[256] = "";
	struct elf_file *file = open_bytes(sample->bytes, size, error, sizeof(error));

	assert_int_equal(errno, ENOEXEC);
	assert_null(file);
	assert_string_equal(error, message);
}

static void refuses_other_files(void **state)
{
	struct sample sample;

	make_sample(&sample);
	expect_refused(&sample, 0, "sample: an empty file, not an ELF file");
	expect_refused(&sample, 40, "sample: ELF file cut off within its header (40 bytes)");
	sample.bytes[0] = 'M';
	expect_refused(&sample, sample.size, "sample: not an ELF file");
	expect_refused(&sample, 2, "sample: not an ELF file");
	make_sample(&sample);
	sample.bytes[EI_CLASS] = ELFCLASS32;
	expect_refused(&sample, sample.size,
		       "sample: a 32-bit ELF file; only 64-bit programs can be traced");
	sample.bytes[EI_CLASS] = 7;
	expect_refused(&sample, sample.size,
		       "sample: damaged ELF file: class 7 is neither 32- nor 64-bit");
	make_sample(&sample);
	sample.bytes[EI_DATA] = ELFDATA2MSB;
	expect_refused(&sample, sample.size, "sample: not a little-endian ELF file");
	make_sample(&sample);
	sample.header.e_type = ET_REL;
	expect_refused(&sample, sample.size,
		       "sample: neither an executable nor a shared library (ELF type 1)");
	make_sample(&sample);
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

/* Damages one section's header and expects the search to say so, yet give the other table's. */
static void expect_damaged(struct sample *sample, const char *message, const char *remaining)
{
	struct asked asked = { "cl", 0 };
	struct elf_symbols found;
	struct elf_file *file = open_sample(sample);

	assert_int_equal(elf_file_find(file, by_prefix, &asked, &found), -ENOEXEC);
	assert_string_equal(elf_file_error(file), message);
	assert_true(found.count > 0);
	assert_non_null(find(&found, remaining, found.symbol[0].offset));
	elf_symbols_free(&found);
	elf_file_close(file);
}

static void reports_damaged_tables(void **state)
{
	struct sample sample;

	make_sample(&sample);
	sample.section[SYMTAB].sh_size = 1ull << 60;
	expect_damaged(&sample,
		       "sample: .symtab ends beyond the end of the file (cut off?); its functions "
		       "are not known",
		       "clFinish");
	make_sample(&sample);
	sample.section[DYNSTR].sh_offset = UINT64_MAX - 4;
	expect_damaged(&sample,
		       "sample: .dynsym ends beyond the end of the file (cut off?); its functions "
		       "are not known",
		       "clFinish");
	make_sample(&sample);
	sample.section[SYMTAB].sh_link = 77;
	expect_damaged(&sample,
		       "sample: .symtab names no string table; its functions are not known",
		       "clFinish");
	make_sample(&sample);
	sample.section[SYMTAB].sh_entsize = 16;
	expect_damaged(&sample,
		       "sample: .symtab has entries of a wrong size; its functions are not known",
		       "clFinish");
}

static void reads_stripped_files(void **state)
{
	struct asked asked = { "cl", 0 };
	struct elf_symbols found;
	struct elf_file *file;
	struct sample sample;

	make_sample(&sample);
	sample.header.e_shoff = 0;
	sample.header.e_shnum = 0;
	file = open_sample(&sample);
	assert_false(elf_file_has_symbols(file));
	assert_null(elf_file_soname(file));
	assert_int_equal(elf_file_find(file, by_prefix, &asked, &found), 0);
	assert_int_equal(found.count, 0);
	assert_int_equal(asked.count, 0);
	elf_symbols_free(&found);
	elf_file_close(file);
}

/* The offset of one of this program's own functions, seen from the running program. */
static void agrees_with_the_running_program(void **state)
{
	struct asked asked = { "agrees_with_the_running_program", 0 };
	uint8_t code[16], *here = (uint8_t *)agrees_with_the_running_program;
	struct elf_symbols found;
	char error[256];
	struct elf_file *file = elf_file_open("/proc/self/exe", error, sizeof(error));
	Dl_info info;

	assert_non_null(file);
	assert_int_equal(elf_file_find(file, by_prefix, &asked, &found), 0);
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
	struct asked asked = { "getpid", 0 };
	struct elf_symbols found;
	struct elf_file *file;
	char error[256];
	Dl_info info;

	assert_true(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &info));
	file = elf_file_open(info.dli_fname, error, sizeof(error));
	assert_non_null(file);
	assert_string_equal(elf_file_soname(file), "libc.so.6");
	assert_int_equal(elf_file_find(file, by_prefix, &asked, &found), 0);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.symbol[0].name, "getpid");
	assert_int_equal(found.symbol[0].flags, ELF_SYMBOL_DYNAMIC);
	assert_ptr_equal((uint8_t *)info.dli_fbase + found.symbol[0].address,
			 dlsym(RTLD_NEXT, "getpid"));
	elf_symbols_free(&found);
	elf_file_close(file);
}

/* One pass: each of 450,000 symbols is shown to the matcher once. */
static void asks_once_per_symbol(void **state)
{
	const size_t count = 450000, name = sizeof("function_000000");
	struct asked asked = { "function_44999", 0 };
	struct elf_symbols found;
	struct sample sample;
	struct elf_file *file;
	char *bytes, *strings;
	Elf64_Sym *symbols;
	size_t size;

	make_sample(&sample);
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
	assert_int_equal(elf_file_find(file, by_prefix, &asked, &found), 0);
	assert_int_equal(asked.count, count + 6);
	assert_int_equal(found.count, 10);
	elf_symbols_free(&found);
	elf_file_close(file);
	free(bytes);
}

/* Opens and searches what is in @fd; whatever comes out must be consistent. */
static void survive(int fd)
{
	struct asked asked = { "", 0 };
	struct elf_symbols found;
	const uint8_t *id;
	char error[256] = "";
	struct elf_file *file = elf_file_open_fd(fd, "damaged", error, sizeof(error));
	struct stat st;
	int err;

	if (!file) {
		assert_int_not_equal(error[0], 0);
		return;
	}
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(elf_file_build_id(file, &id) <= ELF_FILE_BUILD_ID_MAX);
	err = elf_file_find(file, by_prefix, &asked, &found);
	assert_true(err == 0 || err == -ENOEXEC);
	assert_true((err == 0) == (elf_file_error(file)[0] == 0));
	elf_symbols_free(&found);
	elf_file_close(file);
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void survives_truncation(void **state)
{
	struct sample sample;
	int fd;

	make_sample(&sample);
	fd = memory_file(sample.bytes, sample.size);
	for (size_t size = sample.size; size-- > 0;) {
		assert_int_equal(ftruncate(fd, size), 0);
		survive(fd);
	}
	close(fd);
}

/* One to four changed bytes or 64-bit words anywhere: everything in the sample is structure. */
static void survives_changed_bytes(void **state)
{
	uint64_t random = 0x9e3779b97f4a7c15;
	static const uint64_t words[] = { 0, 1, UINT64_MAX, INT64_MAX, 1ull << 40, 4096 };
	struct sample sample, damaged;
	int fd;

	make_sample(&sample);
	fd = memory_file(sample.bytes, sample.size);
	for (int i = 0; i < 20000; i++) {
		damaged = sample;
		for (uint64_t n = random_next(&random) % 4 + 1; n; n--) {
			size_t at = random_next(&random) % (sample.size - 8);
			uint64_t word = words[random_next(&random) % 6];

			if (random_next(&random) % 2)
				damaged.bytes[at] = random_next(&random);
			else
				memcpy(damaged.bytes + (at & ~7ul), &word, 8);
		}
		assert_int_equal(pwrite(fd, damaged.bytes, sample.size, 0), sample.size);
		survive(fd);
	}
	close(fd);
}

/* The same with a real program: this one. */
static void survives_damage_to_a_program(void **state)
{
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd;
	uint64_t random = 0x2545f4914f6cdd1d;
	const uint8_t *bytes;
	struct stat st;

	assert_int_equal(fstat(exe, &st), 0);
	bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, exe, 0);
	assert_true(bytes != MAP_FAILED);
	fd = memory_file(bytes, st.st_size);
	for (int i = 0; i < 200; i++) {
		const Elf64_Ehdr *header = (const void *)bytes;
		bool early = random_next(&random) % 2;
		size_t at = early ? random_next(&random) % 1024
				  : header->e_shoff + random_next(&random) % (header->e_shnum *
									      sizeof(Elf64_Shdr));
		uint8_t flipped = bytes[at] ^ 1 << random_next(&random) % 8;

		assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
		survive(fd);
		assert_int_equal(pwrite(fd, bytes + at, 1, at), 1);
	}
	for (off_t size = st.st_size; size; size -= size / 8 + 1) {
		assert_int_equal(ftruncate(fd, size), 0);
		survive(fd);
	}
	munmap((void *)bytes, st.st_size);
	close(fd);
	close(exe);
}

/* A file that shrinks while it is open, as its owner may make it. */
static void survives_shrinking(void **state)
{
	struct asked asked = { "", 0 };
	struct elf_symbols found;
	struct elf_file *file;
	struct sample sample;
	int fd;

	make_sample(&sample);
	fd = memory_file(sample.bytes, sample.size);
	file = elf_file_open_fd(fd, "shrinking", NULL, 0);
	assert_non_null(file);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(elf_file_find(file, by_prefix, &asked, &found), -ENOEXEC);
	assert_string_equal(elf_file_error(file),
			    "shrinking: .dynsym cannot be read; its functions "
			    "are not known");
	assert_int_equal(found.count, 0);
	elf_symbols_free(&found);
	elf_file_close(file);
	close(fd);
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
		cmocka_unit_test(survives_truncation),
		cmocka_unit_test(survives_changed_bytes),
		cmocka_unit_test(survives_damage_to_a_program),
		cmocka_unit_test(survives_shrinking),
	};

	return cmocka_run_group_tests_name("elf_file", tests, NULL, NULL);
}
