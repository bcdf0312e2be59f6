/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_frames.h - one function's entry in .eh_frame: its instructions, run to rules (frame_rule.h).
 *
 * Bytes come from a hostile file; nothing beyond what is given is read.
 */
#ifndef PROFBPF_LIB_ELF_CALL_FRAMES_H
#define PROFBPF_LIB_ELF_CALL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"
#include "lib/elf/frame_rule.h"

/* Bytes that are left. */
struct frame_bytes {
	const uint8_t *at, *end;
};

/* frame_uleb, frame_sleb - a number; 0 where the bytes end too early, and then they are used up */
uint64_t frame_uleb(struct frame_bytes *bytes);
int64_t frame_sleb(struct frame_bytes *bytes);
/* frame_fixed - the same of 1, 2, 4 or 8 bytes, little-endian */
uint64_t frame_fixed(struct frame_bytes *bytes, unsigned int size);

/* What functions have in common: a CIE. */
struct frame_common {
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_register;
	uint8_t pointer_encoding; /* of addresses: DW_EH_PE_* */
	bool has_augmentation; /* entries have data of that size */
	bool signal; /* what runs there was interrupted, it called nothing */
	struct frame_bytes instructions;
};

/* frame_common_parse - @bytes begin behind its length and id; false: not understood */
bool frame_common_parse(struct frame_bytes bytes, struct frame_common *common);

/* Registers as DWARF numbers them. */
struct frame_machine {
	uint8_t stack, frame, back;
	bool x86;
};

/* frame_machine_of - false: another machine's code */
bool frame_machine_of(const struct elf_file *file, struct frame_machine *machine);

/* One function: an FDE. */
struct frame_entry {
	uint64_t first, end; /* addresses */
	struct frame_bytes instructions;
};

/* call_frames_run - hand out its rules. Returns 0 or what @take returned. */
int call_frames_run(const struct frame_machine *machine, const struct frame_common *common,
		    const struct frame_entry *entry, frame_rule_taker *take, void *context);

#endif /* PROFBPF_LIB_ELF_CALL_FRAMES_H */
