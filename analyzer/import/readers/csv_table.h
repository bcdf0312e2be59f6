/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_table.h - streams through a CSV file by the names of its columns, plain or gzip.
 *
 * Columns come and go with versions and are renamed: a wanted column is a list of names, of which the first in the
 * header is used. Quotes, newlines inside quotes, CRLF, blanks around names and a missing last newline are
 * understood; blank lines are skipped.
 *
 * Values are pointers into the read buffer: libraries that return each field of each row, wanted or not, took three
 * times as long on a table of 46 columns (bench/README.md).
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_CSV_TABLE_H
#define PROFBPF_ANALYZER_IMPORT_READERS_CSV_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/import/readers/reader_place.h"

#define CSV_COLUMNS 96 /* maximum number of wanted columns, including those of more() */
#define CSV_ROW_BYTES (8u << 20) /* longest row; reading fails at a longer one */

struct csv_value {
	const char
		*text; /* NUL-terminated; NULL = the file has no such column, or the row is too short */
	size_t length;
};

struct csv_reader {
	/* Wanted columns, each "Name" or "Name|Older name|..."; NULL-terminated, case-sensitive. */
	const char *const *columns;
	const char *message; /* lines with this prefix are not rows; NULL = there are no such lines */
	/*
	 * Called after the header: found[i] is true if the file has columns[i]. A value other than 0 ends the
	 * reading, and csv_table_read() returns it. May be NULL.
	 */
	int (*header)(void *context, const bool *found);
	/*
	 * Returns true if a column that is not in columns[] is wanted; its value is then number @index after
	 * theirs. The header, and rows of empty fields before it, may be read more than once: @index then restarts
	 * at 0, and values of columns that only an earlier reading had are NULL. May be NULL: no further columns.
	 */
	bool (*more)(void *context, uint32_t index, const char *name, size_t length);
	/* Called for each row; values are valid during the call. A value other than 0 ends the reading. */
	int (*row)(void *context, const struct csv_value *values);
	void *context;
	/*
	 * Unit of each of columns[], enum decimal_unit (decimal_ns.h), also changed while reading; NULL = no times.
	 * A row with a time of which digits were rounded away is passed to rounded() instead of row(), with a text
	 * that names the column and the value.
	 */
	const uint8_t *units;
	int (*rounded)(void *rounded_context, const char *what);
	void *rounded_context;
	struct reader_place *place; /* gets the row's place; may be NULL */
};

/*
 * csv_table_read - read @path to its end
 *
 * Returns 0, the value of a callback that was not 0, or a negative errno with @error; -EBADMSG, after all rows
 * before that place, for a file that ends inside quotes, has too long a row, cannot be decompressed, or
 * decompresses to too much (input_file.h).
 */
int csv_table_read(const char *path, const struct csv_reader *reader, char *error,
		   size_t error_size);

/* csv_has_columns - does the first line of @text (a sample of a file) name all @columns? */
bool csv_has_columns(const char *text, const char *const *columns);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_CSV_TABLE_H */
