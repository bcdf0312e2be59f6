/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/virtual_database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/readers/sqlite_file.h"
#include "tests/fuzz/rows.h"

#define STATEMENTS 1024 /* prepared statements to keep; a power of two */
#define MASTER "sqlite_master"
#define PRESENT "present_table" /* replaces MASTER; both have the same length */
#define NO_TABLE UINT8_MAX

int __real_sqlite3_close(sqlite3 *db);
int __wrap_sqlite3_close(sqlite3 *db);

/* A query, with the tables and columns that it reads. */
struct statement {
	char *query;
	sqlite3_stmt *prepared; /* NULL: it cannot be prepared */
	uint64_t tables;
	uint16_t columns[64];
	bool running;
};

struct table {
	sqlite3_vtab base;
	unsigned int number; /* ROWS_TABLE_COUNT: the list of tables */
};

struct cursor {
	sqlite3_vtab_cursor base;
	unsigned int row; /* ROWS_NONE: beyond the last row */
	unsigned int read;
};

static struct {
	sqlite3 *db;
	struct rows rows;
	bool empty;
	unsigned int damaged; /* table */
	unsigned int intact; /* number of its rows before the damage */
	struct statement statements[STATEMENTS];
	struct statement *preparing;
} file;

static int connect_table(sqlite3 *db, void *unused, int count, const char *const *words,
			 sqlite3_vtab **result, char **error)
{
	sqlite3_str *text = sqlite3_str_new(db);
	struct table *table = sqlite3_malloc(sizeof(*table));
	const char *const *columns;
	char *declaration;

	check(table && count == 4);
	*table = (struct table){ .number = (unsigned int)atoi(words[3]) };
	columns = ROWS_TABLES[table->number].columns;
	sqlite3_str_appendall(text, "CREATE TABLE t(unknown");
	if (table->number == ROWS_TABLE_COUNT)
		sqlite3_str_appendall(text, ", type, name");
	for (int i = 0; table->number < ROWS_TABLE_COUNT && i < ROWS_COLUMNS && columns[i]; i++)
		sqlite3_str_appendf(text, ", %s", columns[i]);
	sqlite3_str_appendall(text, ")");
	declaration = sqlite3_str_finish(text);
	check(declaration && sqlite3_declare_vtab(db, declaration) == SQLITE_OK);
	sqlite3_free(declaration);
	*result = &table->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	info->estimatedCost = 1;
	info->estimatedRows = 1;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **result)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	check(cursor != NULL);
	*cursor = (struct cursor){ .row = ROWS_NONE };
	*result = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static unsigned int number_of(const struct cursor *cursor)
{
	return ((const struct table *)cursor->base.pVtab)->number;
}

static unsigned int next_present(unsigned int table)
{
	while (table < ROWS_TABLE_COUNT && !(file.rows.made & 1ull << table))
		table++;
	return table < ROWS_TABLE_COUNT ? table : ROWS_NONE;
}

static int check_damage(const struct cursor *cursor)
{
	return number_of(cursor) == file.damaged && cursor->read >= file.intact ? SQLITE_CORRUPT
										: SQLITE_OK;
}

static int rewind_cursor(sqlite3_vtab_cursor *base, int number, const char *text, int count,
			 sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)base;
	unsigned int table = number_of(cursor);

	cursor->read = 0;
	if (table == ROWS_TABLE_COUNT)
		cursor->row = next_present(0);
	else
		cursor->row = file.rows.made & 1ull << table ? file.rows.first[table] : ROWS_NONE;
	return check_damage(cursor);
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->read++;
	if (number_of(cursor) == ROWS_TABLE_COUNT)
		cursor->row = next_present(cursor->row + 1);
	else
		cursor->row = file.rows.row[cursor->row].next;
	return check_damage(cursor);
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->row == ROWS_NONE;
}

