/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_store.h - stores unwind tables (bpf/unwind.h) in maps that the BPF programs read.
 *
 * Filled file by file. Tables in use are not changed, except that pages are added to a large file's table while it is made:
 * a table is removed when no program can reach it any more.
 * Shards without tables are freed. Used by one thread at a time, except unwind_store_rule().
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_STORE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind.h"
#include "daemon/profbpfd/stacks/table_shares.h"
#include "daemon/profbpfd/stacks/word_room.h"
#include "lib/elf/frame_rule.h"

struct unwind_store;

/* A file's table. */
struct unwind_table {
	uint64_t first; /* address, in the file's own address space, of its first page */
	uint32_t pages; /* 0 = it has none */
	uint32_t list; /* number of the word at which its list of pages begins */
	uint32_t words; /* size in words */
	struct word_pieces pieces; /* the words of the table */
	uint16_t *rules; /* its rules, each once */
	uint32_t rule_count;
};

/* unwind_store_new - NULL with errno: no memory, or the kernel makes no such maps */
struct unwind_store *unwind_store_new(void);
void unwind_store_free(struct unwind_store *store);

/*
 * unwind_store_rule - finds the rule at @address, in @mapping, as a BPF program would; may be called by any thread
 *
 * Returns false if there is none. The words of a table that was removed meanwhile may belong to another table: the caller has
 * to check afterwards that the process still has the same mappings (unwind_process.version).
 */
bool unwind_store_rule(struct unwind_store *store, const struct unwind_mapping *mapping, uint64_t address,
		       struct unwind_rule *rule);

/* The descriptors of its maps, "unwind_shards" and "unwind_rules" of bpf/unwind.bpf.h. */
int unwind_store_shards(const struct unwind_store *store);
int unwind_store_rules(const struct unwind_store *store);

#define UNWIND_SOON_PAGES 32 /* the fewest pages of a table that is used while it is made */

/*
 * The source of rules for @code; its negative errno is returned to the caller of unwind_store_add().
 *
 * With @end, the end of the code, the table of much code can be used while it is made: @begun gets it, with pages and list,
 * when its first rule is there. If it cannot be made after that, @failed returns when no program can reach it any more.
 */
struct unwind_source {
	int (*read)(const void *code, frame_rule_taker *take, void *context);
	const void *code;
	uint64_t end; /* 0: unknown, or the table is not to be used before it is complete */
	void (*begun)(void *context, const struct unwind_table *table);
	void (*failed)(void *context);
	void *context;
};

/*
 * unwind_store_add - makes the table of a file, or of other code, for @payer, who pays for its words and its new rules
 *
 * Takes no more than @payer may have (@shares, which must have the payer's account). Returns 0, or a negative errno and adds
 * nothing: -ENOENT the code has no unwind tables (frame_rules.h), -ENOSPC there is no room for it.
 */
int unwind_store_add(struct unwind_store *store, const struct unwind_source *source, struct table_shares *shares,
		     uid_t payer, struct unwind_table *table);

/* unwind_store_remove - removes a table of @payer that no program can reach any more; it may have no pages */
void unwind_store_remove(struct unwind_store *store, struct table_shares *shares, uid_t payer,
			 struct unwind_table *table);

/* unwind_store_move - makes @to pay for the table in place of @from */
void unwind_store_move(struct unwind_store *store, struct table_shares *shares, const struct unwind_table *table,
		       uid_t from, uid_t to);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_STORE_H */
