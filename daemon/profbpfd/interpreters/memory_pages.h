/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_pages.h - memory of another process, read a page at a time.
 *
 * For structures that are close together and read word by word: one system call per page instead of per
 * word (a Python stack of 30 frames: 30 calls instead of 250). Pages are cached until
 * memory_pages_begin(), which reads all pages that the same purpose used before again, in one call.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MEMORY_PAGES_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MEMORY_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"

#define MEMORY_PAGES_AGAIN 64 /* pages that are read by one call when a round begins */

struct memory_pages;

/* The first pages that a repeated purpose used in its last round, in one process. Zeros: there was no round yet. */
struct memory_pages_used {
	uint64_t number[MEMORY_PAGES_AGAIN];
	size_t count;
};

/* memory_pages_new - NULL without memory; memory_pages_free() accepts NULL */
struct memory_pages *memory_pages_new(void);
void memory_pages_free(struct memory_pages *pages);

/* memory_pages_limit - returns only data that @right, which the caller keeps, allows: checked after each read */
void memory_pages_limit(struct memory_pages *pages, const struct right *right);

/*
 * memory_pages_begin - begins a round: switches to process @pid in its present state and drops the cache
 *
 * @used: of this process and purpose, kept by the caller until the next round begins; NULL: what is read will not be
 * read in another round.
 */
void memory_pages_begin(struct memory_pages *pages, pid_t pid, struct memory_pages_used *used);

/* memory_pages_read - reads @size bytes at @address; 0, or -EFAULT if a part is unreadable or absent (present_memory.h) */
int memory_pages_read(struct memory_pages *pages, uint64_t address, void *into, size_t size);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MEMORY_PAGES_H */
