/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/sql_tables.h"
#include "analyzer/store/all_tables.h"
#include "analyzer/view/render/csv_file.h"
#include "analyzer/view/render/json.h"
#include "analyzer/view/render/written.h"
#include "analyzer/view/render/table.h"

#define ROWS_AT_ONCE 1000 /* rows per aligned block: columns are as wide as these rows need */

/* ---- Permissions of a statement */

static int allow(void *arg, int action, const char *a, const char *b, const char *database,
		 const char *trigger)
{
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE: return SQLITE_OK;
	default: return SQLITE_DENY;
	}
}

/*
 * SQLite calls this while it prepares a statement, for each column that the statement reads, or once for a table of
 * which it reads no column. Records of tables without a start column are needed for all times.
 */
static int note_table(void *arg, int action, const char *a, const char *b, const char *database,
		      const char *trigger)
{
	struct query_needs *needs = arg;
	const struct data_table *table = action == SQLITE_READ && a ? table_find(a) : NULL;

	if (table) {
		needs->sections |= table->sections ? table->sections : SECTION_ALL;
		needs->rows |= table->rows;
		if (table->rows && !table->start_column)
			needs->part = SQL_PART_ALL;
	}
	return allow(NULL, action, a, b, database, trigger);
}

static void explain(sqlite3 *db, int code, char *error, size_t error_size)
{
	const char *message = sqlite3_errmsg(db);

	if (code == SQLITE_AUTH)
		snprintf(error, error_size, "only SELECT is allowed: a trace cannot be changed");
	else if (code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CANTOPEN)
		snprintf(error, error_size,
			 "no space to sort the rows: %s; set SQLITE_TMPDIR to a folder with free "
			 "space, or select fewer rows",
			 message);
	else if (strncmp(message, "no such table", strlen("no such table")) == 0)
		snprintf(error, error_size, "%s; analyzer query --schema lists the tables",
			 message);
	else if (strncmp(message, "no such column", strlen("no such column")) == 0)
		snprintf(error, error_size,
			 "%s; analyzer query --schema lists the columns of each table", message);
	else
		snprintf(error, error_size, "the statement: %s; for example \"select * from api\"", message);
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement, char *error,
		   size_t error_size)
{
	const char *rest = "";
	int code = sqlite3_prepare_v2(db, sql, -1, statement, &rest);

	if (code != SQLITE_OK) {
		explain(db, code, error, error_size);
		return -EINVAL;
	}
	rest += strspn(rest, " \t\n\r;");
	if (!*statement || *rest) {
		snprintf(error, error_size,
			 *statement ? "only one statement is allowed: the text after the first "
				      "semicolon is a second one"
				    : "the statement is empty");
		return -EINVAL;
	}
	return 0;
}

/* ---- Rows in each format; each returns 0 or a negative errno */

static int csv_rows(FILE *out, sqlite3_stmt *statement, int *code)
{
	struct csv_file csv = { .out = out };
	int columns = sqlite3_column_count(statement);

	for (int i = 0; i < columns; i++)
		csv_text(&csv, sqlite3_column_name(statement, i));
	csv_end_row(&csv);
	while (!csv.err && (*code = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < columns; i++)
			csv_text(&csv, (const char *)sqlite3_column_text(statement, i));
		csv_end_row(&csv);
	}
	return csv.err;
}

static void json_value(struct json *json, sqlite3_stmt *statement, int column)
{
	const char *name = sqlite3_column_name(statement, column);

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER: json_i64(json, name, sqlite3_column_int64(statement, column)); break;
	case SQLITE_FLOAT:
		json_fine_decimal(json, name, sqlite3_column_double(statement, column));
		break;
	case SQLITE_NULL: json_null(json, name); break;
	default: json_text(json, name, (const char *)sqlite3_column_text(statement, column));
	}
}

static int json_rows(FILE *out, sqlite3_stmt *statement, int *code)
{
	struct json *json = json_new(out, true);
	int columns = sqlite3_column_count(statement);

	if (!json)
		return -ENOMEM;
	json_array(json, NULL);
	while ((*code = sqlite3_step(statement)) == SQLITE_ROW) {
		json_map(json, NULL);
		for (int i = 0; i < columns; i++)
			json_value(json, statement, i);
		json_map_close(json);
	}
	json_array_close(json);
	return json_end(json);
}

static bool is_number(sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void add_row(struct table *table, sqlite3_stmt *statement)
{
	table_row(table);
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *text = (const char *)sqlite3_column_text(statement, i);

		if (text)
			table_text(table, text);
		else
			table_empty(table);
	}
}

