/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_frames.h - rules (frame_rule.h) for x86-64 code that no unwind table covers, from its instructions.
 *
 * For what people write in assembler, and programs at run time. From where functions begin the code is followed, as
 * the processor would, and what it does to the stack is kept account of (stack_effect.h). Code that is reached in two
 * ways with different stacks, or in none, has no rule. What follows a jump whose targets are not known, and is not
 * reached otherwise, is taken for one of these if all such jumps of its function are made with the same stack.
 *
 * Code that takes far too many steps to follow has no rules at all.
 *
 * These rules are not the compiler's word: they are marked as derived, and whoever walks by them checks that there is
 * a call before the return address.
 */
#ifndef PROFBPF_LIB_ELF_CODE_FRAMES_H
#define PROFBPF_LIB_ELF_CODE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/frame_rule.h"

#define CODE_FRAMES_BYTES_MAX (16u << 20) /* of one span; the rest of a longer one has no rules */

/* Where a function begins. Those that are not sure count only if the code is not reached from others. */
struct code_entry {
	uint64_t address;
	bool sure;
};

struct code_span {
	const uint8_t *code;
	uint64_t first, end; /* addresses */
};

/*
 * code_frames_run - hand out the rules of a span, in the order of their addresses, from its first byte on
 *
 * @entry: where functions begin, in order of address; those outside of it do not count.
 * Returns 0, -ENOMEM, or what @take returned.
 */
int code_frames_run(const struct code_span *span, const struct code_entry *entry, size_t entries,
		    frame_rule_taker *take, void *context);

#endif /* PROFBPF_LIB_ELF_CODE_FRAMES_H */
