/* SPDX-License-Identifier: Apache-2.0 */
/* split_part.h - the piece of a function that the compiler has put elsewhere (name.cold), whose name files do not keep. */
#ifndef PROFBPF_LIB_ELF_SPLIT_PART_H
#define PROFBPF_LIB_ELF_SPLIT_PART_H

#include <stdint.h>

#include "lib/elf/elf_file.h"

#define SPLIT_PART_BYTES_MAX (1u << 20) /* of a function's code that are looked at */

/*
 * split_part_find - that of the function from @start to @end, in the file's own address space
 *
 * Some jump of the function's leads into the middle of another piece of code (elf_extent.h): nobody enters another function
 * there. Of several pieces the first that is found. Returns 0, -ENOENT: there is none, or -ENOMEM.
 */
int split_part_find(const struct elf_file *file, uint64_t start, uint64_t end, uint64_t *part, uint64_t *part_end);

#endif /* PROFBPF_LIB_ELF_SPLIT_PART_H */
