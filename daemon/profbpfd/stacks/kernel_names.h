/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_names.h - the kernel's symbols, read once for sessions that start soon after each other.
 *
 * To read and sort some 100,000 takes as long as the rest of a session's start. What the kernel got within
 * the last KERNEL_NAMES_AGE_NS has no name, or that of what lies before it, as in a session that runs on; of
 * BPF programs, of which each session brings some, it is only told that they are (stack_places.h).
 *
 * All functions may be called by any thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_KERNEL_NAMES_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_KERNEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/elf/address_names.h"

#define KERNEL_NAMES_AGE_NS 60000000000ull

struct kernel_names;

/* kernel_names_new - NULL without memory; kernel_names_free - all must have been given back; NULL is fine */
struct kernel_names *kernel_names_new(void);
void kernel_names_free(struct kernel_names *names);

/*
 * kernel_names_take - those that were read lately, else by @read, for which others wait
 *
 * @now_ns: CLOCK_MONOTONIC. *@shared: another one had them read, maybe before this one's programs were loaded.
 * Returns NULL if @read did; to be given back by kernel_names_give_back(), for which NULL is fine.
 */
struct address_names *kernel_names_take(struct kernel_names *names, uint64_t now_ns,
					struct address_names *(*read)(void *context), void *context,
					bool *shared);
void kernel_names_give_back(struct kernel_names *names, struct address_names *taken);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_KERNEL_NAMES_H */
