/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_private.h - shared by elf_file.c and elf_symbols.c.
 */
#ifndef PROFBPF_LIB_ELF_ELF_PRIVATE_H
#define PROFBPF_LIB_ELF_ELF_PRIVATE_H

#include <sys/stat.h>

#include "lib/elf/elf_file.h"

#define ELF_MAX_SEGMENTS 64 /* executable ones kept; real files have one or two */
#define ELF_MAX_NAME 4096 /* bytes of a symbol or library name; longer ones are skipped */

/* Where a section's bytes are in the file. */
struct elf_extent {
	uint64_t offset, size;
};

struct elf_segment {
	uint64_t address, offset, size;
};

/* A symbol table and its strings. */
struct elf_table {
	bool present;
	const char *name;
	struct elf_extent symbols, strings;
	uint64_t entry_size;
	bool bad_link;
};

struct elf_file {
	int fd;
	char *name;
	struct stat stat;
	enum elf_file_machine machine;
	struct elf_segment segments[ELF_MAX_SEGMENTS];
	size_t segment_count;
	struct elf_segment frame_table; /* .eh_frame_hdr; size 0 = none */
	struct elf_table dynsym, symtab;
	struct elf_extent relocations; /* .rela.dyn; size 0 = none */
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
	size_t build_id_size;
	bool go;
	bool interpreted; /* a dynamic linker starts it */
	char *debug_link; /* name of the debug file, from .gnu_debuglink; NULL = none */
	uint32_t debug_crc; /* checksum of the debug file */
	struct elf_file *debug; /* the debug file with the symbols that this one lacks; NULL = none */
	char error[256];
};

/* elf_fail - format a message; returns -ENOEXEC */
int __attribute__((format(printf, 3, 4)))
elf_fail(char *error, size_t size, const char *format, ...);

/* elf_inside_file - the extent lies within the file as it was when it was opened */
bool elf_inside_file(const struct elf_file *file, const struct elf_extent *extent);

#endif /* PROFBPF_LIB_ELF_ELF_PRIVATE_H */