/* Prints up to ROWS_AT_ONCE rows; the statement is at the first of them. */
static int print_some(FILE *out, sqlite3_stmt *statement, int *code,
		      const struct report_options *report)
{
	struct table *table = table_new(report);
	int rows = 0, err;

	if (!table)
		return -ENOMEM;
	for (int i = 0; i < sqlite3_column_count(statement); i++)
		table_column(table, sqlite3_column_name(statement, i),
			     is_number(statement, i) ? TABLE_RIGHT : TABLE_LEFT | TABLE_SHRINK);
	do {
		add_row(table, statement);
		*code = sqlite3_step(statement);
	} while (*code == SQLITE_ROW && ++rows < ROWS_AT_ONCE);
	err = table_print(table, out);
	table_free(table);
	return err;
}

static int table_rows(FILE *out, sqlite3_stmt *statement, int *code,
		      const struct report_options *report)
{
	int err = 0;

	*code = sqlite3_step(statement);
	if (*code == SQLITE_DONE)
		fputs("no rows\n", out);
	while (!err && *code == SQLITE_ROW)
		err = print_some(out, statement, code, report);
	return err ? err : stream_flush(out);
}

static int print_rows(FILE *out, sqlite3_stmt *statement, enum query_format format,
		      const struct report_options *report, int *code)
{
	*code = SQLITE_DONE;
	if (format == QUERY_JSON)
		return json_rows(out, statement, code);
	if (format == QUERY_CSV)
		return csv_rows(out, statement, code);
	return table_rows(out, statement, code, report);
}

/* ---- The command */

/* SQLite creates a virtual table at its first use, by a statement that the authorizer would reject. */
static int make_tables(sqlite3 *db)
{
	size_t count;
	const struct data_table *const *tables = tables_all(&count);
	int code = SQLITE_OK;

	for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
		char statement[128];

		snprintf(statement, sizeof(statement), "SELECT 1 FROM %s LIMIT 0", tables[i]->name);
		code = sqlite3_exec(db, statement, NULL, NULL, NULL);
	}
	return code;
}

static int open_tables(sqlite3 **db, const struct table_data *data, struct sql_part *part)
{
	int code = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE, NULL);

	if (code == SQLITE_OK)
		code = sql_tables_add(*db, data, "", part);
	if (code == SQLITE_OK)
		code = sql_functions_add(*db);
	if (code == SQLITE_OK)
		code = make_tables(*db);
	if (code == SQLITE_OK)
		sqlite3_set_authorizer(*db, allow, NULL);
	return sql_errno(code);
}

int query_needs_of(const char *sql, struct query_needs *needs, char *error, size_t error_size)
{
	const struct table_data nothing = { 0 };
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;
	int err;

	*needs = (struct query_needs){ .sections = SECTION_TRACE };
	err = open_tables(&db, &nothing, &needs->part);
	/* The part was set by creating the tables, not by the statement. */
	needs->part = SQL_PART_NONE;
	if (err) {
		snprintf(error, error_size, "cannot create the tables: %s", strerror(-err));
	} else {
		sqlite3_set_authorizer(db, note_table, needs);
		err = prepare(db, sql, &statement, error, error_size);
	}
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return err;
}

/* SQLite skips an unusable folder and silently uses another one. */
static int check_folder(char *error, size_t error_size)
{
	const char *folder = getenv("SQLITE_TMPDIR");
	struct stat at;
	int err = 0;

	if (!folder || !*folder)
		return 0;
	if (stat(folder, &at) || (S_ISDIR(at.st_mode) && access(folder, W_OK | X_OK)))
		err = errno;
	else if (!S_ISDIR(at.st_mode))
		err = ENOTDIR;
	if (err)
		snprintf(error, error_size,
			 "SQLITE_TMPDIR is '%s': %s; set it to a folder with free space for sorting",
			 folder, strerror(err));
	return -err;
}

int query_run(FILE *out, const struct table_data *data, const char *sql, enum query_format format,
	      const struct report_options *report, char *error, size_t error_size)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;
	int err = check_folder(error, error_size), code;

	if (err)
		return err;
	err = open_tables(&db, data, NULL);
	if (err) {
		snprintf(error, error_size, "cannot create the tables: %s", strerror(-err));
	} else {
		err = prepare(db, sql, &statement, error, error_size);
		if (!err) {
			err = print_rows(out, statement, format, report, &code);
			if (err)
				snprintf(error, error_size, "cannot write the rows: %s",
					 strerror(-err));
			else if (code != SQLITE_DONE)
				explain(db, code, error, error_size);
			if (!err && code != SQLITE_DONE)
				err = -EIO;
		}
	}
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return err;
}
