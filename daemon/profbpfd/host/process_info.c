/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/process_info.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bisect.h"
#include "lib/base/map.h"
#include "lib/base/present_memory.h"

char *process_cmdline(pid_t pid)
{
	char *text = malloc(PROCESS_CMDLINE_MAX);
	size_t n = text ? present_memory_text(pid, "cmdline", text, PROCESS_CMDLINE_MAX - 1) : 0;

	while (n > 0 && !text[n - 1])
		n--;
	if (!n) {
		free(text);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = '\0';
	return text;
}

char *process_exe(pid_t pid)
{
	char path[64], target[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, target, sizeof(target) - 1);
	return n > 0 ? strndup(target, n) : NULL;
}

/* Returns the parent of a process, 0 if it is gone. The name in stat may contain any bytes; it ends at the last ')'. */
static pid_t parent_of(pid_t pid)
{
	char path[64], text[512], *p;
	int fd, parent = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strrchr(text, ')');
	return p && sscanf(p + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

struct family {
	pid_t pid, parent;
};

static int read_families(struct family **families, size_t *count)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t capacity = 0;

	if (!proc)
		return -errno;
	while ((entry = readdir(proc))) {
		struct family *grown;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (*count == capacity) {
			capacity = capacity ? 2 * capacity : 256;
			grown = realloc(*families, capacity * sizeof(*grown));
			if (!grown) {
				closedir(proc);
				return -ENOMEM;
			}
			*families = grown;
		}
		(*families)[(*count)++] = (struct family){ .pid = atoi(entry->d_name) };
	}
	closedir(proc);
	for (size_t i = 0; i < *count; i++)
		(*families)[i].parent = parent_of((*families)[i].pid);
	return 0;
}

static int append(pid_t **pids, size_t *count, pid_t pid)
{
	pid_t *grown = realloc(*pids, (*count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*pids = grown;
	grown[(*count)++] = pid;
	return 0;
}

static int by_parent(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	return (x->parent > y->parent) - (x->parent < y->parent);
}

/* Each child has one parent, so it is appended once; children in @there are in the list already. */
static int append_children(pid_t **pids, size_t *count, pid_t parent, struct family *families,
			   size_t families_count, const struct map *there)
{
	size_t at = BISECT(i, 0, families_count, families[i].parent < parent);
	int err = 0;

	for (; at < families_count && families[at].parent == parent && !err; at++)
		if (map_get(there, (uint64_t)families[at].pid) == MAP_NONE)
			err = append(pids, count, families[at].pid);
	return err;
}

int process_descendants(pid_t **pids, size_t *count)
{
	struct family *families = NULL;
	size_t families_count = 0;
	struct map there = { 0 };
	int err = read_families(&families, &families_count);

	for (size_t i = 0; i < *count && !err; i++)
		if (!map_put(&there, (uint64_t)(*pids)[i], 0))
			err = -ENOMEM;
	if (!err && families_count)
		qsort(families, families_count, sizeof(*families), by_parent);
	/* The loop also visits appended entries, and appends their children. */
	for (size_t i = 0; i < *count && !err; i++)
		err = append_children(pids, count, (*pids)[i], families, families_count, &there);
	map_free(&there);
	free(families);
	return err;
}

int process_all(pid_t **pids, size_t *count)
{
	struct family *families = NULL;
	size_t families_count = 0;
	int err = read_families(&families, &families_count);

	for (size_t i = 0; i < families_count && !err; i++)
		if (families[i].pid != getpid())
			err = append(pids, count, families[i].pid);
	free(families);
	return err;
}
