/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generated_code.h - rules (lib/elf/frame_rule.h) for code that a process made at run time, from its memory.
 *
 * Nobody says where functions begin in it: those of oneDNN and Xbyak do at a page, those of asmjit and LLVM behind
 * what is filled with zeros or traps. x86-64 only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_GENERATED_CODE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_GENERATED_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/elf/frame_rule.h"
#include "lib/elf/process_maps.h"

#define GENERATED_CODE_MAX (16u << 20) /* bytes of a mapping; longer ones have no rules */

struct generated_code {
	uint8_t *bytes;
	uint64_t first, size;
};

/*
 * generated_code_take - copy what process @pid has in memory at @map
 *
 * Only pages that are there are read (present_memory.h), the others are zeros. False: nothing can be read, it is too long,
 * there is no memory, or this machine is another one.
 */
bool generated_code_take(struct generated_code *code, pid_t pid, const struct process_map *map);
void generated_code_free(struct generated_code *code);

/* generated_code_read - hand out its rules, as frame_rules_read(); @code is a struct generated_code */
int generated_code_read(const void *code, frame_rule_taker *take, void *context);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_GENERATED_CODE_H */
