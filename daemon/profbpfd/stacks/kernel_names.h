/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_names.h - the kernel's symbols, read once for sessions that start soon after each other.
 *
 * Reading and sorting about 100,000 symbols takes as long as the rest of a session's start. Code that was added to the kernel
 * within the last KERNEL_NAMES_AGE_NS has no name, or that of the symbol before it, as in a long session; for BPF
 * programs, which each session adds, only the fact that they are BPF programs is used (stack_places.h).
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

/* kernel_names_new - NULL without memory; kernel_names_free - all tables must have been given back; accepts NULL */
struct kernel_names *kernel_names_new(void);
void kernel_names_free(struct kernel_names *names);

/*
 * kernel_names_take - the names that were read recently, else those from @read, during which other callers wait
 *
 * @now_ns: CLOCK_MONOTONIC. *@shared: another session had them read, maybe before this session's programs were loaded.
 * Returns NULL if @read did; the caller returns the names with kernel_names_give_back(), which accepts NULL.
 */
struct address_names *kernel_names_take(struct kernel_names *names, uint64_t now_ns,
					struct address_names *(*read)(void *context), void *context,
					bool *shared);
void kernel_names_give_back(struct kernel_names *names, struct address_names *taken);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_KERNEL_NAMES_H */
