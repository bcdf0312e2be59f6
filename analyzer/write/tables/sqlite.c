/* SPDX-License-Identifier: Apache-2.0 */
/* Every table in an SQLite database. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/write/export_error.h"
#include "analyzer/write/tables/tables.h"

#define STATEMENT_SIZE 4096

struct sqlite_rows {
	struct rows rows; /* first: the functions below get it */
	sqlite3 *db;
	sqlite3_stmt *insert;
};

static int errno_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW: return 0;
	case SQLITE_NOMEM: return -ENOMEM;
	case SQLITE_FULL: return -ENOSPC;
	case SQLITE_TOOBIG: return -E2BIG;
	default: return -EIO;
	}
}

static int run(struct sqlite_rows *sqlite, const char *statement)
{
	return errno_of(sqlite3_exec(sqlite->db, statement, NULL, NULL, NULL));
}

static int begin_table(struct rows *rows, const char *name, const char *columns)
{
	struct sqlite_rows *sqlite = (struct sqlite_rows *)rows;
	char statement[STATEMENT_SIZE];
	size_t used;
	int err;

	if (snprintf(statement, sizeof(statement), "CREATE TABLE %s (%s)", name, columns) >=
	    (int)sizeof(statement))
		return -E2BIG;
	err = run(sqlite, statement);
	if (err)
		return err;
	used = (size_t)snprintf(statement, sizeof(statement), "INSERT INTO %s VALUES (?", name);
	for (unsigned int i = 1; i < rows->columns; i++)
		used += (size_t)snprintf(statement + used, sizeof(statement) - used, ",?");
	snprintf(statement + used, sizeof(statement) - used, ")");
	return errno_of(sqlite3_prepare_v2(sqlite->db, statement, -1, &sqlite->insert, NULL));
}

static int bind(struct sqlite_rows *sqlite, int column, const struct cell *cell)
{
	switch (cell->kind) {
	/* SQLite's integers have a sign: handles above 2^63 become negative, their bits stay. */
	case CELL_UNSIGNED:
		return sqlite3_bind_int64(sqlite->insert, column, (int64_t)cell->number);
	case CELL_SIGNED: return sqlite3_bind_int64(sqlite->insert, column, cell->negative);
	case CELL_REAL: return sqlite3_bind_double(sqlite->insert, column, cell->real);
	case CELL_TEXT:
		return sqlite3_bind_text(sqlite->insert, column, cell->text, -1, SQLITE_STATIC);
	default: return sqlite3_bind_null(sqlite->insert, column);
	}
}

static int end_row(struct rows *rows)
{
	struct sqlite_rows *sqlite = (struct sqlite_rows *)rows;
	int code = SQLITE_OK;

	for (unsigned int i = 0; i < rows->cell_count && code == SQLITE_OK; i++)
		code = bind(sqlite, (int)i + 1, &rows->cells[i]);
	if (code == SQLITE_OK)
		code = sqlite3_step(sqlite->insert);
	if (code == SQLITE_DONE)
		code = sqlite3_reset(sqlite->insert);
	return errno_of(code);
}

static int end_table(struct rows *rows)
{
	struct sqlite_rows *sqlite = (struct sqlite_rows *)rows;
	int code = sqlite3_finalize(sqlite->insert);

	sqlite->insert = NULL;
	return errno_of(code);
}

/* The file has a temporary name until it is complete: no journal is needed. */
static int open_database(struct sqlite_rows *sqlite, const char *path)
{
	int err = errno_of(sqlite3_open_v2(path, &sqlite->db,
					   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL));

	return err ? err : run(sqlite, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
}

static int finish(struct sqlite_rows *sqlite)
{
	return run(sqlite, "CREATE INDEX calls_by_thread ON calls (thread, start_ns);"
			   "CREATE INDEX tasks_by_device ON tasks (device, start_ns);"
			   "CREATE INDEX states_by_thread ON states (thread, start_ns);"
			   "COMMIT");
}

int write_sqlite(const struct model *model, const struct results *results, const char *path,
		 const struct export_options *options, char *error, size_t error_size)
{
	struct sqlite_rows sqlite = {
		.rows = { .begin_table = begin_table, .end_row = end_row, .end_table = end_table },
	};
	int err = open_database(&sqlite, path), code;

	if (!err)
		err = write_tables(&sqlite.rows, model, results, options);
	if (!err)
		err = finish(&sqlite);
	sqlite3_finalize(sqlite.insert);
	code = sqlite3_close(sqlite.db);
	if (!err)
		err = errno_of(code);
	if (err)
		export_explain(err, path, error, error_size);
	return err;
}
