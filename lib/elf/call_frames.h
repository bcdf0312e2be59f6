/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_frames.h - runs the call frame instructions of one function's entry in .eh_frame and hands out rules (frame_rule.h).
 *
 * The bytes come from a file that may be hostile; nothing is read beyond their end.
 */
#ifndef PROFBPF_LIB_ELF_CALL_FRAMES_H
#define PROFBPF_LIB_ELF_CALL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"
#include "lib/elf/frame_rule.h"

/* The bytes that are not read yet. */
struct frame_bytes {
	const uint8_t *at, *end;
};

/* frame_uleb, frame_sleb - read a LEB128 number; 0 if the bytes end too early, which uses them up */
uint64_t frame_uleb(struct frame_bytes *bytes);
int64_t frame_sleb(struct frame_bytes *bytes);
/* frame_fixed - the same for a little-endian number of 1, 2, 4 or 8 bytes */
uint64_t frame_fixed(struct frame_bytes *bytes, unsigned int size);

/* A CIE: the part that the entries of several functions share. */
struct frame_common {
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_register;
	uint8_t pointer_encoding; /* encoding of addresses: DW_EH_PE_* */
	bool has_augmentation; /* entries have data of that size */
	bool signal; /* a signal frame: the outer function was interrupted, it has called nothing */
	struct frame_bytes instructions;
};

/* frame_common_parse - @bytes begin behind the CIE's length and id; returns false if it is not understood */
bool frame_common_parse(struct frame_bytes bytes, struct frame_common *common);

/* DWARF numbers of the registers. */
struct frame_machine {
	uint8_t stack, frame, back;
	bool x86;
};

/* frame_machine_of - returns false for code of another machine */
bool frame_machine_of(const struct elf_file *file, struct frame_machine *machine);

/* One function: an FDE. */
struct frame_entry {
	uint64_t first, end; /* addresses */
	struct frame_bytes instructions;
};

/* call_frames_run - hands out the rules of @entry. Returns 0 or the non-zero result of @take. */
int call_frames_run(const struct frame_machine *machine, const struct frame_common *common,
		    const struct frame_entry *entry, frame_rule_taker *take, void *context);

#endif /* PROFBPF_LIB_ELF_CALL_FRAMES_H */
