/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_extent.h - where the piece of code begins and ends in which an address lies, by the
 * file's unwind tables.
 *
 * Every function that exceptions may pass through has an entry in .eh_frame, stripped files
 * and parts that the compiler split off (name.cold) too; .eh_frame_hdr lists them in order.
 */
#ifndef PROFBPF_LIB_ELF_ELF_EXTENT_H
#define PROFBPF_LIB_ELF_ELF_EXTENT_H

#include <stdint.h>

#include "lib/elf/elf_file.h"

/*
 * elf_file_extent - the piece of code around @address, in the file's own address space
 *
 * @end is the first byte behind it. Returns 0, or -ENOENT if the file has no table of the usual
 * form (32-bit offsets from the table), no entry there, or one that makes no sense.
 */
int elf_file_extent(const struct elf_file *file, uint64_t address, uint64_t *start, uint64_t *end);

/* elf_file_code_offset - the place in the file of an address of an executable segment; false if there is none */
bool elf_file_code_offset(const struct elf_file *file, uint64_t address, uint64_t *offset);

#endif /* PROFBPF_LIB_ELF_ELF_EXTENT_H */
