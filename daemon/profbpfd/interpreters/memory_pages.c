/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/interpreters/memory_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define PAGE_BYTES 4096u /* the smallest that there are: parts of larger ones are all there or not at all */
#define PAGES 256u
#define READ_AGAIN 64 /* pages that are read at once when a round begins */

struct page {
	uint64_t number; /* address / PAGE_BYTES */
	uint64_t round; /* of which it is; 0 = none */
	uint64_t asked_round; /* in which it was asked for last */
	uint8_t bytes[PAGE_BYTES];
};

struct memory_pages {
	const struct right *right;
	pid_t pid;
	uint64_t round;
	struct page *asked[READ_AGAIN]; /* the first of this round */
	size_t asked_count;
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

void memory_pages_limit(struct memory_pages *pages, const struct right *right)
{
	pages->right = right;
}

/* What was asked for last time mostly is again, and one system call for all costs less than one each. */
static void read_again(struct memory_pages *pages)
{
	struct iovec local[READ_AGAIN], remote[READ_AGAIN];
	ssize_t n;

	for (size_t i = 0; i < pages->asked_count; i++) {
		struct page *page = pages->asked[i];

		page->round = 0;
		local[i] = (struct iovec){ page->bytes, PAGE_BYTES };
		remote[i] = (struct iovec){ (void *)(uintptr_t)(page->number * PAGE_BYTES),
					    PAGE_BYTES };
	}
	n = process_vm_readv(pages->pid, local, pages->asked_count, remote, pages->asked_count, 0);
	if (n > 0 && !right_holds(pages->right, pages->pid))
		return;
	/* It ends at the first that is not there any more. */
	for (size_t i = 0; n > 0 && i < (size_t)n / PAGE_BYTES; i++)
		pages->asked[i]->round = pages->round;
}

void memory_pages_begin(struct memory_pages *pages, pid_t pid)
{
	pages->round++;
	if (pages->pid == pid && pages->asked_count)
		read_again(pages);
	pages->pid = pid;
	pages->asked_count = 0;
}

static void asked_for(struct memory_pages *pages, struct page *page)
{
	if (page->asked_round == pages->round || pages->asked_count == READ_AGAIN)
		return;
	page->asked_round = pages->round;
	pages->asked[pages->asked_count++] = page;
}

static int read_at(const struct memory_pages *pages, uint64_t address, void *into, size_t size)
{
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t n = process_vm_readv(pages->pid, &local, 1, &remote, 1, 0);

	return n >= 0 && (size_t)n == size && right_holds(pages->right, pages->pid) ? 0 : -EFAULT;
}

int memory_pages_read(struct memory_pages *pages, uint64_t address, void *into, size_t size)
{
	uint64_t number = address / PAGE_BYTES, at = address % PAGE_BYTES;
	struct page *page = &pages->pages[number % PAGES];

	if (at + size > PAGE_BYTES || size > PAGE_BYTES)
		return read_at(pages, address, into, size);
	if (page->number != number || page->round != pages->round) {
		page->round = 0;
		if (read_at(pages, number * PAGE_BYTES, page->bytes, PAGE_BYTES))
			return -EFAULT;
		page->number = number;
		page->round = pages->round;
	}
	asked_for(pages, page);
	memcpy(into, page->bytes + at, size);
	return 0;
}
