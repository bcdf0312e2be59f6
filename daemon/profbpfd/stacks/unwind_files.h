/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_files.h - which table belongs to a mapping: the tables of files, made once for each
 *
 * A table is held by whoever has its file mapped. The first one pays for it, when that lets go another one
 * (table_shares.h). What nobody holds is kept for a while: UNWIND_KEPT_NS, and no more than UNWIND_KEPT_WORDS, of which
 * each owner has its share; it is given back at once where its payer has no room for another one.
 *
 * Used by one thread at a time.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_FILES_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind.h"
#include "daemon/profbpfd/stacks/unwind_store.h"
#include "lib/elf/process_maps.h"

#define UNWIND_KEPT_NS 600000000000ull
#define UNWIND_KEPT_WORDS (UNWIND_WORDS / 2) /* 64 MiB */
#define UNWIND_KEPT_FILES 4096 /* with those that have no table */

struct unwind_files;
struct unwind_file;

/* Where a file's rules are from. */
enum unwind_rules {
	UNWIND_TOLD, /* its unwind tables */
	UNWIND_DERIVED, /* and, of code that these do not cover, its instructions, which can take a second more */
};

/* unwind_files_new - @store must outlive it; @wait returns when programs that run now are done; NULL without memory */
struct unwind_files *unwind_files_new(struct unwind_store *store, void (*wait)(void));
void unwind_files_free(struct unwind_files *files);

/*
 * unwind_files_map - what the programs are to know of @map, an executable mapping of process @pid
 *
 * Makes the table of its file, of @rules, if it is new (with UNWIND_TOLD one of UNWIND_DERIVED does, too); @user, who wants it, or (uid_t)-1 for one who may
 * see everything, has to have room and time for it. @mapping->pages is 0 if there is none. Puts at @held what is to be
 * let go with unwind_files_drop() when no program sees the mapping any more, or NULL. Of code without a file, made at run time, the
 * table is made each time, and the process's user stands for the file's owner.
 * Returns 0, or -ENOSPC: there would be a table, but no room, or not yet time, for it.
 */
int unwind_files_map(struct unwind_files *files, pid_t pid, const struct process_map *map, enum unwind_rules rules,
		     uid_t user, struct unwind_mapping *mapping, struct unwind_file **held);

/* unwind_files_more - UNWIND_DERIVED would tell more than what is in @file's table; NULL is fine */
bool unwind_files_more(const struct unwind_file *file);

/* unwind_files_hold - @file, which is held, is held by @user once more; NULL is fine. Returns @file, or NULL without memory. */
struct unwind_file *unwind_files_hold(struct unwind_file *file, uid_t user);

/* unwind_files_drop - once less; NULL is fine */
void unwind_files_drop(struct unwind_files *files, struct unwind_file *file, uid_t user);

/* unwind_files_drop_all - the same of @count at once, of which no program sees any by now: they are waited for once */
void unwind_files_drop_all(struct unwind_files *files, struct unwind_file *const *file, size_t count, uid_t user);

/* unwind_files_trim - give back what was kept long enough. Returns when more will be, 0: nothing is kept */
uint64_t unwind_files_trim(struct unwind_files *files, uint64_t now_ns);

struct unwind_files_stats {
	uint64_t made; /* tables, ever */
	uint64_t files, kept; /* known, of these held by nobody */
};

void unwind_files_stats(const struct unwind_files *files, struct unwind_files_stats *stats);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_FILES_H */
