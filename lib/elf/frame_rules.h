/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_rules.h - how to get from a function's frame to its caller's, at each place of a file's code.
 *
 * From the file's .eh_frame (DWARF 5, 6.4 "Call Frame Information", and the Linux Standard Base,
 * "Exception Frames"), in the order of .eh_frame_hdr; x86-64 and AArch64.
 *
 * Files are hostile: what does not fit is passed over, and a file has to be read no more than once.
 */
#ifndef PROFBPF_LIB_ELF_FRAME_RULES_H
#define PROFBPF_LIB_ELF_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"
#include "lib/elf/frame_rule.h"

#define FRAME_RULES_BYTES_MAX (256u << 20) /* of .eh_frame; files with more have no rules */
#define FRAME_RULES_PADDING 16 /* bytes between functions that are taken for padding: fewer than these */
#define FRAME_RULES_DERIVED_MIN 64 /* bytes without an entry that are looked at, at least */
#define FRAME_RULES_DERIVED_LEAST 256 /* of these in all of a file, at least */
#define FRAME_RULES_DERIVED_MAX (16u << 20) /* of all of a file */
#define FRAME_RULES_GAPS_MAX 16384 /* places without an entry; what is behind has no rules */

/*
 * frame_rules_read - hand out the rules of a file, in the order of their addresses
 *
 * The first rule of each run of equal ones is handed out; code that no entry covers gets FRAME_RULE_NONE. On
 * x86-64 rules of such code are derived from its instructions (code_frames.h) where that can be done. The
 * file's .eh_frame is in memory meanwhile. Returns 0; -ENOENT: it has none, or no list of the usual form; -EFBIG;
 * -ENOMEM; or what @take returned.
 */
int frame_rules_read(const struct elf_file *file, frame_rule_taker *take, void *context);

/*
 * frame_rules_read_told - the same of what the file's entries tell only, in a fraction of the time
 *
 * *left: bytes of code without an entry, in which frame_rules_read() would look for more; 0: it would tell the same.
 */
int frame_rules_read_told(const struct elf_file *file, frame_rule_taker *take, void *context, uint64_t *left);

#endif /* PROFBPF_LIB_ELF_FRAME_RULES_H */
