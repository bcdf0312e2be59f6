/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_memory.h - reads the memory of another process that is present.
 *
 * Absent pages are not read, for the reason in present_memory.h.
 */
#ifndef PROFBPF_LIB_BASE_PROCESS_MEMORY_H
#define PROFBPF_LIB_BASE_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/present_memory.h"

struct process_memory {
	struct present_memory present;
	int content; /* /proc/PID/mem; -1: it cannot be read */
};

/* process_memory_open - for the program that @pid runs now; returns false if it cannot be read. Close it even then. */
bool process_memory_open(struct process_memory *memory, pid_t pid);
void process_memory_close(struct process_memory *memory);

/* process_memory_read - reads the @size bytes at @address; returns false if not all of them can be read */
bool process_memory_read(const struct process_memory *memory, uint64_t address, void *into, size_t size);

/* process_memory_some - reads up to @size bytes at @address, up to the first absent page; returns their number */
size_t process_memory_some(const struct process_memory *memory, uint64_t address, void *into, size_t size);

#endif /* PROFBPF_LIB_BASE_PROCESS_MEMORY_H */
