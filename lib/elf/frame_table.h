/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_table.h - the table of functions in .eh_frame_hdr, in the form that linkers write: addresses of 32 bits,
 * relative to the section (Linux Standard Base, "Exception Frame Header").
 */
#ifndef PROFBPF_LIB_ELF_FRAME_TABLE_H
#define PROFBPF_LIB_ELF_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf_private.h"

struct frame_table_header {
	uint8_t version;
	uint8_t frame_encoding;
	uint8_t count_encoding;
	uint8_t table_encoding;
	int32_t frame; /* where .eh_frame is, relative to this field */
	uint32_t count; /* of rows, which follow */
};

/* A function; both relative to the beginning of .eh_frame_hdr. Rows are in the order of @first. */
struct frame_table_row {
	int32_t first; /* its first instruction */
	int32_t entry; /* its entry in .eh_frame */
};

/* frame_table_header - false: there is none, in another form, or it has no rows or more than any file has */
bool frame_table_header(const struct elf_file *file, struct frame_table_header *header);

/* frame_table_rows - @count of them, from number @first on; false: they are not in the file */
bool frame_table_rows(const struct elf_file *file, uint32_t first, uint32_t count, struct frame_table_row *rows);

/* elf_read_exactly - all @size bytes at @offset; false: the file has fewer, or cannot be read */
bool elf_read_exactly(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);

#endif /* PROFBPF_LIB_ELF_FRAME_TABLE_H */
