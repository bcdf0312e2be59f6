/* SPDX-License-Identifier: Apache-2.0 */
/* split_part.h - finds the part of a function that the compiler has split off (name.cold); stripped files lack its name. */
#ifndef PROFBPF_LIB_ELF_SPLIT_PART_H
#define PROFBPF_LIB_ELF_SPLIT_PART_H

#include <stdint.h>

#include "lib/elf/elf_file.h"

#define SPLIT_PART_BYTES_MAX (1u << 20) /* the most bytes of a function's code that are read */

/*
 * split_part_find - the split-off part of the function from @start to @end, in the file's own address space
 *
 * It is the piece of code (elf_extent.h) into whose middle a jump of the function leads: another function would be entered
 * at its start. Of several pieces the first one found. Returns 0, -ENOENT if there is none, or -ENOMEM.
 */
int split_part_find(const struct elf_file *file, uint64_t start, uint64_t end, uint64_t *part, uint64_t *part_end);

#endif /* PROFBPF_LIB_ELF_SPLIT_PART_H */
