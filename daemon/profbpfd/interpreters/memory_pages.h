/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_pages.h - memory of another process, read a page at a time.
 *
 * For structures that lie close together and are read word by word: a system call for each page
 * instead of for each word (a Python stack of 30 frames: 30 calls instead of 250). What was read
 * stays as it was until memory_pages_begin(), which reads all that was asked for before in
 * one call.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MEMORY_PAGES_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MEMORY_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"

struct memory_pages;

/* memory_pages_new - NULL without memory; memory_pages_free() accepts NULL */
struct memory_pages *memory_pages_new(void);
void memory_pages_free(struct memory_pages *pages);

/* memory_pages_limit - give out only what @right, which stays the caller's, allows: asked after each reading */
void memory_pages_limit(struct memory_pages *pages, const struct right *right);

/* memory_pages_begin - from now on of process @pid, as it is now: forget what was read before */
void memory_pages_begin(struct memory_pages *pages, pid_t pid);

/* memory_pages_read - @size bytes at @address; 0, or -EFAULT if not all of it can be read, or is there (present_memory.h) */
int memory_pages_read(struct memory_pages *pages, uint64_t address, void *into, size_t size);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MEMORY_PAGES_H */
