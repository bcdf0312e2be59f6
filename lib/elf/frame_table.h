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
	int32_t frame; /* address of .eh_frame, relative to this field */
	uint32_t count; /* of rows, which follow */
};

/* A function; both addresses are relative to the start of .eh_frame_hdr. Rows are in the order of @first. */
struct frame_table_row {
	int32_t first; /* its first instruction */
	int32_t entry; /* its entry in .eh_frame */
};

/* frame_table_header - returns false if there is no table, its form is unknown, or its number of rows is 0 or implausible */
bool frame_table_header(const struct elf_file *file, struct frame_table_header *header);

/* frame_table_rows - reads @count rows from row @first on; returns false if the file does not contain them */
bool frame_table_rows(const struct elf_file *file, uint32_t first, uint32_t count, struct frame_table_row *rows);

/* elf_read_exactly - reads all @size bytes at @offset; returns false if the file is shorter or cannot be read */
bool elf_read_exactly(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);

#endif /* PROFBPF_LIB_ELF_FRAME_TABLE_H */
