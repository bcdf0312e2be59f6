/* SPDX-License-Identifier: Apache-2.0 */
/* elf_sample.h - a small shared library built in memory, for tests of the ELF reader. */
#ifndef PROFBPF_TESTS_UNIT_ELF_SAMPLE_H
#define PROFBPF_TESTS_UNIT_ELF_SAMPLE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"

/* Place of the sample's code: file offset and address differ, so that a mix-up of the two is noticed. */
#define TEXT_OFFSET 0x200
#define TEXT_ADDRESS 0x10200
#define TEXT_SIZE 0x100
#define DATA_ADDRESS 0x20300

/* Each symbol table is followed by its string table. */
enum section { NONE, DYNSYM, DYNSTR, SYMTAB, STRTAB, SECTIONS };

struct elf_sample {
	union {
		uint8_t bytes[4096];
		Elf64_Ehdr header;
	};
	size_t size;
	Elf64_Shdr *section; /* points into bytes */
};

/* Builds a library with two symbol tables and a build id. */
void elf_sample_make(struct elf_sample *sample);

/* Returns an open file in memory with these bytes; the caller closes it. */
int elf_sample_file(const void *bytes, size_t size);

struct elf_asked {
	const char *prefix;
	size_t count;
};

/* Callback for elf_file_find(): wants all names with a prefix; counts its calls. */
void *elf_by_prefix(void *context, const char *name, size_t length);

#endif /* PROFBPF_TESTS_UNIT_ELF_SAMPLE_H */
