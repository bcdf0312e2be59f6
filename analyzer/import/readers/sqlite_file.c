/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/sqlite_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/readers/sqlite_torn.h"

#define FLAGS (SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
#define MAGIC "SQLite format 3"

/* Converts a path to a URI, with ?, # and %, which have a meaning in URIs, escaped. */
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

/* Returns NULL with @error. */
static sqlite3 *open_path(const char *path, char *error, size_t error_size)
{
	char *uri = make_uri(path);
	sqlite3 *db = NULL;
	int status = SQLITE_NOMEM;

	if (uri)
		status = sqlite3_open_v2(uri, &db, FLAGS, NULL);
	if (status == SQLITE_OK) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		db = sqlite_torn_open(db, uri, FLAGS);
		status = db ? SQLITE_OK : SQLITE_NOMEM;
	}
	sqlite3_free(uri);
	if (status == SQLITE_OK) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		return db;
	}
	snprintf(error, error_size, "%s", sqlite3_errstr(status));
	sqlite3_close(db);
	return NULL;
}

bool sqlite_file_detect(const struct import_sample *sample, bool (*known)(sqlite3 *db))
{
	char error[128];
	sqlite3 *db;
	bool is;

	if (sample->directory || sample->size < sizeof(MAGIC) ||
	    memcmp(sample->text, MAGIC, sizeof(MAGIC)) != 0)
		return false;
	db = open_path(sample->path, error, sizeof(error));
	is = db && known(db);
	sqlite3_close(db);
	return is;
}

/* Describes the damage of a file, part of which may have been read. */
static void say_damage(sqlite3 *db, const char *query, char *words, size_t size)
{
	sqlite3_int64 there, whole;
	const char *table;
	int length = sqlite_torn_table(query, &table);

	if (sqlite_torn(db, &there, &whole))
		snprintf(words, size, "table %.*s: the file is torn, it ends at byte %lld of %lld",
			 length, table, there, whole);
	else
		snprintf(words, size, "table %.*s: %s", length, table, sqlite3_errmsg(db));
}

int sqlite_file_open(struct import *import, sqlite3 **db)
{
	sqlite3_int64 there, whole;
	char words[64], error[256];

	*db = open_path(import->path, error, sizeof(error));
	if (!*db)
		return import_fail(import, -EBADMSG, "%s", error);
	if (!sqlite_torn(*db, &there, &whole))
		return 0;
	snprintf(words, sizeof(words), "byte %lld of %lld", there, whole);
	return import_damage(import, "torn: the file ends before its database does; copy or export the file "
				     "again", words);
}

bool sqlite_file_is(const char *path)
{
	char magic[sizeof(MAGIC)] = "";
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(magic, 1, sizeof(magic), file) : 0;

	if (file)
		fclose(file);
	return length == sizeof(magic) && memcmp(magic, MAGIC, sizeof(MAGIC)) == 0;
}

static int found(void *context, int columns, char **texts, char **names)
{
	*(bool *)context = true;
	return 0;
}

/* Recognises DLProf's databases by the names of their views, which are not run. */
static bool is_of_dlprof(sqlite3 *db)
{
	bool any = false;

	sqlite3_exec(db,
		     "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name IN "
		     "('view_op_nodes', 'view_iteration_kernels') LIMIT 1",
		     found, &any, NULL);
	return any;
}

bool sqlite_file_why_unknown(const char *path, char *why, size_t why_size)
{
	sqlite3_int64 there, whole;
	sqlite3 *db;

	if (!sqlite_file_is(path))
		return false;
	db = open_path(path, why, why_size);
	if (!db)
		return true;
	if (sqlite_torn(db, &there, &whole))
		snprintf(why, why_size,
			 "a torn SQLite database, which ends at byte %lld of %lld: no table of a "
			 "format known here can be read in it; copy it again",
			 there, whole);
	else if (sqlite3_exec(db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL) != SQLITE_OK)
		snprintf(why, why_size, "an SQLite database that cannot be read: %s",
			 sqlite3_errmsg(db));
	else if (is_of_dlprof(db))
		snprintf(why, why_size,
			 "DLProf's database, which is made of a file of Nsight Systems: give that "
			 "instead, nsys_profile.sqlite beside it, or made by nsys export --type "
			 "sqlite nsys_profile.qdrep");
	else
		snprintf(why, why_size,
			 "an SQLite database without the tables of any format known here; "
			 "`analyzer info --help` lists them");
	sqlite3_close(db);
	return true;
}

bool sqlite_file_has(sqlite3 *db, const char *table, const char *column)
{
	/* Views are refused: their queries are unknown. */
	return sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

struct each {
	int (*row)(void *context, sqlite3_stmt *row);
	void *context;
	uint64_t count; /* number of rows */
};

static int each(sqlite3 *db, const char *query, struct each *to, int *status)
{
	sqlite3_stmt *statement = NULL;
	int err = 0;

	*status = sqlite3_prepare_v2(db, query, -1, &statement, NULL);
	if (*status == SQLITE_OK) {
		while (!err && (*status = sqlite3_step(statement)) == SQLITE_ROW) {
			to->count++;
			err = to->row(to->context, statement);
		}
	}
	sqlite3_finalize(statement);
	return err;
}

int sqlite_file_each(sqlite3 *db, const char *query, int (*row)(void *context, sqlite3_stmt *row),
		     void *context, char *error, size_t error_size)
{
	struct each to = { .row = row, .context = context };
	int status, err = each(db, query, &to, &status);
	char *part;

	if (err || status == SQLITE_DONE)
		return err;
	/* Finalizing does not change the error message. */
	say_damage(db, query, error, error_size);
	part = to.count || status == SQLITE_NOMEM ? NULL : sqlite_torn_query(db, query);
	if (part)
		err = each(db, part, &to, &status);
	sqlite3_free(part);
	if (err)
		return err;
	return status == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;
}

int sqlite_file_read(struct import *import, sqlite3 *db, const char *query,
		     int (*row)(void *context, sqlite3_stmt *row), void *context)
{
	char damage[256] = "";
	int err = sqlite_file_each(db, query, row, context, damage, sizeof(damage));

	return err == -EBADMSG ? import_damage(import, "damaged: a table was not read whole; copy or export "
						       "the file again", damage)
			       : err;
}
