/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_entries.h - where functions begin in x86-64 code that no unwind table covers.
 *
 * What people write in assembler mostly has no symbols left. Somebody refers to it, though: code that calls it or takes
 * its address, and tables of addresses that the dynamic linker fills in. Only places at multiples of 16 count, as
 * such functions begin there, and less is taken for a reference that is none. Calls, a byte and a distance, are the
 * least sure of them.
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
	struct code_entry *row; /* in order of address, each once; to be freed */
	size_t count;
};

/*
 * code_entries_find - those in @gap, which is in order of address
 *
 * Reads the file's code, 2 GiB at most. Returns 0 or -ENOMEM.
 */
int code_entries_find(const struct elf_file *file, const struct code_gap *gap, size_t gaps,
		      struct code_entries *found);

#endif /* PROFBPF_LIB_ELF_CODE_ENTRIES_H */
