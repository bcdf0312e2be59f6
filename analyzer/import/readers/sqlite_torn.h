/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_torn.h - databases whose file ends before the pages that its header counts.
 *
 * SQLite refuses such a file as a whole. Here it is read as far as it goes: its whole pages, and of a
 * table the rows up to the first page that is not there. Header: see "The Database Header" in SQLite's
 * "Database File Format".
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_TORN_H
#define PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_TORN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is it torn? *there and *whole are bytes: how many there are, and how many there should be. */
bool sqlite_torn(sqlite3 *db, sqlite3_int64 *there, sqlite3_int64 *whole);

/*
 * sqlite_torn_open - @db, or, if that is torn, the file at @uri opened such that it can be read
 *
 * @db is closed then. Returns NULL without memory.
 */
sqlite3 *sqlite_torn_open(sqlite3 *db, const char *uri, int flags);

/*
 * sqlite_torn_query - @query of those rows of its first table that can be read
 *
 * For queries that need a whole table (ORDER BY, min()) and so gave nothing. The caller frees it with
 * sqlite3_free(); NULL if the database is not torn, or nothing can be read.
 */
char *sqlite_torn_query(sqlite3 *db, const char *query);

/* sqlite_torn_table - the name of the first table of a query, in it, and its length; "" if it has none */
int sqlite_torn_table(const char *query, const char **name);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_TORN_H */
