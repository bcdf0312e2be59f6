/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generated_code.h - unwind rules (lib/elf/frame_rule.h) for code that a process generated at run time, from its memory.
 *
 * The starts of functions are not recorded anywhere: oneDNN and Xbyak begin them at a page, asmjit and LLVM behind padding
 * of zeros or traps. x86-64 only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_GENERATED_CODE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_GENERATED_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/elf/frame_rule.h"
#include "lib/elf/process_maps.h"

#define GENERATED_CODE_MAX (16u << 20) /* bytes of a mapping; larger mappings have no rules */

struct generated_code {
	uint8_t *bytes;
	uint64_t first, size;
};

/*
 * generated_code_take - copies the memory of process @pid at @map
 *
 * Only present pages are read (present_memory.h), others become zeros. Returns false if nothing can be read, the mapping is
 * too large, memory is short, or the machine is not x86-64.
 */
bool generated_code_take(struct generated_code *code, pid_t pid, const struct process_map *map);
void generated_code_free(struct generated_code *code);

/* generated_code_read - passes its rules to @take, like frame_rules_read(); @code is a struct generated_code */
int generated_code_read(const void *code, frame_rule_taker *take, void *context);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_GENERATED_CODE_H */
