/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/hinted_libraries.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/present_memory.h"
#include "lib/elf/library_search.h"

#define ENVIRON_MAX (1u << 20) /* bytes of an environment that are searched */

/* A process can set any address and size for its environment: at most ENVIRON_MAX bytes are read. */
char *hinted_libraries_path(pid_t pid)
{
	static const char name[] = "LD_LIBRARY_PATH=";
	char *text = malloc(ENVIRON_MAX), *entry = NULL;
	size_t size = text ? present_memory_text(pid, "environ", text, ENVIRON_MAX) : 0;

	for (size_t at = 0; at < size && !entry;) {
		size_t length = strnlen(text + at, size - at);

		/* An entry without a terminator was cut off. */
		if (at + length < size && !strncmp(text + at, name, sizeof(name) - 1))
			entry = strdup(text + at + sizeof(name) - 1);
		at += length + 1;
	}
	free(text);
	return entry;
}

static const char **collect_globs(const struct catalogs *catalogs, size_t *count)
{
	const char **globs = NULL;

	*count = 0;
	for (size_t i = 0; i < catalogs_count(catalogs); i++)
		*count += catalogs_get(catalogs, i)->library_count;
	globs = calloc(*count + 1, sizeof(*globs));
	*count = 0;
	for (size_t i = 0; globs && i < catalogs_count(catalogs); i++) {
		const struct catalog *c = catalogs_get(catalogs, i);

		for (size_t k = 0; k < c->library_count; k++)
			globs[(*count)++] = c->libraries[k];
	}
	return globs;
}

void hinted_libraries_each(const struct catalogs *catalogs, pid_t pid,
			   void (*each)(void *context, int fd), void *context)
{
	struct library_files found = { 0 };
	size_t count;
	const char **globs = collect_globs(catalogs, &count);
	char *search = hinted_libraries_path(pid), root[64];
	int root_fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (globs && root_fd >= 0 && !library_search(root_fd, search, globs, count, &found)) {
		for (size_t i = 0; i < found.count; i++) {
			int fd = library_open(root_fd, &found.file[i]);

			if (fd >= 0) {
				each(context, fd);
				close(fd);
			}
		}
		library_files_free(&found);
	}
	if (root_fd >= 0)
		close(root_fd);
	free(search);
	free(globs);
}
