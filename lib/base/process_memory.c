/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/process_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool process_memory_open(struct process_memory *memory, pid_t pid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	present_memory_open(&memory->present, pid);
	memory->content = open(path, O_RDONLY | O_CLOEXEC);
	return memory->content >= 0;
}

void process_memory_close(struct process_memory *memory)
{
	if (memory->content >= 0)
		close(memory->content);
	memory->content = -1;
	present_memory_close(&memory->present);
}

bool process_memory_read(const struct process_memory *memory, uint64_t address, void *into, size_t size)
{
	return memory->content >= 0 && present_memory_has(&memory->present, address, size) &&
	       pread(memory->content, into, size, (off_t)address) == (ssize_t)size;
}

size_t process_memory_some(const struct process_memory *memory, uint64_t address, void *into, size_t size)
{
	uint64_t page = memory->present.page_size;
	size_t done = 0;

	while (done < size) {
		uint64_t at = address + done, left = page - at % page;
		size_t part = size - done < left ? size - done : (size_t)left;
		ssize_t n = -1;

		if (at >= address && memory->content >= 0 && present_memory_has(&memory->present, at, part))
			n = pread(memory->content, (char *)into + done, part, (off_t)at);
		if (n > 0)
			done += (size_t)n;
		if (n < (ssize_t)part)
			break;
	}
	return done;
}
