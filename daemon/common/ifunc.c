/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/ifunc.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/loaded_library.h"

#if defined(__x86_64__)
#define RELOCATION_SLOT R_X86_64_JUMP_SLOT
#define RELOCATION_DATA R_X86_64_GLOB_DAT
#define RELOCATION_IFUNC R_X86_64_IRELATIVE
#else
#define RELOCATION_SLOT R_AARCH64_JUMP_SLOT
#define RELOCATION_DATA R_AARCH64_GLOB_DAT
#define RELOCATION_IFUNC R_AARCH64_IRELATIVE
#endif

#define RELOCATIONS_MAX (1u << 22) /* in all libraries of a process together */
#define RELOCATIONS_AT_ONCE 4096
#define TARGETS_MAX 4096

struct search {
	const struct probed_file *wanted;
	const struct process_map *provider;
	struct ifunc_target *targets;
	size_t count;
	uint64_t looked_at; /* number of relocations read */
	/* The library whose tables are read. */
	struct loaded_library library;
	bool is_provider;
};

/* Returns the value at @address of the library before the symbol is bound: the file's word, relocated; 0: none. */
static uint64_t unbound(const struct search *s, uint64_t address)
{
	uint64_t value;

	return loaded_original(&s->library, address, &value, sizeof(value)) && value ? s->library.base + value : 0;
}

static bool add_target(struct search *s, size_t refused, uint64_t offset)
{
	struct ifunc_target *grown;

	for (size_t i = 0; i < s->count; i++)
		if (s->targets[i].refused == refused && s->targets[i].offset == offset)
			return true;
	if (s->count == TARGETS_MAX)
		return true;
	grown = reallocarray(s->targets, s->count + 1, sizeof(*grown));
	if (!grown)
		return false;
	s->targets = grown;
	grown[s->count++] = (struct ifunc_target){ refused, offset };
	return true;
}

/* Adds the function in a table's slot for a refused symbol, if it was bound (so present) and is the provider's. */
static int take_slot(struct search *s, const Elf64_Rela *row, size_t refused)
{
	const struct process_map *map = s->provider;
	uint64_t value;

	if (!process_memory_read(s->library.memory, s->library.base + row->r_offset, &value, sizeof(value)))
		return 0;
	if (value < map->start || value >= map->end || value == unbound(s, row->r_offset))
		return 0;
	value = value - map->start + map->offset;
	if (value == s->wanted->refused[refused].offset)
		return 0;
	return add_target(s, refused, value) ? 0 : -ENOMEM;
}

static bool is_ifunc(const struct search *s, size_t refused)
{
	return s->wanted->refused[refused].why == PROBED_IFUNC;
}

/* Handles a relocation that has the address of the resolver, in the resolver's own library. */
static int take_by_address(struct search *s, const Elf64_Rela *row)
{
	const struct process_map *map = s->provider;
	uint64_t picker = s->library.base + (uint64_t)row->r_addend;

	if (!s->is_provider || picker < map->start || picker >= map->end)
		return 0;
	for (size_t i = 0; i < s->wanted->refused_count; i++)
		if (is_ifunc(s, i) &&
		    s->wanted->refused[i].offset == picker - map->start + map->offset)
			return take_slot(s, row, i);
	return 0;
}

static int take_by_name(struct search *s, const Elf64_Rela *row)
{
	const struct loaded_library *library = &s->library;
	Elf64_Sym symbol;
	char text[256];

	if (!library->symbols || !library->strings ||
	    !loaded_read(library, library->symbols + ELF64_R_SYM(row->r_info) * sizeof(symbol), &symbol, sizeof(symbol)))
		return 0;
	for (size_t i = 0; i < s->wanted->refused_count; i++) {
		const char *name = s->wanted->refused[i].name;
		size_t size = strlen(name) + 1;
		int err;

		if (!is_ifunc(s, i) || size > sizeof(text) ||
		    !loaded_read(library, library->strings + symbol.st_name, text, size) ||
		    memcmp(text, name, size) != 0)
			continue;
		err = take_slot(s, row, i);
		if (err)
			return err;
	}
	return 0;
}

static int take_row(struct search *s, const Elf64_Rela *row)
{
	switch (ELF64_R_TYPE(row->r_info)) {
	case RELOCATION_IFUNC: return take_by_address(s, row);
	case RELOCATION_SLOT:
	case RELOCATION_DATA: return take_by_name(s, row);
	default: return 0;
	}
}

static int walk_table(struct search *s, uint64_t address, uint64_t size, uint64_t first)
{
	Elf64_Rela *rows = malloc(RELOCATIONS_AT_ONCE * sizeof(*rows));
	uint64_t count = size / sizeof(*rows);
	int err = rows ? 0 : -ENOMEM;

	if (!address)
		count = 0;
	while (first < count && s->looked_at < RELOCATIONS_MAX && !err) {
		uint64_t n = count - first < RELOCATIONS_AT_ONCE ? count - first
								 : RELOCATIONS_AT_ONCE;

		if (!loaded_read(&s->library, address + first * sizeof(*rows), rows, n * sizeof(*rows)))
			break;
		for (uint64_t i = 0; i < n && !err; i++)
			err = take_row(s, &rows[i]);
		first += n;
		s->looked_at += n;
	}
	free(rows);
	return err;
}

static int look_into(struct search *s, pid_t pid, const struct process_memory *memory, const struct process_map *map)
{
	struct loaded_library *library = &s->library;
	int file = process_map_open(pid, map), err = 0;

	if (file < 0)
		return 0;
	s->is_provider = map == s->provider;
	if (!loaded_library_read(library, memory, file, map)) {
		err = walk_table(s, library->plt_relocations, library->plt_relocations_size, 0);
		if (!err)
			err = walk_table(s, library->relocations, library->relocations_size,
					 library->relative_count);
	}
	close(file);
	return err;
}

static bool has_ifunc(const struct probed_file *file)
{
	for (size_t i = 0; i < file->refused_count; i++)
		if (file->refused[i].why == PROBED_IFUNC)
			return true;
	return false;
}

int ifunc_resolve(struct probed_file *file, int fd, pid_t pid, const struct process_maps *maps,
		  const struct process_map *map, bool optimized_nop)
{
	struct search s = { .wanted = file, .provider = map };
	struct process_memory memory;
	int err = 0;

	if (!has_ifunc(file))
		return 0;
	if (process_memory_open(&memory, pid))
		for (size_t i = 0; i < maps->count && !err; i++)
			err = look_into(&s, pid, &memory, &maps->map[i]);
	process_memory_close(&memory);
	if (!err && s.count)
		err = probed_file_choose(file, fd, s.targets, s.count, optimized_nop);
	free(s.targets);
	return err;
}
