/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_file.h - writes tables as CSV (RFC 4180, lines end with LF).
 *
 * Cells are written from left to right; errors are sticky and returned by
 * csv_close().
 */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_CSV_FILE_H
#define PROFBPF_ANALYZER_VIEW_RENDER_CSV_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv_file {
	FILE *out;
	bool inside; /* a row has begun */
	int err;
};

/* Opens @folder/@name for writing, with @header as its first line, unless NULL. Returns 0 or a negative errno. */
int csv_open(struct csv_file *csv, const char *folder, const char *name, const char *header);

/* Returns 0 or the first error. The caller calls it once after csv_open() returned 0. */
int csv_close(struct csv_file *csv);

/* Write the next cell; NULL is an empty cell. Text is quoted where necessary. */
void csv_text(struct csv_file *csv, const char *text);
void csv_format(struct csv_file *csv, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes nanoseconds as microseconds with three decimals, without a loss of precision. */
void csv_us(struct csv_file *csv, uint64_t ns);

/* Ends the row; its cells are then in the file or in its buffer. */
void csv_end_row(struct csv_file *csv);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_CSV_FILE_H */
