/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/interpreters/memory_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "lib/base/present_memory.h"

#define PAGE_BYTES 4096u /* the smallest page size; larger pages are present or absent as a whole */
#define SETS 64u /* of places in the cache, by the low bits of a page's number */
#define WAYS 4u /* pages in a set: of the two dozen pages that a stack needs, some have the same low bits */

struct page {
	uint64_t number; /* address / PAGE_BYTES */
	uint64_t round; /* round in which it was read; 0 = invalid */
	uint64_t asked_round; /* round in which it was last used */
	uint8_t bytes[PAGE_BYTES];
};

struct memory_pages {
	const struct right *right;
	struct present_memory present; /* of the current process */
	uint64_t round;
	struct memory_pages_used *used; /* of this round's purpose; NULL = none */
	struct page pages[SETS][WAYS];
	uint8_t next_way[SETS]; /* the place that is given up if all of a set are used in this round */
};

struct memory_pages *memory_pages_new(void)
{
	struct memory_pages *pages = calloc(1, sizeof(*pages));

	if (pages)
		present_memory_name(&pages->present, -1);
	return pages;
}

void memory_pages_free(struct memory_pages *pages)
{
	if (pages)
		present_memory_close(&pages->present);
	free(pages);
}

void memory_pages_limit(struct memory_pages *pages, const struct right *right)
{
	pages->right = right;
}

/* Returns the page if it was read in this round, else NULL. */
static struct page *find_page(struct memory_pages *pages, uint64_t number)
{
	struct page *set = pages->pages[number % SETS];

	for (unsigned int i = 0; i < WAYS; i++)
		if (set[i].number == number && set[i].round == pages->round)
			return &set[i];
	return NULL;
}

/* Returns a place that is not used in this round; NULL: there is none. */
static struct page *free_place(struct memory_pages *pages, uint64_t number)
{
	struct page *set = pages->pages[number % SETS];

	for (unsigned int i = 0; i < WAYS; i++)
		if (set[i].round != pages->round && set[i].asked_round != pages->round)
			return &set[i];
	return NULL;
}

static struct page *place_of(struct memory_pages *pages, uint64_t number)
{
	struct page *place = free_place(pages, number);

	return place ? place : &pages->pages[number % SETS][pages->next_way[number % SETS]++ % WAYS];
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A page that was given up and read again is in the list twice. */
static void sort_numbers(struct memory_pages_used *used)
{
	size_t count = 0;

	qsort(used->number, used->count, sizeof(used->number[0]), by_number);
	for (size_t i = 0; i < used->count; i++)
		if (!count || used->number[i] != used->number[count - 1])
			used->number[count++] = used->number[i];
	used->count = count;
}

/* Reads the pages of the purpose's last round, most of which are used again: one system call costs less than one for each. */
static void read_again(struct memory_pages *pages)
{
	struct iovec local[MEMORY_PAGES_AGAIN], remote[MEMORY_PAGES_AGAIN];
	struct page *read[MEMORY_PAGES_AGAIN];
	bool present[MEMORY_PAGES_AGAIN];
	struct memory_pages_used *used = pages->used;
	size_t count = 0;
	ssize_t n;

	sort_numbers(used);
	present_memory_each(&pages->present, used->number, used->count, PAGE_BYTES, present);
	for (size_t i = 0; i < used->count; i++) {
		struct page *page = present[i] ? free_place(pages, used->number[i]) : NULL;

		/* More pages than a set has places are read when they are used. */
		if (!page)
			continue;
		page->number = used->number[i];
		page->round = 0;
		page->asked_round = pages->round;
		local[count] = (struct iovec){ page->bytes, PAGE_BYTES };
		remote[count] = (struct iovec){ (void *)(uintptr_t)(page->number * PAGE_BYTES), PAGE_BYTES };
		read[count++] = page;
	}
	n = process_vm_readv(pages->present.pid, local, count, remote, count, 0);
	if (n > 0 && !right_holds(pages->right, pages->present.pid))
		n = 0;
	/* The call stops at the first page that is not there any more. */
	for (size_t i = 0; i < count; i++) {
		read[i]->round = n > 0 && i < (size_t)n / PAGE_BYTES ? pages->round : 0;
		read[i]->asked_round = 0;
	}
}

void memory_pages_begin(struct memory_pages *pages, pid_t pid, struct memory_pages_used *used)
{
	pages->round++;
	pages->used = used;
	/*
	 * What was opened is not used again, because the process may run another program by now: the old descriptor could
	 * still refer to the previous program's memory if another process shares it.
	 */
	present_memory_close(&pages->present);
	present_memory_name(&pages->present, pid);
	if (!used)
		return;
	if (used->count)
		read_again(pages);
	used->count = 0;
}

static void asked_for(struct memory_pages *pages, struct page *page)
{
	struct memory_pages_used *used = pages->used;

	if (!used || page->asked_round == pages->round || used->count == MEMORY_PAGES_AGAIN)
		return;
	page->asked_round = pages->round;
	used->number[used->count++] = page->number;
}

static int read_at(struct memory_pages *pages, uint64_t address, void *into, size_t size)
{
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };
	pid_t pid = pages->present.pid;
	ssize_t n;

	if (size && !present_memory_all(&pages->present, address, size))
		return -EFAULT;
	n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	return n >= 0 && (size_t)n == size && right_holds(pages->right, pid) ? 0 : -EFAULT;
}

int memory_pages_read(struct memory_pages *pages, uint64_t address, void *into, size_t size)
{
	uint64_t number = address / PAGE_BYTES, at = address % PAGE_BYTES;
	struct page *page;

	if (at + size > PAGE_BYTES || size > PAGE_BYTES)
		return read_at(pages, address, into, size);
	page = find_page(pages, number);
	if (!page) {
		page = place_of(pages, number);
		page->round = page->asked_round = 0;
		if (read_at(pages, number * PAGE_BYTES, page->bytes, PAGE_BYTES))
			return -EFAULT;
		page->number = number;
		page->round = pages->round;
	}
	asked_for(pages, page);
	memcpy(into, page->bytes + at, size);
	return 0;
}
