/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_table.h - streams through a CSV file by the names of its columns, plain or gzip.
 *
 * Columns come and go with versions and are renamed: a wanted column is a list of names, of which
 * the first that the header has is taken. Quotes, newlines inside quotes, CRLF, blanks around
 * names and a missing last newline are understood; blank lines mean nothing.
 *
 * Values are pointers into what was read: libraries that hand out each field of each row, wanted or
 * not, took three times as long on a table of 46 columns (bench/README.md).
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_CSV_TABLE_H
#define PROFBPF_ANALYZER_IMPORT_READERS_CSV_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_COLUMNS 96 /* most that may be wanted, those by more() included */
#define CSV_ROW_BYTES (8u << 20) /* longest row; a file with a longer one is refused there */

struct csv_value {
	const char
		*text; /* NUL-terminated; NULL = the file has no such column, or the row is short */
	size_t length;
};

struct csv_reader {
	/* Wanted columns, each "Name" or "Name|Older name|..."; NULL-terminated. Case counts. */
	const char *const *columns;
	const char *message; /* lines that begin so are no rows; NULL = there are none such */
	/*
	 * After the header: found[i] tells if the file has columns[i]. A value other than 0 ends the
	 * reading, and csv_table_read() returns it. May be NULL.
	 */
	int (*header)(void *context, const bool *found);
	/*
	 * Is a column wanted that is none of columns[]? Then its value is the @index-th after theirs. The
	 * header may be read more than once, as are rows of empty fields before it; @index is 0 again
	 * then, and values of columns that only an earlier reading had are NULL. May be NULL: none is.
	 */
	bool (*more)(void *context, uint32_t index, const char *name, size_t length);
	/* A row; values are valid during the call. A value other than 0 ends the reading. */
	int (*row)(void *context, const struct csv_value *values);
	void *context;
};

/*
 * csv_table_read - read @path to its end
 *
 * Returns 0, what a callback returned, or a negative errno with @error; -EBADMSG for a file that
 * ends inside quotes, has too long a row or cannot be decompressed (or to too much, input_file.h), after the rows before that
 * were handed out.
 */
int csv_table_read(const char *path, const struct csv_reader *reader, char *error,
		   size_t error_size);

/* csv_has_columns - does the first line of @text (a sample of a file) name all @columns? */
bool csv_has_columns(const char *text, const char *const *columns);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_CSV_TABLE_H */
