/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/elf_extent.h"

#include <errno.h>

#include "lib/elf/elf_private.h"
#include "lib/elf/frame_table.h"

/* The beginning of an entry in .eh_frame with 32-bit pointers. */
struct entry {
	uint32_t length;
	uint32_t common;
	int32_t first; /* relative to itself */
	uint32_t size;
};

/* The last row that begins at or before @address. */
static bool find_row(const struct elf_file *file, uint32_t count, uint64_t address, struct frame_table_row *row)
{
	uint32_t low = 0, high = count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (!frame_table_rows(file, middle, 1, row))
			return false;
		if (file->frame_table.address + (int64_t)row->first <= address)
			low = middle;
		else
			high = middle;
	}
	return frame_table_rows(file, low, 1, row) &&
	       file->frame_table.address + (int64_t)row->first <= address;
}

int elf_file_extent(const struct elf_file *file, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct elf_segment *table = &file->frame_table;
	struct frame_table_header header;
	struct entry entry;
	struct frame_table_row row;
	uint64_t at;

	if (!frame_table_header(file, &header) || !find_row(file, header.count, address, &row))
		return -ENOENT;
	*start = table->address + (int64_t)row.first;
	/* Entries and their table lie in one segment. */
	if (!elf_read_exactly(file, table->offset + (int64_t)row.entry, &entry, sizeof(entry)))
		return -ENOENT;
	at = table->address + (int64_t)row.entry + offsetof(struct entry, first);
	if (at + (int64_t)entry.first != *start || !entry.size || address - *start >= entry.size ||
	    *start + entry.size < *start)
		return -ENOENT;
	*end = *start + entry.size;
	return 0;
}

bool elf_file_code_offset(const struct elf_file *file, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (address >= s->address && address - s->address < s->size) {
			*offset = address - s->address + s->offset;
			return true;
		}
	}
	return false;
}
