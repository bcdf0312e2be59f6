/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_symbol.h - finds a library's thread-local variable in a running process.
 *
 * Everything is read from the process' memory, after relocation by the loader, and only if it is in memory. The
 * process may be hostile: sizes are bounded, and addresses are only used for reading.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MINDSPORE_PROCESS_SYMBOL_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MINDSPORE_PROCESS_SYMBOL_H

#include <stdint.h>

#include "lib/base/process_memory.h"
#include "lib/elf/process_maps.h"

/* Two words of the library's global offset table. */
struct process_tls_symbol {
	uint64_t module_address; /* address of the module's number */
	uint64_t offset_address; /* address of the variable's offset in the module's block */
};

/*
 * process_symbol_find_tls - finds an exported thread-local variable that the library
 * itself addresses through its global offset table (R_X86_64_DTPMOD64, DTPOFF64)
 *
 * @memory is the process's, @map the library in it. Returns 0, -ENOENT if there is no such
 * symbol or relocation, -EIO if memory could not be read, -EBADMSG, -ENOMEM.
 */
int process_symbol_find_tls(const struct process_memory *memory, const struct process_map *map, const char *name,
			    struct process_tls_symbol *symbol);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MINDSPORE_PROCESS_SYMBOL_H */
