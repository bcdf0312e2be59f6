/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_store.h - the tables by which stacks are walked (bpf/unwind.h), in maps that the BPF programs read.
 *
 * Filled a file at a time, never changed: what is in use stays. Used by one thread at a time.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_STORE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind.h"
#include "daemon/profbpfd/stacks/table_shares.h"
#include "lib/elf/elf_file.h"

struct unwind_store;

/* A file's table. */
struct unwind_list {
	uint64_t first; /* address, in the file's own address space, of its first page */
	uint32_t pages; /* 0 = it has none */
	uint32_t list; /* number of the word at which its list of pages begins */
};

/* unwind_store_new - NULL with errno: no memory, or the kernel makes no such maps */
struct unwind_store *unwind_store_new(void);
void unwind_store_free(struct unwind_store *store);

/* The descriptors of its maps, "unwind_shards" and "unwind_rules" of bpf/unwind.bpf.h. */
int unwind_store_shards(const struct unwind_store *store);
int unwind_store_rules(const struct unwind_store *store);

/*
 * unwind_store_add - make the table of a file
 *
 * Takes no more than @room, and puts there what it took. Returns 0, or a negative errno: -ENOENT the file has no unwind
 * tables (frame_rules.h), -ENOSPC there is no room for it. Then nothing was added but perhaps rules.
 */
int unwind_store_add(struct unwind_store *store, const struct elf_file *file, struct unwind_list *list,
		     struct table_room *room);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_UNWIND_STORE_H */
