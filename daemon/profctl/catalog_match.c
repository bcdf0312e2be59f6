/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/catalog_match.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/process_check.h"
#include "daemon/profctl/message.h"
#include "lib/elf_file.h"
#include "lib/process_maps.h"

static void *wanted(void *context, const char *name, size_t length)
{
	return (void *)catalog_match(context, name, length);
}

static const struct catalog *catalog_of(const struct elf_symbol *symbol)
{
	return ((const struct catalog_function *)symbol->match)->catalog;
}

/* A line for each runtime that the file has functions of; returns how many functions. */
static size_t print_runtimes(const struct catalogs *catalogs, const struct elf_symbols *found,
			     const char *path)
{
	char safe[4096];

	for (size_t i = 0; i < catalogs_count(catalogs); i++) {
		const struct catalog *catalog = catalogs_get(catalogs, i);
		size_t count = 0;

		for (size_t k = 0; k < found->count; k++)
			count += catalog_of(&found->symbol[k]) == catalog;
		if (count)
			printf("%-16s %9zu  %s\n", catalog->runtime, count,
			       printable(path, safe, sizeof(safe)));
	}
	return found->count;
}

static size_t match_map(const struct catalogs *catalogs, pid_t pid, const struct process_map *map)
{
	int fd = process_map_open(pid, map);
	struct elf_symbols found;
	struct elf_file *file;
	size_t count = 0;
	char error[512];

	if (fd < 0) {
		message("%s: %s", map->path, strerror(-fd));
		return 0;
	}
	/* Mapped files that are no ELF (fonts, data) are of no interest. */
	file = elf_file_open_fd(fd, map->path, error, sizeof(error));
	close(fd);
	if (!file)
		return 0;
	if (elf_file_find(file, wanted, (void *)catalogs, &found))
		message("%s: %s", map->path, elf_file_error(file));
	count = print_runtimes(catalogs, &found, map->path);
	elf_symbols_free(&found);
	elf_file_close(file);
	return count;
}

int catalog_match_process(const struct catalogs *catalogs, pid_t pid)
{
	struct process_facts facts;
	struct process_maps maps;
	size_t count = 0;
	char error[512];
	int err = process_check(pid, process_facts_read(pid, &facts), &facts, error, sizeof(error));

	if (err) {
		message("%s", error);
		return err;
	}
	err = process_maps_read(pid, &maps);
	if (err) {
		message("cannot read what process %d (%s) has mapped: %s%s", (int)pid, facts.name,
			strerror(-err), err == -EACCES ? "; only root and its owner may" : "");
		return err;
	}
	printf("%-16s %9s  %s\n", "RUNTIME", "FUNCTIONS", "FILE");
	for (size_t i = 0; i < maps.count; i++)
		count += match_map(catalogs, pid, &maps.map[i]);
	process_maps_free(&maps);
	if (!count)
		message("process %d (%s) has no known runtime function mapped now; libraries "
			"loaded "
			"later are traced when they are",
			(int)pid, facts.name);
	return 0;
}

int catalog_match_file(const struct catalogs *catalogs, const char *path)
{
	struct elf_symbols found;
	struct elf_file *file;
	char error[512];
	int err;

	file = elf_file_open(path, error, sizeof(error));
	if (!file) {
		message("%s", error);
		return -ENOEXEC;
	}
	err = elf_file_find(file, wanted, (void *)catalogs, &found);
	if (err)
		message("%s: %s", path, elf_file_error(file));
	for (size_t i = 0; i < found.count; i++) {
		const struct catalog_function *f = found.symbol[i].match;

		printf("%s: %s %s, layer %u, %s:%u\n", found.symbol[i].name, f->catalog->runtime,
		       catalog_kind_name(f->kind), f->layer, f->catalog->name, f->line);
	}
	if (!found.count && !err)
		message("%s: %s", path,
			elf_file_has_symbols(file) ? "no known runtime function"
						   : "it has no symbols to look functions up in");
	elf_symbols_free(&found);
	elf_file_close(file);
	return err;
}
