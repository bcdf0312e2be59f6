/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/interpreters/mindspore/process_symbol.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/loaded_library.h"

#define CHAIN_MAX (1u << 14) /* a hash bucket has a handful of symbols; this limit ends a cyclic chain */
#define RELOCATIONS_MAX (1u << 22)
#define RELOCATIONS_AT_ONCE 4096

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static bool is_symbol(const struct loaded_library *library, uint32_t index, const char *name)
{
	size_t length = strlen(name) + 1;
	char text[128];
	Elf64_Sym symbol;

	return length <= sizeof(text) &&
	       loaded_read(library, library->symbols + (uint64_t)index * sizeof(symbol),
		       &symbol, sizeof(symbol)) &&
	       ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_shndx != SHN_UNDEF &&
	       loaded_read(library, library->strings + symbol.st_name, text, length) &&
	       memcmp(text, name, length) == 0;
}

/* The hash function of DT_HASH, from the System V ABI. */
static uint32_t elf_hash(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		hash ^= hash >> 24 & 0xf0;
		hash &= 0x0fffffff;
	}
	return hash;
}

static int find_by_old_hash(const struct loaded_library *library, const char *name, uint32_t *index)
{
	uint32_t counts[2]; /* number of buckets, of chains */
	uint64_t buckets = library->old_hash + sizeof(counts);

	if (!loaded_read(library, library->old_hash, counts, sizeof(counts)))
		return -EIO;
	if (!counts[0])
		return -ENOENT;
	if (!loaded_read(library, buckets + (uint64_t)(elf_hash(name) % counts[0]) * 4, index,
		     4))
		return -EIO;
	for (uint32_t i = 0; *index && *index < counts[1] && i < CHAIN_MAX; i++) {
		if (is_symbol(library, *index, name))
			return 0;
		if (!loaded_read(library, buckets + ((uint64_t)counts[0] + *index) * 4, index,
			     4))
			return -EIO;
	}
	return -ENOENT;
}

/* Layout of .gnu.hash: four words, the bloom filter, the buckets, one word per symbol. */
static int find_symbol(const struct loaded_library *library, const char *name, uint32_t *index)
{
	struct {
		uint32_t buckets, first, bloom_words, shift;
	} header;
	uint32_t hash = gnu_hash(name), value;
	uint64_t buckets, chains;

	if (!library->hash)
		return find_by_old_hash(library, name, index);
	if (!loaded_read(library, library->hash, &header, sizeof(header)))
		return -EIO;
	if (!header.buckets)
		return -ENOENT;
	buckets = library->hash + sizeof(header) + (uint64_t)header.bloom_words * 8;
	chains = buckets + (uint64_t)header.buckets * 4;
	if (!loaded_read(library, buckets + (uint64_t)(hash % header.buckets) * 4, index, 4))
		return -EIO;
	for (uint32_t i = 0; *index >= header.first && i < CHAIN_MAX; i++, ++*index) {
		if (!loaded_read(library, chains + (uint64_t)(*index - header.first) * 4,
			     &value, 4))
			return -EIO;
		if ((value | 1) == (hash | 1) && is_symbol(library, *index, name))
			return 0;
		if (value & 1)
			break;
	}
	return -ENOENT;
}

static void take_relocation(const struct loaded_library *library, const Elf64_Rela *row, uint32_t index,
			    struct process_tls_symbol *symbol)
{
	if (ELF64_R_SYM(row->r_info) != index)
		return;
	if (ELF64_R_TYPE(row->r_info) == R_X86_64_DTPMOD64)
		symbol->module_address = library->base + row->r_offset;
	else if (ELF64_R_TYPE(row->r_info) == R_X86_64_DTPOFF64)
		symbol->offset_address = library->base + row->r_offset;
}

static int find_relocations(const struct loaded_library *library, uint32_t index,
			    struct process_tls_symbol *symbol)
{
	uint64_t count = library->relocations_size / sizeof(Elf64_Rela);
	Elf64_Rela *rows = calloc(RELOCATIONS_AT_ONCE, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	if (count > RELOCATIONS_MAX)
		count = RELOCATIONS_MAX;
	for (uint64_t first = 0; first < count && !err; first += RELOCATIONS_AT_ONCE) {
		uint64_t n = count - first < RELOCATIONS_AT_ONCE ? count - first
								 : RELOCATIONS_AT_ONCE;

		if (!loaded_read(library, library->relocations + first * sizeof(*rows), rows,
			     n * sizeof(*rows)))
			err = -EIO;
		for (uint64_t i = 0; i < n && !err; i++)
			take_relocation(library, &rows[i], index, symbol);
		if (symbol->module_address && symbol->offset_address)
			break;
	}
	free(rows);
	if (!err && (!symbol->module_address || !symbol->offset_address))
		err = -ENOENT;
	return err;
}

int process_symbol_find_tls(const struct process_memory *memory, const struct process_map *map, const char *name,
			    struct process_tls_symbol *symbol)
{
	int file = process_map_open(memory->present.pid, map), err;
	struct loaded_library library;
	uint32_t index;

	*symbol = (struct process_tls_symbol){ 0 };
	if (file < 0)
		return file;
	err = loaded_library_read(&library, memory, file, map);
	if (!err && (!library.symbols || !library.strings || !(library.hash || library.old_hash) ||
		     !library.relocations))
		err = -ENOENT;
	if (!err)
		err = find_symbol(&library, name, &index);
	if (!err)
		err = find_relocations(&library, index, symbol);
	close(file);
	return err;
}
