/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_addresses.h - the symbol at an address of an ELF file.
 */
#ifndef PROFBPF_LIB_ELF_ELF_ADDRESSES_H
#define PROFBPF_LIB_ELF_ELF_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"

struct elf_name {
	uint64_t address; /* in the file's own address space */
	char *name; /* allocated; NULL = no symbol begins there */
	uint8_t rank; /* of the symbol that gave the name; private */
};

/*
 * elf_file_names_at - the functions and objects that begin at given addresses
 *
 * @names must be sorted by address and hold NULL names; those found are set and
 * belong to the caller. One pass over .dynsym and .symtab, in bounded memory; of
 * several symbols at one address a global function is preferred. Returns 0,
 * -ENOMEM, or -ENOEXEC when a table is damaged: what was found is set even then.
 */
int elf_file_names_at(struct elf_file *file, struct elf_name *names, size_t count);

/* elf_file_address - converts the file offset of a byte in an executable segment to its address */
bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *address);

#endif /* PROFBPF_LIB_ELF_ELF_ADDRESSES_H */
