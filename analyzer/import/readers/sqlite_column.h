/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_column.h - what stands in a column of a row: SQLite lets anything stand in any.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_COLUMN_H
#define PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_COLUMN_H

#include <sqlite3.h>
#include <stdint.h>

/* sqlite_column_instant - a whole number, as text, too; INT64_MIN if there is none: "12abc", 1e300, NULL */
int64_t sqlite_column_instant(sqlite3_stmt *row, int column);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_COLUMN_H */
