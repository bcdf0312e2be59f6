/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause OR Apache-2.0 */
/*
 * unwind.h - the unwind tables for user stacks: the daemon makes them (stacks/unwind_store.h), the BPF programs read
 * them (unwind.bpf.h).
 *
 * A file's code is divided into pages of 64 KiB. A page has rows in order of address; each row gives the rule that
 * holds from its address on, and the first row is at the start of the page. Rows and lists of pages are stored in shards,
 * arrays of 32-bit words; words are numbered consecutively over all shards. The rows of one page, and the list of one
 * file's pages, are in one shard. A page that is not made yet has neither rows nor a count.
 *
 * Private to one build of profbpf, like events.h.
 */
#ifndef PROFBPF_BPF_UNWIND_H
#define PROFBPF_BPF_UNWIND_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define UNWIND_SHARD_WORDS (1u << 17)
#define UNWIND_SHARDS 256 /* 128 MiB */
#define UNWIND_WORDS (UNWIND_SHARDS * UNWIND_SHARD_WORDS)
#define UNWIND_RULES 32768 /* distinct rules of all files */
#define UNWIND_PAGE_SHIFT 16
#define UNWIND_PAGE_ROWS_MAX (1u << 14)
#define UNWIND_MAPPINGS 512 /* executable mappings per process; a power of two */
#define UNWIND_PROCESSES 16384

/* A row: the address within its page, and the number of the rule. */
#define UNWIND_ROW(address, rule) ((__u32)((address) & 0xffff) | (__u32)(rule) << 16)
#define UNWIND_ROW_ADDRESS(row) ((row) & 0xffff)
#define UNWIND_ROW_RULE(row) ((row) >> 16)

struct unwind_shard {
	__u32 word[UNWIND_SHARD_WORDS];
};

/* An entry of a file's list of pages. */
struct unwind_page {
	__u32 rows; /* word number of its first row */
	__u32 count;
};

enum unwind_kind {
	UNWIND_POINTERS, /* no rule is known: the frame pointer is used. This is rule 0. */
	UNWIND_STACK, /* canonical frame address (CFA) = stack pointer + cfa */
	UNWIND_FRAME, /* CFA = frame pointer + cfa */
	UNWIND_FRAME_WORD, /* CFA = the word at frame pointer + cfa */
	UNWIND_STACK_WORD, /* CFA = the word at stack pointer + cfa, + add */
	UNWIND_REGISTER, /* CFA = word "add" of the thread's registers (struct pt_regs) + cfa: for the innermost frame only */
	UNWIND_PLT, /* CFA = stack pointer + 8, and 8 more from byte cfa of each 16-byte entry on */
	UNWIND_SIGNAL, /* the outer frame was interrupted by a signal */
	UNWIND_FIRST, /* the outermost frame: the thread began here */
};

enum unwind_pointer {
	UNWIND_POINTER_SAME,
	UNWIND_POINTER_AT_CFA,
	UNWIND_POINTER_AT_FRAME,
};

/* Like struct frame_rule (lib/elf/frame_rule.h). */
struct unwind_rule {
	__u8 kind;
	__u8 pointer_kind;
	__s16 pointer; /* words */
	__s16 back; /* the return address' offset from the CFA in words; 0 = it is in the link register */
	__u16 derived; /* 1: valid only if the return address follows a call instruction */
	__s32 cfa;
	__s16 add;
	__u16 reserved;
};

/* For code without a rule: assumes a function that keeps a frame pointer. Only a call instruction confirms it. */
#define UNWIND_WITHOUT_RULE                            \
	((struct unwind_rule){                         \
		.kind = UNWIND_FRAME,                  \
		.pointer_kind = UNWIND_POINTER_AT_CFA, \
		.pointer = -2,                         \
		.back = -1,                            \
		.derived = 1,                          \
		.cfa = 16,                             \
	})

/* An executable mapping of a process. */
struct unwind_mapping {
	__u64 start, end;
	__u64 base; /* the address that the first page of its file's list would have; subtracted from addresses */
	__u32 pages; /* length of that list; 0 = no table */
	__u32 list; /* number of the list's first word */
};

/* Mappings in order of address; unused elements behind the last one start at the highest address. */
struct unwind_process {
	__u32 count;
	__u32 whole; /* the list is complete */
	struct unwind_mapping mapping[UNWIND_MAPPINGS];
	__u64 version; /* changes with each change of any process; never 0; the last member, see find_rule() */
};

#endif /* PROFBPF_BPF_UNWIND_H */
