/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_column.h - reads values of columns: SQLite allows values of any type in any column. */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_COLUMN_H
#define PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_COLUMN_H

#include <sqlite3.h>
#include <stdint.h>

/*
 * sqlite_column_instant - a whole number, also as text; INT64_MIN for other values: "12abc", 1e300, NULL
 *
 * INT64_MAX is such a value, too: writers use it for an end that is not known.
 */
int64_t sqlite_column_instant(sqlite3_stmt *row, int column);

/* sqlite_column_stream - the number of a stream; UINT64_MAX, which means no stream, for negative and other values */
uint64_t sqlite_column_stream(sqlite3_stmt *row, int column);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_COLUMN_H */
