/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_files.h - the unwind tables of mappings: one table for each file
 *
 * A table is held by the processes that have its file mapped. The first holder's user pays for it, after its release
 * another holder's (table_shares.h). A table without holders is kept for a while: UNWIND_KEPT_NS, and no more than
 * UNWIND_KEPT_WORDS in all, of which each owner has a share; it is freed at once if its payer needs the room.
 *
 * Used by one thread at a time.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_FILES_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind.h"
#include "daemon/profbpfd/stacks/file_source.h"
#include "daemon/profbpfd/stacks/unwind_store.h"
#include "lib/elf/process_maps.h"

#define UNWIND_KEPT_NS 600000000000ull
#define UNWIND_KEPT_WORDS (UNWIND_WORDS / 2) /* 64 MiB */
#define UNWIND_KEPT_FILES 4096 /* including files without a table */

struct unwind_files;
struct unwind_file;

/* unwind_files_new - @store must outlive it; @wait returns when running programs have ended; NULL without memory */
struct unwind_files *unwind_files_new(struct unwind_store *store, void (*wait)(void));
void unwind_files_free(struct unwind_files *files);

/*
 * unwind_files_map - fills @mapping for the BPF programs from @map, an executable mapping of process @pid
 *
 * Makes the table of its file with @rules if it is new (a table of UNWIND_DERIVED also serves for UNWIND_TOLD); @user, for whom
 * it is made ((uid_t)-1: one who may see everything), must have room and time for it. @mapping->pages is 0 if there is no
 * table. Sets *@held to the file, which the caller releases with unwind_files_drop() when no program sees the mapping any
 * more, or to NULL. For generated code without a file the table is made each time, and the process' user stands for
 * the file's owner. @soon may be NULL. Returns 0, or -ENOSPC: there is no room, or no time yet, for the table.
 */
int unwind_files_map(struct unwind_files *files, pid_t pid, const struct process_map *map, enum unwind_rules rules,
		     uid_t user, const struct unwind_user *soon, struct unwind_mapping *mapping,
		     struct unwind_file **held);

/* unwind_files_more - would UNWIND_DERIVED add rules to @file's table? @file may be NULL */
bool unwind_files_more(const struct unwind_file *file);

/* unwind_files_hold - adds a hold by @user on @file, which is held, or NULL. Returns @file, or NULL without memory. */
struct unwind_file *unwind_files_hold(struct unwind_file *file, uid_t user);

/* unwind_files_drop - removes a hold; @file may be NULL */
void unwind_files_drop(struct unwind_files *files, struct unwind_file *file, uid_t user);

/* unwind_files_drop_all - the same for @count files at once, which no program sees any more: with a single wait */
void unwind_files_drop_all(struct unwind_files *files, struct unwind_file *const *file, size_t count, uid_t user);

/* unwind_files_trim - frees tables whose time is over. Returns the time of the next call, 0: none are kept */
uint64_t unwind_files_trim(struct unwind_files *files, uint64_t now_ns);

struct unwind_files_stats {
	uint64_t made; /* all tables made so far */
	uint64_t files, kept; /* known files, and those among them without holders */
};

void unwind_files_stats(const struct unwind_files *files, struct unwind_files_stats *stats);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_FILES_H */
