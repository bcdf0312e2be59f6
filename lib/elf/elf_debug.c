/* SPDX-License-Identifier: Apache-2.0 */
/* elf_debug.c - symbols of stripped files, which distributions put into files of their own. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/elf/elf_private.h"

#define CHECKED_MAX (1ull << 30) /* the largest file whose checksum is computed, in bytes */
#define CHECKED_AT_ONCE (1u << 20)

static bool has_its_build_id(const struct elf_file *file, const struct elf_file *debug)
{
	return debug->build_id_size == file->build_id_size &&
	       !memcmp(debug->build_id, file->build_id, file->build_id_size);
}

static bool has_its_checksum(const struct elf_file *file, const struct elf_file *debug)
{
	uint8_t *bytes = malloc(CHECKED_AT_ONCE);
	uLong sum = crc32(0, NULL, 0);
	uint64_t done = 0;
	ssize_t n = -1;

	if (bytes && (uint64_t)debug->stat.st_size <= CHECKED_MAX)
		while ((n = elf_file_read(debug, done, bytes, CHECKED_AT_ONCE)) > 0) {
			sum = crc32(sum, bytes, (uInt)n);
			done += (uint64_t)n;
		}
	free(bytes);
	return !n && sum == file->debug_crc;
}

static struct elf_file *open_debug(const struct elf_file *file, const char *path)
{
	char error[256];
	struct elf_file *debug = elf_file_open(path, error, sizeof(error));

	if (!debug || (debug->symtab.present && debug->machine == file->machine))
		return debug;
	elf_file_close(debug);
	return NULL;
}

static struct elf_file *find_by_build_id(const struct elf_file *file, const char *root)
{
	char path[PATH_MAX], id[2 * ELF_FILE_BUILD_ID_MAX + 1] = "";
	struct elf_file *debug;

	if (file->build_id_size < 2)
		return NULL;
	for (size_t i = 0; i < file->build_id_size; i++)
		snprintf(id + 2 * i, 3, "%02x", file->build_id[i]);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root, id, id + 2);
	debug = open_debug(file, path);
	if (!debug || has_its_build_id(file, debug))
		return debug;
	elf_file_close(debug);
	return NULL;
}

/* The author of the file chose the name, and perhaps the path: neither may lead out of @root. */
static struct elf_file *find_by_link(const struct elf_file *file, const char *root)
{
	const char *slash = strrchr(file->name, '/');
	char path[PATH_MAX];
	struct elf_file *debug;

	if (!file->debug_link || strchr(file->debug_link, '/') || file->name[0] != '/' ||
	    strstr(file->name, "/../") ||
	    snprintf(path, sizeof(path), "%s%.*s/%s", root, (int)(slash - file->name), file->name,
		     file->debug_link) >= (int)sizeof(path))
		return NULL;
	debug = open_debug(file, path);
	if (!debug || has_its_checksum(file, debug))
		return debug;
	elf_file_close(debug);
	return NULL;
}

bool elf_file_add_debug(struct elf_file *file, const char *root)
{
	if (file->symtab.present)
		return false;
	if (!file->debug)
		file->debug = find_by_build_id(file, root);
	if (!file->debug)
		file->debug = find_by_link(file, root);
	return file->debug;
}
