/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_files.h - which table belongs to a mapping: the tables of files, made once for each
 *
 * Whoever wants it first pays for it (table_shares.h).
 *
 * Used by one thread at a time.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_FILES_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind.h"
#include "daemon/profbpfd/stacks/unwind_store.h"
#include "lib/elf/process_maps.h"

struct unwind_files;

/* unwind_files_new - @store must outlive it; NULL without memory */
struct unwind_files *unwind_files_new(struct unwind_store *store);
void unwind_files_free(struct unwind_files *files);

/*
 * unwind_files_map - what the programs are to know of @map, an executable mapping of process @pid
 *
 * Makes the table of its file if it is new, which can take a second; @user, who wants it, or (uid_t)-1 for one who may
 * see everything, has to have room for it. @mapping->pages is 0 if there is none.
 * Returns 0, or -ENOSPC: there would be one, but no room for it.
 */
int unwind_files_map(struct unwind_files *files, pid_t pid, const struct process_map *map, uid_t user,
		     struct unwind_mapping *mapping);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_FILES_H */
