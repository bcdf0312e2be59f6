/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_file.h - reading the SQLite databases that device profilers write.
 *
 * Read-only and immutable: nothing is written beside the file, no lock is taken. What the file
 * says about itself is not believed: its views and triggers are not run.
 *
 * A torn file, which ends before the pages that its header counts (see "The Database Header" in
 * SQLite's "Database File Format"), is read as far as it goes.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_FILE_H
#define PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyzer/import/importer.h"

/* Is it an SQLite database, by its first bytes? */
bool sqlite_file_is(const char *path);

/* Is it an SQLite database, and one that @known knows by its tables? */
bool sqlite_file_detect(const struct import_sample *sample, bool (*known)(sqlite3 *db));

/*
 * sqlite_file_open - open an import's file, and tell of it if it is torn
 *
 * Returns 0 or a negative errno that the import tells of. *@db, which may be NULL, is closed with sqlite3_close() in any case.
 */
int sqlite_file_open(struct import *import, sqlite3 **db);

/*
 * sqlite_file_why_unknown - why no importer wants the file at @path, if it is an SQLite database
 *
 * Returns false, and no @why, if it is none.
 */
bool sqlite_file_why_unknown(const char *path, char *why, size_t why_size);

/* Is there a table (no view) of this name, with this column? @column may be NULL. */
bool sqlite_file_has(sqlite3 *db, const char *table, const char *column);

/*
 * sqlite_file_each - call @row for each row of a query
 *
 * Returns 0, what @row returned if that is not 0, or -EBADMSG with @error for a damaged file (the
 * rows before the damage were handed out), which names the query's first table, and -ENOMEM.
 */
int sqlite_file_each(sqlite3 *db, const char *query, int (*row)(void *context, sqlite3_stmt *row),
		     void *context, char *error, size_t error_size);

/* sqlite_file_read - the same, but damage is a finding: what came before it is as good as ever. 0, @row's error or -ENOMEM */
int sqlite_file_read(struct import *import, sqlite3 *db, const char *query,
		     int (*row)(void *context, sqlite3_stmt *row), void *context);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_SQLITE_FILE_H */
