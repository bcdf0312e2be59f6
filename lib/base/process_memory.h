/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_memory.h - memory of another process, as far as it is there.
 *
 * What is not there is not read, for what present_memory.h says.
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

/* process_memory_open - of the program that @pid runs now; false: it cannot be read. To be closed in either case. */
bool process_memory_open(struct process_memory *memory, pid_t pid);
void process_memory_close(struct process_memory *memory);

/* process_memory_read - the @size bytes at @address, all or nothing */
bool process_memory_read(const struct process_memory *memory, uint64_t address, void *into, size_t size);

/* process_memory_some - up to @size bytes at @address, up to the first page that is not there; returns how many */
size_t process_memory_some(const struct process_memory *memory, uint64_t address, void *into, size_t size);

#endif /* PROFBPF_LIB_BASE_PROCESS_MEMORY_H */
