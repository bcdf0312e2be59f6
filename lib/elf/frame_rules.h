/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_rules.h - the unwind rules of a file: how to get from a frame to its caller's, for each address of its code.
 *
 * From the file's .eh_frame (DWARF 5, 6.4 "Call Frame Information", and the Linux Standard Base,
 * "Exception Frames"), in the order of .eh_frame_hdr; x86-64 and AArch64.
 *
 * Files may be hostile: invalid entries are skipped, and no part of a file is read twice.
 */
#ifndef PROFBPF_LIB_ELF_FRAME_RULES_H
#define PROFBPF_LIB_ELF_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"
#include "lib/elf/frame_rule.h"

#define FRAME_RULES_BYTES_MAX (256u << 20) /* the largest .eh_frame; files with a larger one have no rules */
#define FRAME_RULES_PADDING 16 /* fewer bytes than these between functions are padding */
#define FRAME_RULES_DERIVED_MIN 64 /* the smallest gap without an entry for which rules are derived, in bytes */
#define FRAME_RULES_DERIVED_LEAST 256 /* rules are derived if a file has at least so many bytes of such gaps */
#define FRAME_RULES_DERIVED_MAX (16u << 20) /* the most bytes of a file for which rules are derived */
#define FRAME_RULES_GAPS_MAX 16384 /* gaps per file; code in further gaps has no rules */

/*
 * frame_rules_read - hands out the rules of a file, in the order of their addresses
 *
 * Of consecutive equal rules only the first is handed out; code without an entry gets FRAME_RULE_NONE. On x86-64 rules
 * for such code are derived from its instructions (code_frames.h) where possible. The file's .eh_frame is in
 * memory meanwhile. Returns 0; -ENOENT: the file has none, or no .eh_frame_hdr of the usual form; -EFBIG; -ENOMEM; or the
 * non-zero result of @take.
 */
int frame_rules_read(const struct elf_file *file, frame_rule_taker *take, void *context);

/*
 * frame_rules_read_told - the same without derived rules, in a fraction of the time
 *
 * *left: bytes of code without an entry, for which frame_rules_read() would derive rules; 0: it would give the same rules.
 */
int frame_rules_read_told(const struct elf_file *file, frame_rule_taker *take, void *context, uint64_t *left);

#endif /* PROFBPF_LIB_ELF_FRAME_RULES_H */
