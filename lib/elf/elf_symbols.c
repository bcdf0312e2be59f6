/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/elf_private.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A table's contents in memory, for the time of one walk. */
struct contents {
	Elf64_Sym *symbols;
	size_t count;
	char *strings; /* size bytes and one NUL */
	size_t size;
};

struct finder {
	struct elf_file *file;
	elf_symbol_matcher *matcher;
	void *context;
	struct elf_symbols *found;
	size_t capacity;
};

const char *elf_file_error(const struct elf_file *file)
{
	return file->error;
}

/* Reports the first damage only: further damage usually follows from it. */
static int damaged(struct elf_file *file, const struct elf_table *table, const char *what)
{
	if (!file->error[0])
		elf_fail(file->error, sizeof(file->error), "%s: %s %s; its functions are not known",
			 file->name, table->name, what);
	return -ENOEXEC;
}

static int read_extent(const struct elf_file *file, const struct elf_extent *extent, void **bytes)
{
	ssize_t n;

	*bytes = malloc(extent->size + 1);
	if (!*bytes)
		return -ENOMEM;
	n = elf_file_read(file, extent->offset, *bytes, extent->size);
	if (n >= 0 && (uint64_t)n == extent->size) {
		((char *)*bytes)[n] = 0;
		return 0;
	}
	free(*bytes);
	*bytes = NULL;
	return n < 0 ? n : -EIO;
}

static int read_table(struct elf_file *file, const struct elf_table *table,
		      struct contents *contents)
{
	void *symbols = NULL, *strings = NULL;
	int err;

	if (table->bad_link)
		return damaged(file, table, "names no string table");
	if (table->entry_size != sizeof(Elf64_Sym))
		return damaged(file, table, "has entries of a wrong size");
	if (!elf_inside_file(file, &table->symbols) || !elf_inside_file(file, &table->strings))
		return damaged(file, table, "ends beyond the end of the file (cut off?)");
	if (table->symbols.size / sizeof(Elf64_Sym) > ELF_FILE_MAX_SYMBOLS ||
	    table->strings.size > ELF_FILE_MAX_STRINGS)
		return damaged(file, table, "is implausibly large");
	err = read_extent(file, &table->symbols, &symbols);
	if (!err)
		err = read_extent(file, &table->strings, &strings);
	if (err) {
		free(symbols);
		return err == -ENOMEM ? err : damaged(file, table, "cannot be read");
	}
	contents->symbols = symbols;
	contents->count = table->symbols.size / sizeof(Elf64_Sym);
	contents->strings = strings;
	contents->size = table->strings.size;
	return 0;
}

static const struct elf_segment *segment_of(const struct elf_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (address >= segment->address && address - segment->address < segment->size)
			return segment;
	}
	return NULL;
}

static bool is_function(const Elf64_Sym *symbol)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_value &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
	       symbol->st_shndx != SHN_COMMON;
}

/* name.cold and name.part.0 are pieces of a function, entered by jumps. */
static bool is_fragment(const char *name, size_t length)
{
	const char *dot = memchr(name, '.', length), *end = name + length;

	while (dot) {
		if ((end - dot >= 5 && memcmp(dot, ".cold", 5) == 0) ||
		    (end - dot >= 6 && memcmp(dot, ".part.", 6) == 0))
			return true;
		dot = memchr(dot + 1, '.', end - dot - 1);
	}
	return false;
}

static int add_symbol(struct finder *finder, const Elf64_Sym *symbol, const char *name,
		      size_t length, uint32_t flags, void *match)
{
	const struct elf_segment *segment = segment_of(finder->file, symbol->st_value);
	struct elf_symbols *found = finder->found;
	uint64_t into;
	char *copy;

	if (!segment || is_fragment(name, length))
		return 0;
	if (found->count == finder->capacity) {
		size_t capacity = finder->capacity ? finder->capacity * 2 : 64;
		void *grown = reallocarray(found->symbol, capacity, sizeof(*found->symbol));

		if (!grown)
			return -ENOMEM;
		found->symbol = grown;
		finder->capacity = capacity;
	}
	copy = strndup(name, length);
	if (!copy)
		return -ENOMEM;
	into = symbol->st_value - segment->address;
	found->symbol[found->count++] = (struct elf_symbol){
		.name = copy,
		.offset = segment->offset + into,
		.size = symbol->st_size < segment->size - into ? symbol->st_size
							       : segment->size - into,
		.address = symbol->st_value,
		.flags = flags,
		.match = match,
	};
	return 0;
}

