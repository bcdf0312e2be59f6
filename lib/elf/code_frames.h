/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_frames.h - rules (frame_rule.h) for x86-64 code that no unwind table covers, from its instructions.
 *
 * For functions written in assembler and for code generated at run time. The control flow is followed from the starts
 * of functions, and the effect of each instruction on the stack is tracked (stack_effect.h). Code that is reached on two
 * paths with different stacks, or on none, has no rule. Code behind a jump with unknown targets that is not
 * reached otherwise counts as one of these targets, if all such jumps of its function are made with the same stack.
 *
 * Code that takes far too many steps to follow has no rules at all.
 *
 * The compiler has not stated these rules: they are marked as derived, and a walk that uses one checks that a call
 * precedes the return address.
 */
#ifndef PROFBPF_LIB_ELF_CODE_FRAMES_H
#define PROFBPF_LIB_ELF_CODE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/frame_rule.h"

#define CODE_FRAMES_BYTES_MAX (16u << 20) /* bytes of a span; the rest of a longer span has no rules */

/* The start of a function. An uncertain one counts only if its code is not reached from other functions. */
struct code_entry {
	uint64_t address;
	bool sure;
};

struct code_span {
	const uint8_t *code;
	uint64_t first, end; /* addresses */
};

/*
 * code_frames_run - hands out the rules of a span, in the order of their addresses, from its first byte on
 *
 * @entry: the starts of functions, in order of address; those outside of the span are ignored.
 * Returns 0, -ENOMEM, or the non-zero result of @take.
 */
int code_frames_run(const struct code_span *span, const struct code_entry *entry, size_t entries,
		    frame_rule_taker *take, void *context);

#endif /* PROFBPF_LIB_ELF_CODE_FRAMES_H */
