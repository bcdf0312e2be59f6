/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_torn.h - reads databases whose file ends before the pages that its header counts.
 *
 * SQLite refuses such a file as a whole. Here its complete pages are read, and the rows of a table up to the first
 * missing page. Header: see "The Database Header" in SQLite's "Database File Format".
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_TORN_H
#define PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_TORN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is the file torn? *there and *whole are its size and its expected size in bytes. */
bool sqlite_torn(sqlite3 *db, sqlite3_int64 *there, sqlite3_int64 *whole);

/*
 * sqlite_torn_open - returns @db, or, if it is torn, closes it and opens the file at @uri such that it can be read
 *
 * Returns NULL if out of memory.
 */
sqlite3 *sqlite_torn_open(sqlite3 *db, const char *uri, int flags);

/*
 * sqlite_torn_query - @query limited to the rows of its first table that can be read
 *
 * For queries that need a whole table (ORDER BY, min()) and therefore returned nothing. The caller frees it with
 * sqlite3_free(); NULL if the database is not torn, or no row can be read.
 */
char *sqlite_torn_query(sqlite3 *db, const char *query);

/* sqlite_torn_table - finds the name of a query's first table; returns its length; *@name is "" if there is none */
int sqlite_torn_table(const char *query, const char **name);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_TORN_H */
