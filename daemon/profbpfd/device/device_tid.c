/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/device/device_tid.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RESCAN_NS 20000000ull
#define TIDS_MAX 65536 /* cached threads, including ended ones */

struct device_tids {
	pid_t pid;
	uint64_t next_scan_ns;
	struct device_tid *list; /* sorted by inner */
	size_t count, room;
};

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

int device_tid_read(pid_t pid, pid_t tid, struct device_tid *out)
{
	char path[64], *line = NULL, *rest, *word;
	int result = -ENODATA;
	size_t size = 0, ids = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	status = fopen(path, "re");
	if (!status)
		return errno == ENOENT ? -ESRCH : -errno;
	while (result < 0 && getline(&line, &size, status) > 0) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		for (rest = line + 6; (word = strsep(&rest, " \t\n"));) {
			if (!*word)
				continue;
			out->inner = (uint32_t)strtoul(word, NULL, 10);
			if (ids++ == 0)
				out->outer = out->inner;
		}
		out->foreign = ids > 1;
		result = ids > 0 ? 0 : -ESRCH;
	}
	if (result < 0 && ferror(status))
		result = -ESRCH;
	free(line);
	fclose(status);
	return result;
}

static int compare(const void *a, const void *b)
{
	uint32_t left = ((const struct device_tid *)a)->inner;
	uint32_t right = ((const struct device_tid *)b)->inner;

	return left < right ? -1 : left > right;
}

static struct device_tid *lookup(const struct device_tids *tids, uint32_t inner, size_t count)
{
	struct device_tid key = { .inner = inner };

	return count ? bsearch(&key, tids->list, count, sizeof(key), compare) : NULL;
}

static int append(struct device_tids *tids, const struct device_tid *tid)
{
	size_t room = tids->room ? tids->room * 2 : 64;
	struct device_tid *list;

	if (tids->count == tids->room) {
		list = room > TIDS_MAX ? NULL : realloc(tids->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		tids->list = list;
		tids->room = room;
	}
	tids->list[tids->count++] = *tid;
	return 0;
}

/* Adds new threads and returns the time that it took; a reused id then means the new thread. */
static uint64_t scan(struct device_tids *tids)
{
	uint64_t began = monotonic_ns();
	size_t sorted = tids->count;
	struct device_tid tid, *known;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)tids->pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    device_tid_read(tids->pid, atoi(entry->d_name), &tid) < 0)
			continue;
		known = lookup(tids, tid.inner, sorted);
		if (known)
			*known = tid;
		else if (append(tids, &tid) < 0)
			break;
	}
	closedir(dir);
	if (tids->count)
		qsort(tids->list, tids->count, sizeof(*tids->list), compare);
	return monotonic_ns() - began;
}

/* Limits the cost of a process that has many threads, or invents ids. */
static uint64_t pause_after(uint64_t scan_ns)
{
	return scan_ns * 10 > RESCAN_NS ? scan_ns * 10 : RESCAN_NS;
}

struct device_tids *device_tids_new(pid_t pid)
{
	struct device_tids *tids = calloc(1, sizeof(*tids));

	if (!tids)
		return NULL;
	tids->pid = pid;
	scan(tids);
	return tids;
}

void device_tids_free(struct device_tids *tids)
{
	if (!tids)
		return;
	free(tids->list);
	free(tids);
}

uint32_t device_tids_find(struct device_tids *tids, uint32_t inner, uint64_t now_ns)
{
	struct device_tid *found = lookup(tids, inner, tids->count);

	if (!found && now_ns >= tids->next_scan_ns) {
		tids->next_scan_ns = now_ns + pause_after(scan(tids));
		found = lookup(tids, inner, tids->count);
	}
	return found ? found->outer : 0;
}