/* Symbols of @source, which is the finder's file or has its symbols: code is always in the former. */
static int walk_table(struct finder *finder, struct elf_file *source, const struct elf_table *table,
		      uint32_t table_flags)
{
	struct contents contents;
	int err;

	if (!table->present)
		return 0;
	err = read_table(source, table, &contents);
	if (err)
		return err;
	for (size_t i = 1; !err && i < contents.count; i++) {
		const Elf64_Sym *symbol = &contents.symbols[i];
		uint32_t flags = table_flags;
		const char *name, *version;
		size_t length;
		void *match;

		if (!is_function(symbol) || symbol->st_name >= contents.size)
			continue;
		name = contents.strings + symbol->st_name;
		length = strnlen(name, ELF_MAX_NAME);
		version = memchr(name, '@', length);
		if (version)
			length = version - name;
		if (length == 0 || length == ELF_MAX_NAME)
			continue;
		match = finder->matcher(finder->context, name, length);
		if (!match)
			continue;
		if (finder->found->count == ELF_FILE_MAX_FOUND) {
			err = damaged(finder->file, table, "has implausibly many such functions");
			break;
		}
		if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
			flags |= ELF_SYMBOL_IFUNC;
		if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
			flags |= ELF_SYMBOL_LOCAL;
		if (ELF64_ST_BIND(symbol->st_info) == STB_WEAK)
			flags |= ELF_SYMBOL_WEAK;
		err = add_symbol(finder, symbol, name, length, flags, match);
	}
	free(contents.symbols);
	free(contents.strings);
	return err;
}

static int find_object(struct elf_file *file, const struct elf_table *table, const char *wanted,
		       uint64_t *address)
{
	struct contents contents;
	size_t length = strlen(wanted);
	int err;

	if (!table->present)
		return -ENOENT;
	err = read_table(file, table, &contents);
	if (err)
		return err;
	err = -ENOENT;
	for (size_t i = 1; err && i < contents.count; i++) {
		const Elf64_Sym *symbol = &contents.symbols[i];

		if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !symbol->st_value ||
		    symbol->st_shndx == SHN_UNDEF || symbol->st_name >= contents.size ||
		    length >= contents.size - symbol->st_name)
			continue;
		if (strcmp(contents.strings + symbol->st_name, wanted) == 0) {
			*address = symbol->st_value;
			err = 0;
		}
	}
	free(contents.symbols);
	free(contents.strings);
	return err;
}

int elf_file_object(struct elf_file *file, const char *name, uint64_t *address)
{
	int err;

	file->error[0] = 0;
	err = find_object(file, &file->dynsym, name, address);
	return err == -ENOENT ? find_object(file, &file->symtab, name, address) : err;
}

int elf_file_bias(const struct elf_file *file, uint64_t start, uint64_t end, uint64_t offset,
		  uint64_t *bias)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (segment->offset >= offset + (end - start) ||
		    segment->offset + segment->size <= offset)
			continue;
		*bias = start - offset - (segment->address - segment->offset);
		return 0;
	}
	return -ENOENT;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* A function in both tables was found twice; the dynamic entry's flags decide. */
static void merge_duplicates(struct elf_symbols *found)
{
	size_t kept = 0;

	if (!found->count)
		return;
	qsort(found->symbol, found->count, sizeof(*found->symbol), compare_symbols);
	for (size_t i = 1; i < found->count; i++) {
		struct elf_symbol *last = &found->symbol[kept], *next = &found->symbol[i];

		if (compare_symbols(last, next) != 0) {
			found->symbol[++kept] = *next;
			continue;
		}
		if (next->flags & ELF_SYMBOL_DYNAMIC)
			last->flags = next->flags;
		if (next->size > last->size)
			last->size = next->size;
		free(next->name);
	}
	found->count = kept + 1;
}

int elf_file_find(struct elf_file *file, elf_symbol_matcher *matcher, void *context,
		  struct elf_symbols *found)
{
	struct finder finder = {
		.file = file, .matcher = matcher, .context = context, .found = found
	};
	int err, err_symtab;

	*found = (struct elf_symbols){ 0 };
	file->error[0] = 0;
	err = walk_table(&finder, file, &file->dynsym, ELF_SYMBOL_DYNAMIC);
	if (err != -ENOMEM) {
		err_symtab = walk_table(&finder, file, &file->symtab, 0);
		/* Damage to the optional debug file is no error of this file. */
		if (file->debug && err_symtab != -ENOMEM &&
		    walk_table(&finder, file->debug, &file->debug->symtab, 0) == -ENOMEM)
			err_symtab = -ENOMEM;
		if (!err || err_symtab == -ENOMEM)
			err = err_symtab;
	}
	if (err == -ENOMEM) {
		elf_symbols_free(found);
		elf_fail(file->error, sizeof(file->error), "%s: out of memory", file->name);
		return err;
	}
	merge_duplicates(found);
	return err;
}

void elf_symbols_free(struct elf_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++)
		free(symbols->symbol[i].name);
	free(symbols->symbol);
	*symbols = (struct elf_symbols){ 0 };
}
