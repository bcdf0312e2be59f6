/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_entries.h - where functions begin in x86-64 code that no unwind table covers.
 *
 * Functions written in assembler mostly have no symbols left. But something refers to them: code that calls them or takes
 * their address, and tables of addresses that the dynamic linker fills in. Only multiples of 16 count, because such
 * functions begin there and fewer bytes are mistaken for references. Calls (one opcode byte and a distance) are the
 * least certain references.
 */
#ifndef PROFBPF_LIB_ELF_CODE_ENTRIES_H
#define PROFBPF_LIB_ELF_CODE_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/elf/code_frames.h"
#include "lib/elf/elf_file.h"

/* Code without a table: addresses in the file's own address space. */
struct code_gap {
	uint64_t first, end;
};

struct code_entries {
	struct code_entry *row; /* in order of address, each once; the caller frees it */
	size_t count;
};

/*
 * code_entries_find - finds the functions in @gap, which is in order of address
 *
 * Reads at most 2 GiB of the file's code. Returns 0 or -ENOMEM.
 */
int code_entries_find(const struct elf_file *file, const struct code_gap *gap, size_t gaps,
		      struct code_entries *found);

#endif /* PROFBPF_LIB_ELF_CODE_ENTRIES_H */
