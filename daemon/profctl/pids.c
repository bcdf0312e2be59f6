/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/pids.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 40 /* characters shown of a word that is no process id */
#define SEPARATORS ", \t\r\n" /* in files */

static int no_memory(char *error, size_t error_size)
{
	snprintf(error, error_size, "out of memory");
	return -ENOMEM;
}

int pids_append(struct pids *pids, uint32_t pid)
{
	if (map_get(&pids->there, pid) != MAP_NONE)
		return 0;
	if (pids->count == pids->capacity) {
		size_t capacity = pids->capacity ? 2 * pids->capacity : 64;
		uint32_t *larger = reallocarray(pids->pid, capacity, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		pids->pid = larger;
		pids->capacity = capacity;
	}
	if (!map_put(&pids->there, pid, (uint32_t)pids->count))
		return -ENOMEM;
	pids->pid[pids->count++] = pid;
	return 0;
}

/* @where: the start of an error message */
static int add_one(struct pids *pids, const char *text, size_t length, const char *where,
		   char *error, size_t error_size)
{
	char *end;
	long pid;

	errno = 0;
	pid = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
	if (pid <= 0 || errno || pid > INT_MAX || end != text + length) {
		snprintf(error, error_size, "%s'%.*s' is not a process id", where,
			 (int)(length < SHOWN_MAX ? length : SHOWN_MAX), text);
		return -EINVAL;
	}
	return pids_append(pids, (uint32_t)pid) ? no_memory(error, error_size) : 0;
}

static int add_list(struct pids *pids, const char *text, char *error, size_t error_size)
{
	int err;

	for (const char *p = text;; p++) {
		size_t length = strcspn(p, ",");

		err = add_one(pids, p, length, "", error, error_size);
		p += length;
		if (err || !*p)
			return err;
	}
}

static int add_lines(struct pids *pids, FILE *file, const char *name, char *error,
		     size_t error_size)
{
	size_t found = 0;
	char *line = NULL, where[PATH_MAX + 32];
	unsigned int number = 0;
	size_t capacity = 0;
	ssize_t size = 0;
	int err = 0;

	while (!err && (size = getline(&line, &capacity, file)) >= 0) {
		snprintf(where, sizeof(where), "%s:%u: ", name, ++number);
		for (char *p = line + strspn(line, SEPARATORS); !err && p < line + size;) {
			size_t length = strcspn(p, SEPARATORS);

			err = add_one(pids, p, length, where, error, error_size);
			found++;
			p += length + strspn(p + length, SEPARATORS);
		}
	}
	if (!err && ferror(file)) {
		err = -errno;
		snprintf(error, error_size, "%s: %s", name, strerror(errno));
	} else if (!err && !found) {
		err = -EINVAL;
		snprintf(error, error_size, "%s contains no process id", name);
	}
	free(line);
	return err;
}

static int add_file(struct pids *pids, const char *name, char *error, size_t error_size)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	int err;

	if (!file) {
		err = -errno;
		snprintf(error, error_size, "%s: %s", name, strerror(errno));
		return err;
	}
	err = add_lines(pids, file, file == stdin ? "standard input" : name, error, error_size);
	if (file != stdin)
		fclose(file);
	return err;
}

int pids_add(struct pids *pids, const char *text, char *error, size_t error_size)
{
	return *text == '@' ? add_file(pids, text + 1, error, error_size)
			    : add_list(pids, text, error, error_size);
}

void pids_free(struct pids *pids)
{
	free(pids->pid);
	map_free(&pids->there);
	memset(pids, 0, sizeof(*pids));
}
