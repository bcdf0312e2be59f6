/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause OR Apache-2.0 */
/*
 * unwind.h - the tables by which user stacks are walked: the daemon makes them (stacks/unwind_store.h), the BPF
 * programs read them (unwind.bpf.h).
 *
 * A file's code is cut into pages of 64 KiB. A page has rows, one for each place from which on another rule
 * holds, in order; the first one is at the page's beginning. Rows and the lists of pages lie in shards, which are
 * words of 32 bits; a word is known by its number, counted on from shard to shard. The rows of one page, and the list
 * of one file's pages, are in one shard.
 *
 * Private to one build of profbpf, as events.h is.
 */
#ifndef PROFBPF_BPF_UNWIND_H
#define PROFBPF_BPF_UNWIND_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define UNWIND_SHARD_WORDS (1u << 17)
#define UNWIND_SHARDS 256 /* 128 MiB */
#define UNWIND_WORDS (UNWIND_SHARDS * UNWIND_SHARD_WORDS)
#define UNWIND_RULES 32768 /* different ones, of all files */
#define UNWIND_PAGE_SHIFT 16
#define UNWIND_PAGE_ROWS_MAX (1u << 14)
#define UNWIND_MAPPINGS 512 /* of executable code that are known of a process; a power of two */
#define UNWIND_PROCESSES 16384

/* A row: the address within its page, and the rule's number. */
#define UNWIND_ROW(address, rule) ((__u32)((address) & 0xffff) | (__u32)(rule) << 16)
#define UNWIND_ROW_ADDRESS(row) ((row) & 0xffff)
#define UNWIND_ROW_RULE(row) ((row) >> 16)

struct unwind_shard {
	__u32 word[UNWIND_SHARD_WORDS];
};

/* An entry of a file's list of pages. */
struct unwind_page {
	__u32 rows; /* number of the word of its first row */
	__u32 count;
};

enum unwind_kind {
	UNWIND_POINTERS, /* nothing is known: by the frame pointer. Rule 0 is this. */
	UNWIND_STACK, /* the caller's frame begins at the stack pointer + cfa */
	UNWIND_FRAME, /* ... at the frame pointer + cfa */
	UNWIND_FRAME_WORD, /* ... at what stands at the frame pointer + cfa */
	UNWIND_STACK_WORD, /* ... at what stands at the stack pointer + cfa, + add */
	UNWIND_REGISTER, /* ... at word "add" of the thread's registers (struct pt_regs) + cfa: of the innermost frame only */
	UNWIND_PLT, /* ... at the stack pointer + 8, and + 8 more from the byte cfa of each 16 on */
	UNWIND_SIGNAL, /* what is below was interrupted by a signal */
	UNWIND_FIRST, /* nothing is below: the thread began here */
};

enum unwind_pointer {
	UNWIND_POINTER_SAME,
	UNWIND_POINTER_AT_CFA,
	UNWIND_POINTER_AT_FRAME,
};

/* As struct frame_rule (lib/elf/frame_rule.h). */
struct unwind_rule {
	__u8 kind;
	__u8 pointer_kind;
	__s16 pointer; /* words */
	__s16 back; /* words; 0 = it is in the link register */
	__u16 derived; /* 1: only if the return address lies behind a call */
	__s32 cfa;
	__s16 add;
	__u16 reserved;
};

/* Executable code of a process. */
struct unwind_mapping {
	__u64 start, end;
	__u64 base; /* where the first page of its file's list would lie; subtracted from addresses */
	__u32 pages; /* in that list; 0 = no table */
	__u32 list; /* number of the list's first word */
};

/* In order of address; the places behind the last one begin at the highest address. */
struct unwind_process {
	__u32 count;
	__u32 whole; /* there are no others */
	struct unwind_mapping mapping[UNWIND_MAPPINGS];
	__u64 version; /* another one whenever something changed, of any process; not 0; last, see find_rule() */
};

#endif /* PROFBPF_BPF_UNWIND_H */
