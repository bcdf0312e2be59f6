/* SPDX-License-Identifier: Apache-2.0 */
/*
 * present_memory.h - which memory of another process can be read without doing anything to it.
 *
 * To read a page that is not there makes one in the process. It may take as long as whoever fills the page likes
 * (userfaultfd(2), a file system in user space), and cannot be given up: one process would hold up a thread of the
 * daemon, and with it whoever else it works for. So what is read of processes is asked for here before. Between
 * question and reading a process can still take a page away: that is a window of microseconds.
 *
 * The answer is the kernel's, from /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
 */
#ifndef PROFBPF_LIB_BASE_PRESENT_MEMORY_H
#define PROFBPF_LIB_BASE_PRESENT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct present_memory {
	pid_t pid;
	int pagemap; /* -1: nothing is known */
	uint64_t page_size;
};

/* present_memory_open - the memory that @pid has now; to be opened again when it has begun another program */
void present_memory_open(struct present_memory *memory, pid_t pid);
void present_memory_close(struct present_memory *memory);

/* present_memory_has - all of the @size bytes at @address are in memory, or were written out to swap */
bool present_memory_has(const struct present_memory *memory, uint64_t address, uint64_t size);

/* present_memory_pages - which of the @count pages from @address on are in memory; false: that is not known */
bool present_memory_pages(const struct present_memory *memory, uint64_t address, size_t count, bool *present);

/*
 * present_memory_text - what the process says of itself, from its memory: its "cmdline" or "environ", with NULs
 *
 * Returns how many bytes, at most @room; 0: it is gone, has none, or it is not there.
 */
size_t present_memory_text(pid_t pid, const char *name, char *into, size_t room);

#endif /* PROFBPF_LIB_BASE_PRESENT_MEMORY_H */
