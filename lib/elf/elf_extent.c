/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/elf_extent.h"

#include <errno.h>

#include "lib/elf/elf_private.h"

/* Encodings of pointers, from the Linux Standard Base, "Exception Frames". */
#define PCREL_SDATA4 0x1b
#define DATAREL_SDATA4 0x3b
#define UDATA4 0x03

#define ENTRIES_MAX (1u << 24)

/* What .eh_frame_hdr begins with where it has the usual form. */
struct header {
	uint8_t version;
	uint8_t frame_encoding;
	uint8_t count_encoding;
	uint8_t table_encoding;
	int32_t frame;
	uint32_t count;
};

/* Both relative to the beginning of .eh_frame_hdr. */
struct row {
	int32_t first;
	int32_t entry;
};

/* The beginning of an entry in .eh_frame with 32-bit pointers. */
struct entry {
	uint32_t length;
	uint32_t common;
	int32_t first; /* relative to itself */
	uint32_t size;
};

static bool read_exactly(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	return elf_file_read(file, offset, buffer, size) == (ssize_t)size;
}

static bool read_row(const struct elf_file *file, uint32_t index, struct row *row)
{
	return read_exactly(file,
			    file->frame_table.offset + sizeof(struct header) + index * sizeof(*row),
			    row, sizeof(*row));
}

/* The last row that begins at or before @address. */
static bool find_row(const struct elf_file *file, uint32_t count, uint64_t address, struct row *row)
{
	uint32_t low = 0, high = count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (!read_row(file, middle, row))
			return false;
		if (file->frame_table.address + (int64_t)row->first <= address)
			low = middle;
		else
			high = middle;
	}
	return read_row(file, low, row) &&
	       file->frame_table.address + (int64_t)row->first <= address;
}

int elf_file_extent(const struct elf_file *file, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct elf_segment *table = &file->frame_table;
	struct header header;
	struct entry entry;
	struct row row;
	uint64_t at;

	if (!table->size || !read_exactly(file, table->offset, &header, sizeof(header)) ||
	    header.version != 1 || header.frame_encoding != PCREL_SDATA4 ||
	    header.count_encoding != UDATA4 || header.table_encoding != DATAREL_SDATA4 ||
	    !header.count || header.count > ENTRIES_MAX ||
	    !find_row(file, header.count, address, &row))
		return -ENOENT;
	*start = table->address + (int64_t)row.first;
	/* Entries and their table lie in one segment. */
	if (!read_exactly(file, table->offset + (int64_t)row.entry, &entry, sizeof(entry)))
		return -ENOENT;
	at = table->address + (int64_t)row.entry + offsetof(struct entry, first);
	if (at + (int64_t)entry.first != *start || !entry.size || address - *start >= entry.size)
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