static void put_cell(sqlite3_context *result, const struct cell *cell)
{
	const char *bytes = (const char *)cell->bytes.data;
	int size = (int)cell->bytes.size;

	switch (cell->type) {
	case SQLITE_INTEGER: sqlite3_result_int64(result, cell->integer); break;
	case SQLITE_FLOAT: sqlite3_result_double(result, cell->real); break;
	case SQLITE_TEXT: sqlite3_result_text(result, bytes, size, SQLITE_STATIC); break;
	case SQLITE_BLOB: sqlite3_result_blob(result, bytes, size, SQLITE_STATIC); break;
	default: sqlite3_result_null(result); break;
	}
}

static int column_of_row(sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
	const struct cursor *cursor = (const struct cursor *)base;

	if (number_of(cursor) == ROWS_TABLE_COUNT)
		sqlite3_result_text(result, column == 1 ? "table" : ROWS_TABLES[cursor->row].name,
				    -1, SQLITE_STATIC);
	else if (column)
		put_cell(result, &file.rows.row[cursor->row].cells[column - 1]);
	else
		sqlite3_result_int64(result, 0);
	return SQLITE_OK;
}

static int number_of_row(sqlite3_vtab_cursor *cursor, sqlite3_int64 *number)
{
	*number = ((struct cursor *)cursor)->row;
	return SQLITE_OK;
}

/* Not strcmp(): libFuzzer would insert the compared strings into inputs. */
static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static unsigned int table_named(const char *name)
{
	unsigned int i = 0;

	while (i < ROWS_TABLE_COUNT && !is_same(ROWS_TABLES[i].name, name))
		i++;
	return i;
}

static unsigned int column_named(unsigned int table, const char *name)
{
	unsigned int i = 0;

	while (i < ROWS_COLUMNS && ROWS_TABLES[table].columns[i] &&
	       !is_same(ROWS_TABLES[table].columns[i], name))
		i++;
	return i < ROWS_COLUMNS && ROWS_TABLES[table].columns[i] ? i : ROWS_COLUMNS;
}

/* SQLite's authorizer: called for each column that a query reads, while it is prepared. */
static int note_read(void *unused, int action, const char *name, const char *column,
		     const char *database, const char *trigger)
{
	unsigned int table, number;

	if (action != SQLITE_READ || !file.preparing || !name)
		return SQLITE_OK;
	table = table_named(name);
	if (table == ROWS_TABLE_COUNT)
		return SQLITE_OK;
	file.preparing->tables |= 1ull << table;
	number = column_named(table, column);
	if (number < ROWS_COLUMNS)
		file.preparing->columns[table] |= (uint16_t)(1u << number);
	return SQLITE_OK;
}

