/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/present_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IN_MEMORY (1ull << 63)
#define IN_SWAP (1ull << 62)
#define IS_WATCHED (1ull << 57) /* write-protected by userfaultfd(2); with IN_SWAP it may mark a page that never was */
#define WORDS 64 /* words per read */

static void open_pagemap(struct present_memory *memory)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)memory->pid);
	memory->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	memory->opened = true;
}

void present_memory_name(struct present_memory *memory, pid_t pid)
{
	*memory = (struct present_memory){ .pid = pid, .pagemap = -1, .page_size = (uint64_t)sysconf(_SC_PAGESIZE) };
}

void present_memory_open(struct present_memory *memory, pid_t pid)
{
	present_memory_name(memory, pid);
	open_pagemap(memory);
}

void present_memory_close(struct present_memory *memory)
{
	if (memory->pagemap >= 0)
		close(memory->pagemap);
	memory->pagemap = -1;
	memory->pid = -1;
	memory->opened = true;
}

/* Reads @count words, at most WORDS. */
static bool read_words(const struct present_memory *memory, uint64_t page, size_t count, uint64_t *word)
{
	size_t size = count * sizeof(*word);

	return memory->pagemap >= 0 &&
	       pread(memory->pagemap, word, size, (off_t)(page * sizeof(*word))) == (ssize_t)size;
}

static bool is_present(uint64_t word)
{
	return word & IN_MEMORY || (word & IN_SWAP && !(word & IS_WATCHED));
}

bool present_memory_has(const struct present_memory *memory, uint64_t address, uint64_t size)
{
	uint64_t word[WORDS], page = address / memory->page_size, last;

	if (!size || address + size < address)
		return false;
	last = (address + size - 1) / memory->page_size;
	while (page <= last) {
		size_t count = last - page + 1 < WORDS ? (size_t)(last - page + 1) : WORDS;

		if (!read_words(memory, page, count, word))
			return false;
		for (size_t i = 0; i < count; i++)
			if (!is_present(word[i]))
				return false;
		page += count;
	}
	return true;
}

/*
 * Does a filter of system calls refuse move_pages(2)? The kernel never refuses the caller's own process; for others EPERM
 * may mean that one only. Asks nothing of any page.
 */
static bool is_filtered(void)
{
	static atomic_bool passed;

	if (atomic_load(&passed))
		return false;
	if (syscall(SYS_move_pages, 0L, 0UL, NULL, NULL, NULL, 0) && errno == EPERM)
		return true;
	atomic_store(&passed, true);
	return false;
}

/*
 * Asks where pages are that are to be moved nowhere: those in memory are on a node. Pages of which nothing is said may be
 * in swap, or the page of zeros. Returns whether all of them are in memory.
 */
static bool have_nodes(const struct present_memory *memory, void **page, size_t count)
{
	static atomic_bool refused; /* a kernel without nodes, a filter of system calls */
	int node[WORDS];
	bool all = true;

	if (memory->pid <= 0 || atomic_load(&refused))
		return false;
	if (syscall(SYS_move_pages, (long)memory->pid, count, page, NULL, node, 0)) {
		if (errno == ENOSYS || (errno == EPERM && is_filtered()))
			atomic_store(&refused, true);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		all &= node[i] >= 0;
	return all;
}

static bool are_there(const struct present_memory *memory, const uint64_t *number, size_t count, uint64_t size)
{
	void *page[WORDS];

	for (size_t first = 0, some; first < count; first += some) {
		some = count - first < WORDS ? count - first : WORDS;
		for (size_t i = 0; i < some; i++)
			page[i] = (void *)(uintptr_t)(number[first + i] * size);
		if (!have_nodes(memory, page, some))
			return false;
	}
	return true;
}

void present_memory_each(struct present_memory *memory, const uint64_t *number, size_t count, uint64_t size, bool *present)
{
	uint64_t word[WORDS];

	if (are_there(memory, number, count, size)) {
		memset(present, true, count);
		return;
	}
	if (!memory->opened)
		open_pagemap(memory);
	for (size_t first = 0, next; first < count; first = next) {
		uint64_t page = number[first] * size / memory->page_size, last = page;
		bool known;

		for (next = first; next < count; next++) {
			uint64_t other = number[next] * size / memory->page_size;

			if (other - page >= WORDS)
				break;
			last = other;
		}
		known = read_words(memory, page, (size_t)(last - page + 1), word);
		for (size_t i = first; i < next; i++)
			present[i] = known && is_present(word[number[i] * size / memory->page_size - page]);
	}
}

bool present_memory_all(struct present_memory *memory, uint64_t address, uint64_t size)
{
	uint64_t first = address / memory->page_size, last = (address + size - 1) / memory->page_size;
	void *page[WORDS];

	if (!size || address + size < address)
		return false;
	if (last - first < WORDS) {
		for (uint64_t i = first; i <= last; i++)
			page[i - first] = (void *)(uintptr_t)(i * memory->page_size);
		if (have_nodes(memory, page, (size_t)(last - first + 1)))
			return true;
	}
	if (!memory->opened)
		open_pagemap(memory);
	return present_memory_has(memory, address, size);
}

bool present_memory_pages(const struct present_memory *memory, uint64_t address, size_t count, bool *present)
{
	uint64_t word[WORDS], page = address / memory->page_size;

	for (size_t at = 0; at < count;) {
		size_t some = count - at < WORDS ? count - at : WORDS;

		if (!read_words(memory, page + at, some, word))
			return false;
		for (size_t i = 0; i < some; i++)
			present[at + i] = word[i] & IN_MEMORY;
		at += some;
	}
	return true;
}

/* ---- Arguments and environment */

/* Their addresses, from /proc/PID/stat (proc(5), fields 48 to 51); 0 if the reader lacks permission. */
struct text_places {
	uint64_t arguments, arguments_end, environment, environment_end;
};

static bool read_places(pid_t pid, struct text_places *places)
{
	char path[40], text[1024], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* The name, field 2, may contain any bytes, and ends at the last ')'. */
	p = strrchr(text, ')');
	if (p && !strncmp(p, ") Z", 3))
		return false; /* it has ended: there is no memory any more */
	for (int field = 2; p && field < 48; field++)
		p = strchr(p + 1, ' ');
	return p && sscanf(p, "%ju %ju %ju %ju", &places->arguments, &places->arguments_end, &places->environment,
			   &places->environment_end) == 4;
}

/* If a program has overwritten its arguments (setproctitle(3)), the kernel continues to read in the environment. */
static bool is_there(pid_t pid, const struct text_places *places, bool arguments, size_t room)
{
	uint64_t start = arguments ? places->arguments : places->environment, end = places->environment_end;
	struct present_memory memory;
	bool there;

	if (arguments && places->arguments_end > end)
		end = places->arguments_end;
	if (!start && !end)
		return true; /* no permission for the addresses: the reader's own user's, or cannot be read anyway */
	if (end <= start)
		return false;
	present_memory_open(&memory, pid);
	there = present_memory_has(&memory, start, end - start < room ? end - start : room);
	present_memory_close(&memory);
	return there;
}

size_t present_memory_text(pid_t pid, const char *name, char *into, size_t room)
{
	struct text_places places;
	char path[64];
	ssize_t n = 0;
	int fd;

	if (!read_places(pid, &places) || !is_there(pid, &places, !strcmp(name, "cmdline"), room))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* The kernel gives all that there is at once. */
	if (fd >= 0) {
		n = read(fd, into, room);
		close(fd);
	}
	return n > 0 ? (size_t)n : 0;
}
