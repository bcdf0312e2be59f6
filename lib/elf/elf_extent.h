/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_extent.h - start and end of the piece of code around an address, from the file's unwind tables.
 *
 * Every function that exceptions may pass through has an entry in .eh_frame, also in stripped files, and also each
 * part that the compiler split off (name.cold); .eh_frame_hdr lists them in order.
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

/* elf_file_code_offset - converts an address in an executable segment to its file offset; false if it is in none */
bool elf_file_code_offset(const struct elf_file *file, uint64_t address, uint64_t *offset);

#endif /* PROFBPF_LIB_ELF_ELF_EXTENT_H */
