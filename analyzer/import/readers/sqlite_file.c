/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/sqlite_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "SQLite format 3"

bool sqlite_file_detect(const struct import_sample *sample)
{
	return !sample->directory && sample->size >= sizeof(MAGIC) &&
	       memcmp(sample->text, MAGIC, sizeof(MAGIC)) == 0;
}

/* The path as a URI, in which ?, # and % would mean something else. */
static char *make_uri(const char *path)
{
	sqlite3_str *uri = sqlite3_str_new(NULL);

	sqlite3_str_appendall(uri, "file:");
	for (; *path; path++) {
		if (strchr("?#%", *path))
			sqlite3_str_appendf(uri, "%%%02x", (unsigned char)*path);
		else
			sqlite3_str_appendchar(uri, 1, *path);
	}
	sqlite3_str_appendall(uri, "?mode=ro&immutable=1");
	return sqlite3_str_finish(uri);
}

sqlite3 *sqlite_file_open(const char *path, char *error, size_t error_size)
{
	char *uri = make_uri(path);
	sqlite3 *db = NULL;
	int status = SQLITE_NOMEM;

	if (uri)
		status = sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	sqlite3_free(uri);
	if (status == SQLITE_OK) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		return db;
	}
	snprintf(error, error_size, "%s", sqlite3_errstr(status));
	sqlite3_close(db);
	return NULL;
}

bool sqlite_file_has(sqlite3 *db, const char *table, const char *column)
{
	/* Views are refused: what they select is not known. */
	return sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

int sqlite_file_each(sqlite3 *db, const char *query, int (*row)(void *context, sqlite3_stmt *row),
		     void *context, char *error, size_t error_size)
{
	sqlite3_stmt *statement = NULL;
	int status = sqlite3_prepare_v2(db, query, -1, &statement, NULL), err = 0;

	if (status == SQLITE_OK) {
		while (!err && (status = sqlite3_step(statement)) == SQLITE_ROW)
			err = row(context, statement);
	}
	if (!err && status != SQLITE_DONE) {
		err = status == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;
		snprintf(error, error_size, "%s", sqlite3_errmsg(db));
	}
	sqlite3_finalize(statement);
	return err;
}
