/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/elf_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

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

static size_t put(struct elf_sample *sample, const void *data, size_t size)
{
	size_t at = sample->size;

	assert_true(at + size <= sizeof(sample->bytes));
	memcpy(sample->bytes + at, data, size);
	sample->size = (at + size + 7) & ~7ul;
	return at;
}

static void put_section(struct elf_sample *sample, enum section section, uint32_t type, size_t at,
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

static void put_symbols(struct elf_sample *sample, enum section section, uint32_t type,
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

void elf_sample_make(struct elf_sample *sample)
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
}

int elf_sample_file(const void *bytes, size_t size)
{
	int fd = memfd_create("sample", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	return fd;
}

void *elf_by_prefix(void *context, const char *name, size_t length)
{
	struct elf_asked *asked = context;
	size_t prefix = strlen(asked->prefix);

	asked->count++;
	assert_int_not_equal(length, 0);
	return length >= prefix && memcmp(name, asked->prefix, prefix) == 0 ? asked : NULL;
}