static void add_table(const char *name, unsigned int number)
{
	char *text = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING rows(%u)", name, number);

	check(text && sqlite3_exec(file.db, text, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_free(text);
}

static void make_database(void)
{
	static const sqlite3_module MODULE = {
		.xCreate = connect_table,
		.xConnect = connect_table,
		.xBestIndex = best_index,
		.xDisconnect = disconnect_table,
		.xDestroy = disconnect_table,
		.xOpen = open_cursor,
		.xClose = close_cursor,
		.xFilter = rewind_cursor,
		.xNext = next_row,
		.xEof = at_end,
		.xColumn = column_of_row,
		.xRowid = number_of_row,
	};

	check(sqlite3_open(":memory:", &file.db) == SQLITE_OK);
	check(sqlite3_create_module(file.db, "rows", &MODULE, NULL) == SQLITE_OK);
	for (unsigned int i = 0; i < ROWS_TABLE_COUNT; i++)
		add_table(ROWS_TABLES[i].name, i);
	add_table(PRESENT, ROWS_TABLE_COUNT);
	check(sqlite3_set_authorizer(file.db, note_read, NULL) == SQLITE_OK);
}

void virtual_database_set(struct input in, char owner)
{
	if (!file.db)
		make_database();
	file.empty = !in.size;
	rows_make(&file.rows, owner, &in);
	file.damaged = in.size >= 2 ? input_byte(&in) % ROWS_TABLE_COUNT : NO_TABLE;
	file.intact = input_byte(&in);
}

bool sqlite_file_detect(const struct import_sample *sample, bool (*known)(sqlite3 *db))
{
	return !sample->directory && sample->size >= 16 &&
	       memcmp(sample->text, "SQLite format 3", 16) == 0 && !file.empty && known(file.db);
}

bool sqlite_file_is(const char *path)
{
	return !file.empty;
}

/* Replaces the opening of a file; rows without a file cannot be truncated. */
int sqlite_file_open(struct import *import, sqlite3 **db)
{
	*db = file.empty ? NULL : file.db;
	return *db ? 0 : import_fail(import, -EBADMSG, "%s", sqlite3_errstr(SQLITE_CANTOPEN));
}

/* The database stays open. */
int __wrap_sqlite3_close(sqlite3 *db)
{
	return db == file.db ? SQLITE_OK : __real_sqlite3_close(db);
}

bool sqlite_file_has(sqlite3 *db, const char *table, const char *column)
{
	unsigned int number = table_named(table), place;

	if (number == ROWS_TABLE_COUNT || !(file.rows.made & 1ull << number))
		return false;
	place = column ? column_named(number, column) : 0;
	return !column || (place < ROWS_COLUMNS && !(file.rows.without[number] & 1u << place));
}

static void prepare(struct statement *statement, const char *query)
{
	char *place;

	check(!statement->running);
	free(statement->query);
	sqlite3_finalize(statement->prepared);
	*statement = (struct statement){ .query = strdup(query) };
	check(statement->query != NULL);
	while ((place = strstr(statement->query, MASTER)))
		memcpy(place, PRESENT, sizeof(PRESENT) - 1);
	file.preparing = statement;
	sqlite3_prepare_v3(file.db, statement->query, -1, SQLITE_PREPARE_PERSISTENT,
			   &statement->prepared, NULL);
	file.preparing = NULL;
	strcpy(statement->query, query);
}

static struct statement *find_statement(const char *query)
{
	struct statement *statement;
	uint32_t hash = 2166136261u;

	for (const char *c = query; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	statement = &file.statements[(hash ^ hash >> 16) % STATEMENTS];
	if (!statement->query || !is_same(statement->query, query))
		prepare(statement, query);
	return statement;
}

/* Returns whether the current input has all tables and columns that the statement reads. */
static bool can_run(const struct statement *statement)
{
	if (!statement->prepared || statement->tables & ~file.rows.made)
		return false;
	for (unsigned int i = 0; i < ROWS_TABLE_COUNT; i++)
		if (statement->tables & 1ull << i && statement->columns[i] & file.rows.without[i])
			return false;
	return true;
}

int sqlite_file_each(sqlite3 *db, const char *query, int (*row)(void *context, sqlite3_stmt *row),
		     void *context, char *error, size_t error_size)
{
	struct statement *statement = find_statement(query);
	int status = SQLITE_ERROR, err = 0;

	if (can_run(statement)) {
		check(!statement->running);
		statement->running = true;
		while (!err && (status = sqlite3_step(statement->prepared)) == SQLITE_ROW)
			err = row(context, statement->prepared);
		sqlite3_reset(statement->prepared);
		statement->running = false;
	}
	if (!err && status != SQLITE_DONE) {
		err = status == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;
		snprintf(error, error_size, "%s", sqlite3_errstr(status));
	}
	return err;
}

int sqlite_file_read(struct import *import, sqlite3 *db, const char *query,
		     int (*row)(void *context, sqlite3_stmt *row), void *context)
{
	char damage[256] = "";
	int err = sqlite_file_each(db, query, row, context, damage, sizeof(damage));

	return err == -EBADMSG ? import_finding(import, "damaged: a table was not read whole", damage)
			       : err;
}

/* Files that are no database are text here. */
bool sqlite_file_why_unknown(const char *path, char *why, size_t why_size)
{
	return false;
}
