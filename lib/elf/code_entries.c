/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/code_entries.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"
#include "lib/elf/elf_private.h"

#define ALIGNMENT 16
#define CHUNK (1u << 20) /* bytes read at once; a multiple of the size of each kind of element */
#define REFERENCE_MAX 7 /* bytes of an instruction that refers to something */
#define ENTRIES_MAX (1u << 20)
#define BYTES_MAX (2ull << 30) /* bytes of a file's code and tables that are read, counted once per segment */

struct search {
	const struct elf_file *file;
	const struct code_gap *gap;
	size_t gaps;
	struct code_entries *found;
	size_t capacity;
	uint8_t *chunk;
	uint64_t left; /* bytes that may still be read */
	bool failed; /* no memory */
};

static bool in_gap(const struct search *s, uint64_t address)
{
	size_t next;

	if (address < s->gap[0].first || address >= s->gap[s->gaps - 1].end)
		return false;
	next = BISECT(i, 0, s->gaps, s->gap[i].first <= address);
	return next && address < s->gap[next - 1].end;
}

static void add(struct search *s, uint64_t address, bool sure)
{
	struct code_entries *found = s->found;

	if (address % ALIGNMENT || found->count == ENTRIES_MAX || !in_gap(s, address))
		return;
	if (found->count == s->capacity) {
		size_t larger = s->capacity ? 2 * s->capacity : 256;
		struct code_entry *grown = reallocarray(found->row, larger, sizeof(*grown));

		if (!grown) {
			s->failed = true;
			return;
		}
		found->row = grown;
		s->capacity = larger;
	}
	found->row[found->count++] = (struct code_entry){ address, sure };
}

/* The address at the 32-bit distance in @bytes from @next. */
static uint64_t relative(uint64_t next, const uint8_t *bytes)
{
	int32_t by;

	memcpy(&by, bytes, sizeof(by));
	return next + (uint64_t)(int64_t)by;
}

/* lea REGISTER, [rip + ...]; call and jmp with a displacement. Whether an instruction begins there is not known. */
static void scan(struct search *s, const uint8_t *b, size_t size, uint64_t address)
{
	for (size_t i = 0; i + REFERENCE_MAX <= size; i++) {
		if ((b[i] & 0xfb) == 0x48 && b[i + 1] == 0x8d && (b[i + 2] & 0xc7) == 5)
			add(s, relative(address + i + 7, b + i + 3), true);
		else if ((b[i] & 0xfe) == 0xe8)
			add(s, relative(address + i + 5, b + i + 1), false);
	}
}

static void spend(struct search *s, uint64_t bytes)
{
	s->left -= bytes < s->left ? bytes : s->left;
}

static void scan_segment(struct search *s, const struct elf_segment *segment)
{
	for (uint64_t at = 0; at < segment->size && s->left && !s->failed; at += CHUNK - REFERENCE_MAX + 1) {
		uint64_t left = segment->size - at;
		ssize_t size = elf_file_read(s->file, segment->offset + at, s->chunk, left < CHUNK ? left : CHUNK);

		if (size <= 0)
			return;
		spend(s, (uint64_t)size);
		scan(s, s->chunk, (size_t)size, segment->address + at);
	}
}

/* Calls @take for each element of @size bytes in a part of the file. */
static void each_of(struct search *s, const struct elf_extent *extent, size_t size,
		    void (*take)(struct search *s, const void *thing))
{
	size_t chunk = CHUNK / size * size;

	if (!elf_inside_file(s->file, extent))
		return;
	for (uint64_t at = 0; at < extent->size && s->left && !s->failed; at += chunk) {
		uint64_t left = extent->size - at;
		ssize_t bytes = elf_file_read(s->file, extent->offset + at, s->chunk, left < chunk ? left : chunk);

		for (ssize_t i = 0; i + (ssize_t)size <= bytes; i += (ssize_t)size)
			take(s, s->chunk + i);
		if (bytes < (ssize_t)chunk)
			return;
		spend(s, (uint64_t)bytes);
	}
}

static void take_relocation(struct search *s, const void *thing)
{
	Elf64_Rela r;

	memcpy(&r, thing, sizeof(r));
	if (ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE)
		add(s, (uint64_t)r.r_addend, true);
}

/* Local symbols without a type are labels, which may be inside of functions. */
static void take_symbol(struct search *s, const void *thing)
{
	Elf64_Sym symbol;
	unsigned int type;

	memcpy(&symbol, thing, sizeof(symbol));
	type = ELF64_ST_TYPE(symbol.st_info);
	if (symbol.st_shndx != SHN_UNDEF &&
	    (type == STT_FUNC || type == STT_GNU_IFUNC ||
	     (type == STT_NOTYPE && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL)))
		add(s, symbol.st_value, true);
}

static void take_table(struct search *s, const struct elf_table *table)
{
	if (table->present && table->entry_size == sizeof(Elf64_Sym))
		each_of(s, &table->symbols, sizeof(Elf64_Sym), take_symbol);
}

/* Orders by address; of several entries at one address a certain one comes first. */
static int compare(const void *a, const void *b)
{
	const struct code_entry *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return y->sure - x->sure;
}

static void sort(struct code_entries *found)
{
	size_t kept = 0;

	if (!found->count)
		return;
	qsort(found->row, found->count, sizeof(*found->row), compare);
	for (size_t i = 1; i < found->count; i++)
		if (found->row[i].address != found->row[kept].address)
			found->row[++kept] = found->row[i];
	found->count = kept + 1;
}

int code_entries_find(const struct elf_file *file, const struct code_gap *gap, size_t gaps,
		      struct code_entries *found)
{
	struct search s = { .file = file, .gap = gap, .gaps = gaps, .found = found, .left = BYTES_MAX };

	*found = (struct code_entries){ 0 };
	if (!gaps || elf_file_machine(file) != ELF_FILE_X86_64)
		return 0;
	s.chunk = malloc(CHUNK);
	if (!s.chunk)
		return -ENOMEM;
	for (size_t i = 0; i < file->segment_count; i++)
		scan_segment(&s, &file->segments[i]);
	each_of(&s, &file->relocations, sizeof(Elf64_Rela), take_relocation);
	take_table(&s, &file->dynsym);
	take_table(&s, &file->symtab);
	free(s.chunk);
	if (s.failed) {
		free(found->row);
		*found = (struct code_entries){ 0 };
		return -ENOMEM;
	}
	sort(found);
	return 0;
}
