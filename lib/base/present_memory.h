/* SPDX-License-Identifier: Apache-2.0 */
/*
 * present_memory.h - finds the memory of another process that can be read without side effects on it.
 *
 * A read of an absent page makes the page present in the process. It may take as long as the provider of the page likes
 * (userfaultfd(2), a file system in user space) and cannot be interrupted: one process could block a thread of the
 * daemon, and with it everyone whom that thread serves. So each read of a process' memory is preceded by this check. A
 * process can still remove a page between the check and the read, a window of microseconds.
 *
 * The answer comes from /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst), in one call for pages beside each
 * other; or from move_pages(2), which moves none here, in one call for pages anywhere.
 */
#ifndef PROFBPF_LIB_BASE_PRESENT_MEMORY_H
#define PROFBPF_LIB_BASE_PRESENT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct present_memory {
	pid_t pid; /* -1: none */
	bool opened;
	int pagemap; /* -1: unknown */
	uint64_t page_size;
};

/* present_memory_open - for the present memory of @pid; must be opened again after it has begun another program */
void present_memory_open(struct present_memory *memory, pid_t pid);
/* present_memory_name - the same for present_memory_each() and present_memory_all() only, which open it when they need to */
void present_memory_name(struct present_memory *memory, pid_t pid);
void present_memory_close(struct present_memory *memory);

/* present_memory_has - are all of the @size bytes at @address in memory, or in swap? */
bool present_memory_has(const struct present_memory *memory, uint64_t address, uint64_t size);

/*
 * present_memory_each - the same for each of @count pieces of @size bytes, in few calls: sets @present
 *
 * Piece i begins at @number[i] * @size and lies within one page; @number ascends.
 */
void present_memory_each(struct present_memory *memory, const uint64_t *number, size_t count, uint64_t size, bool *present);

/* present_memory_all - present_memory_has(), for few bytes */
bool present_memory_all(struct present_memory *memory, uint64_t address, uint64_t size);

/* present_memory_pages - marks the pages in memory among the @count pages from @address on; returns false if that is unknown */
bool present_memory_pages(const struct present_memory *memory, uint64_t address, size_t count, bool *present);

/*
 * present_memory_text - reads a process' "cmdline" or "environ" from its memory, with NULs
 *
 * Returns the number of bytes, at most @room; 0: the process is gone, has no such text, or its memory is absent.
 */
size_t present_memory_text(pid_t pid, const char *name, char *into, size_t room);

#endif /* PROFBPF_LIB_BASE_PRESENT_MEMORY_H */
