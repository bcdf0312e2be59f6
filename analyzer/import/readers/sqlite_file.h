/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_file.h - reads SQLite databases of device profilers.
 *
 * Files are opened read-only and immutable: nothing is written beside the file, no lock is taken. The file is not
 * trusted: its views and triggers are not run.
 *
 * A torn file, which ends before the pages that its header counts (see "The Database Header" in SQLite's "Database
 * File Format"), is read up to its end.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_FILE_H
#define PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyzer/import/importer.h"

/* Is the file an SQLite database, by its first bytes? */
bool sqlite_file_is(const char *path);

/* Is the file an SQLite database, and does @known recognise its tables? */
bool sqlite_file_detect(const struct import_sample *sample, bool (*known)(sqlite3 *db));

/*
 * sqlite_file_open - opens an import's file, and adds a finding if it is torn
 *
 * Returns 0, or a negative errno with import->error. The caller closes *@db, which may be NULL, with
 * sqlite3_close() in any case.
 */
int sqlite_file_open(struct import *import, sqlite3 **db);

/*
 * sqlite_file_why_unknown - the reason why no importer accepts the SQLite database at @path
 *
 * Returns false, without @why, if the file is not an SQLite database.
 */
bool sqlite_file_why_unknown(const char *path, char *why, size_t why_size);

/* Is there a table (no view) of this name, with this column? @column may be NULL. */
bool sqlite_file_has(sqlite3 *db, const char *table, const char *column);

/*
 * sqlite_file_each - call @row for each row of a query
 *
 * Returns 0, the value of @row if it is not 0, -ENOMEM, or -EBADMSG for a damaged file, with @error, which names
 * the query's first table; the rows before the damage were passed to @row.
 */
int sqlite_file_each(sqlite3 *db, const char *query, int (*row)(void *context, sqlite3_stmt *row),
		     void *context, char *error, size_t error_size);

/*
 * sqlite_file_read - sqlite_file_each(), but damage is a finding: rows before it are valid. Returns 0, @row's error
 * or -ENOMEM.
 */
int sqlite_file_read(struct import *import, sqlite3 *db, const char *query,
		     int (*row)(void *context, sqlite3_stmt *row), void *context);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_FILE_H */
