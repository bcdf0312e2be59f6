/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/elf_addresses.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"
#include "lib/elf/elf_private.h"

#define BLOCK_SYMBOLS 4096

bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->size) {
			*address = segment->address + (offset - segment->offset);
			return true;
		}
	}
	return false;
}

/* The first of the sorted names with this address; NULL if the caller asks for none. */
static struct elf_name *asked(struct elf_name *names, size_t count, uint64_t address)
{
	size_t at = BISECT(i, 0, count, names[i].address < address);

	return at < count && names[at].address == address ? &names[at] : NULL;
}

/* Functions before objects, global names before local ones; 0 = not a name of code. */
static uint8_t rank_of(const Elf64_Sym *symbol)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);
	bool local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
	    (type != STT_FUNC && type != STT_OBJECT))
		return 0;
	return type == STT_FUNC ? 4 - local : 2 - local;
}

static int take_name(struct elf_file *file, const struct elf_table *table, const Elf64_Sym *symbol,
		     struct elf_name *names, struct elf_name *end)
{
	uint8_t rank = rank_of(symbol);
	uint64_t address = names->address;
	char text[ELF_MAX_NAME];
	ssize_t n;

	if (!rank || rank <= names->rank || symbol->st_name >= table->strings.size)
		return 0;
	n = table->strings.size - symbol->st_name;
	n = elf_file_read(file, table->strings.offset + symbol->st_name, text,
			  (size_t)n < sizeof(text) ? (size_t)n : sizeof(text));
	if (n <= 0 || strnlen(text, n) == (size_t)n || !text[0])
		return 0;
	text[strcspn(text, "@")] = '\0';
	for (; names < end && names->address == address; names++) {
		free(names->name);
		names->name = strdup(text);
		names->rank = rank;
		if (!names->name)
			return -ENOMEM;
	}
	return 0;
}

static int walk(struct elf_file *file, const struct elf_table *table, struct elf_name *names,
		size_t count)
{
	uint64_t total = table->symbols.size / sizeof(Elf64_Sym);
	Elf64_Sym *block;
	int err = 0;

	if (!table->present)
		return 0;
	if (table->bad_link || table->entry_size != sizeof(Elf64_Sym) ||
	    !elf_inside_file(file, &table->symbols) || !elf_inside_file(file, &table->strings) ||
	    total > ELF_FILE_MAX_SYMBOLS)
		return -ENOEXEC;
	block = calloc(BLOCK_SYMBOLS, sizeof(*block));
	if (!block)
		return -ENOMEM;
	for (uint64_t first = 0; first < total && !err; first += BLOCK_SYMBOLS) {
		uint64_t wanted = total - first < BLOCK_SYMBOLS ? total - first : BLOCK_SYMBOLS;
		ssize_t n = elf_file_read(file, table->symbols.offset + first * sizeof(*block),
					  block, wanted * sizeof(*block));

		if (n < 0 || (uint64_t)n != wanted * sizeof(*block)) {
			err = -ENOEXEC;
			break;
		}
		for (uint64_t i = 0; i < wanted && !err; i++) {
			struct elf_name *name = asked(names, count, block[i].st_value);

			if (name)
				err = take_name(file, table, &block[i], name, names + count);
		}
	}
	free(block);
	return err;
}

int elf_file_names_at(struct elf_file *file, struct elf_name *names, size_t count)
{
	int err = walk(file, &file->dynsym, names, count);
	int err_symtab = err == -ENOMEM ? 0 : walk(file, &file->symtab, names, count);

	return err == -ENOMEM || err_symtab == -ENOMEM ? -ENOMEM : err ? err : err_symtab;
}
