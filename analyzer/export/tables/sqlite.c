/* SPDX-License-Identifier: Apache-2.0 */
/* Every table in an SQLite database. */
#include <errno.h>
#include <stdio.h>

#include "analyzer/store/sql_tables.h"
#include "analyzer/store/all_tables.h"
#include "analyzer/export/export_error.h"

#define STATEMENT_SIZE 8192
#define FROM "from_" /* prefix of the names of the tables that are copied */

static int run(sqlite3 *db, const char *statement)
{
	return sql_errno(sqlite3_exec(db, statement, NULL, NULL, NULL));
}

/* The file has a temporary name until it is complete: no journal is needed. */
static int open_database(sqlite3 **db, const char *path)
{
	int err = sql_errno(
		sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL));

	return err ? err : run(*db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
}

static int copy_table(sqlite3 *db, const struct data_table *table)
{
	char columns[STATEMENT_SIZE / 2], statement[STATEMENT_SIZE];
	int err = sql_columns(table, columns, sizeof(columns));

	if (err)
		return err;
	snprintf(statement, sizeof(statement),
		 "CREATE TABLE %s (%s); INSERT INTO %s SELECT * FROM " FROM "%s", table->name,
		 columns, table->name, table->name);
	return run(db, statement);
}

static int copy_tables(sqlite3 *db, const struct table_data *data)
{
	size_t count;
	const struct data_table *const *tables = tables_all(&count);
	int err = sql_errno(sql_tables_add(db, data, FROM, NULL));

	for (size_t i = 0; i < count && !err; i++)
		err = copy_table(db, tables[i]);
	return err;
}

static int finish(sqlite3 *db)
{
	return run(db, "CREATE INDEX calls_by_thread ON calls (thread, start_ns);"
		       "CREATE INDEX tasks_by_device ON tasks (device, start_ns);"
		       "CREATE INDEX states_by_thread ON states (thread, start_ns);"
		       "COMMIT");
}

static int write_sqlite(const struct model *model, const struct results *results, const char *path,
			const struct export_options *options, char *error, size_t error_size)
{
	struct table_data data;
	sqlite3 *db = NULL;
	int err = table_data_init(&data, model, results, options), code;

	if (!err)
		err = open_database(&db, path);
	if (!err)
		err = copy_tables(db, &data);
	if (!err)
		err = finish(db);
	code = sqlite3_close(db);
	if (!err)
		err = sql_errno(code);
	table_data_free(&data);
	if (err)
		export_explain(err, path, error, error_size);
	return err;
}

const struct exporter export_sqlite = { .write = write_sqlite };
