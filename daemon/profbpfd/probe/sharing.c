/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/sharing.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/bisect.h"
#include "lib/elf/process_maps.h"

struct mapping {
	uint64_t inode;
	uint32_t dev;
	pid_t pid;
};

struct sharing {
	struct mapping *mappings; /* sorted by (dev, inode) */
	size_t count;
	size_t capacity;
};

static int compare(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static int add(struct sharing *s, const struct process_map *map, pid_t pid)
{
	if (s->count == s->capacity) {
		size_t capacity = s->capacity ? 2 * s->capacity : 4096;
		struct mapping *grown = realloc(s->mappings, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->mappings = grown;
		s->capacity = capacity;
	}
	s->mappings[s->count++] =
		(struct mapping){ .inode = map->inode, .dev = map->dev, .pid = pid };
	return 0;
}

static int add_process(struct sharing *s, pid_t pid)
{
	struct process_maps maps;
	int err = 0;

	if (process_maps_read(pid, &maps))
		return 0; /* it has ended, or cannot be read */
	for (size_t i = 0; i < maps.count && !err; i++)
		err = add(s, &maps.map[i], pid);
	process_maps_free(&maps);
	return err;
}

struct sharing *sharing_new(void)
{
	struct sharing *s = calloc(1, sizeof(*s));
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = s && proc ? 0 : -ENOMEM;

	while (!err && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) && atoi(entry->d_name) != getpid())
			err = add_process(s, atoi(entry->d_name));
	if (proc)
		closedir(proc);
	if (err) {
		sharing_free(s);
		return NULL;
	}
	qsort(s->mappings, s->count, sizeof(*s->mappings), compare);
	return s;
}

void sharing_free(struct sharing *s)
{
	if (!s)
		return;
	free(s->mappings);
	free(s);
}

void sharing_count(const struct sharing *s, uint32_t dev, uint64_t inode,
		   bool (*ours)(void *context, pid_t pid), void *context, struct sharers *count)
{
	const struct mapping key = { .dev = dev, .inode = inode };
	size_t at = BISECT(i, 0, s->count, compare(&s->mappings[i], &key) < 0);

	*count = (struct sharers){ 0 };
	for (; at < s->count && !compare(&s->mappings[at], &key); at++) {
		if (ours(context, s->mappings[at].pid))
			count->ours++;
		else
			count->strangers++;
	}
}
