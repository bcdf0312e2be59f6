/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/frame_table.h"

#include <sys/types.h>

#include "lib/elf/dwarf_numbers.h"

#define ROWS_MAX (1u << 24)

bool elf_read_exactly(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	return elf_file_read(file, offset, buffer, size) == (ssize_t)size;
}

bool frame_table_header(const struct elf_file *file, struct frame_table_header *header)
{
	const struct elf_segment *table = &file->frame_table;

	return table->size && elf_read_exactly(file, table->offset, header, sizeof(*header)) &&
	       header->version == 1 && header->frame_encoding == (DW_EH_PE_pcrel | DW_EH_PE_sdata4) &&
	       header->count_encoding == DW_EH_PE_udata4 &&
	       header->table_encoding == (DW_EH_PE_datarel | DW_EH_PE_sdata4) && header->count &&
	       header->count <= ROWS_MAX;
}

bool frame_table_rows(const struct elf_file *file, uint32_t first, uint32_t count, struct frame_table_row *rows)
{
	uint64_t begin = file->frame_table.offset + sizeof(struct frame_table_header);

	return elf_read_exactly(file, begin + (uint64_t)first * sizeof(*rows), rows, (size_t)count * sizeof(*rows));
}
