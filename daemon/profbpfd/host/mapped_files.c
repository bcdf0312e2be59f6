/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/mapped_files.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAPPINGS_MAX 256
#define MAPPING_AGE_NS 1000000000ull

struct mapping {
	uint64_t start, end;
	uint64_t offset;
	uint64_t read_ns;	/* 0 = not in use */
	char *path;		/* NULL = no file */
	pid_t pid;
};

struct mapped_files {
	const struct right *right;
	struct mapping mapping[MAPPINGS_MAX];
	unsigned int next;	/* index of the next entry to replace */
	unsigned int last;	/* index of the last found entry */
};

struct mapped_files *mapped_files_new(void)
{
	return calloc(1, sizeof(struct mapped_files));
}

void mapped_files_limit(struct mapped_files *files, const struct right *right)
{
	files->right = right;
}

void mapped_files_free(struct mapped_files *files)
{
	for (int i = 0; files && i < MAPPINGS_MAX; i++)
		free(files->mapping[i].path);
	free(files);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Parses a line such as "7f00-7f10 r-xp 00001000 fe:00 123   /usr/lib/x.so". */
static bool parse(const char *line, uint64_t address, struct mapping *m)
{
	const char *path = strchr(line, '/');

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &m->start, &m->end, &m->offset) !=
		    3 ||
	    address < m->start || address >= m->end)
		return false;
	m->path = path ? strndup(path, strcspn(path, "\n")) : NULL;
	return true;
}

/* Also caches the result that nothing is mapped any more. */
static void read_mapping(pid_t pid, uint64_t address, struct mapping *m)
{
	char name[32], *line = NULL;
	size_t capacity = 0;
	bool found = false;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	while (f && !found && getline(&line, &capacity, f) > 0)
		found = parse(line, address, m);
	if (!found)
		*m = (struct mapping){ .start = address, .end = address + 1 };
	m->pid = pid;
	m->read_ns = now_ns();
	free(line);
	if (f)
		fclose(f);
}

static bool fits(const struct mapping *m, pid_t pid, uint64_t address, uint64_t now)
{
	return m->read_ns && m->pid == pid && address >= m->start && address < m->end &&
	       now - m->read_ns < MAPPING_AGE_NS;
}

static struct mapping *find(struct mapped_files *files, pid_t pid, uint64_t address)
{
	uint64_t now = now_ns();
	struct mapping *m;

	if (fits(&files->mapping[files->last], pid, address, now))
		return &files->mapping[files->last];
	for (unsigned int i = 0; i < MAPPINGS_MAX; i++) {
		if (fits(&files->mapping[i], pid, address, now)) {
			files->last = i;
			return &files->mapping[i];
		}
	}
	m = &files->mapping[files->next];
	free(m->path);
	*m = (struct mapping){ 0 };
	read_mapping(pid, address, m);
	if (!right_holds(files->right, pid)) {
		free(m->path);
		m->path = NULL;
	}
	files->last = files->next;
	files->next = (files->next + 1) % MAPPINGS_MAX;
	return m;
}

const char *mapped_files_find(struct mapped_files *files, pid_t pid, uint64_t address,
			      uint64_t *offset)
{
	const struct mapping *m = find(files, pid, address);

	*offset = m->path ? address - m->start + m->offset : 0;
	return m->path ? m->path : "";
}
