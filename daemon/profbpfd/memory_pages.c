/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/memory_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define PAGE_BYTES 4096u /* the smallest that there are: parts of larger ones are all there or not at all */
#define PAGES 256u

struct page {
	uint64_t number; /* address / PAGE_BYTES */
	uint64_t round; /* of which it is; 0 = none */
	uint8_t bytes[PAGE_BYTES];
};

struct memory_pages {
	pid_t pid;
	uint64_t round;
	struct page pages[PAGES];
};

struct memory_pages *memory_pages_new(void)
{
	return calloc(1, sizeof(struct memory_pages));
}

void memory_pages_free(struct memory_pages *pages)
{
	free(pages);
}

void memory_pages_begin(struct memory_pages *pages, pid_t pid)
{
	pages->pid = pid;
	pages->round++;
}

static int read_at(pid_t pid, uint64_t address, void *into, size_t size)
{
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return n >= 0 && (size_t)n == size ? 0 : -EFAULT;
}

int memory_pages_read(struct memory_pages *pages, uint64_t address, void *into, size_t size)
{
	uint64_t number = address / PAGE_BYTES, at = address % PAGE_BYTES;
	struct page *page = &pages->pages[number % PAGES];

	if (at + size > PAGE_BYTES || size > PAGE_BYTES)
		return read_at(pages->pid, address, into, size);
	if (page->number != number || page->round != pages->round) {
		page->round = 0;
		if (read_at(pages->pid, number * PAGE_BYTES, page->bytes, PAGE_BYTES))
			return -EFAULT;
		page->number = number;
		page->round = pages->round;
	}
	memcpy(into, page->bytes + at, size);
	return 0;
}
