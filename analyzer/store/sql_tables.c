/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/sql_tables.h"
#include "analyzer/store/all_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENT_SIZE 4096
#define ROWS_GUESSED 1e6 /* assumed rows of a table, for SQLite's planner; a look-up by key has one */

/* How rows are found; idxNum of xFilter. */
enum look { LOOK_ALL, LOOK_KEY, LOOK_RANGE };

struct known_table {
	const struct data_table *table;
	const struct table_data *data;
	struct sql_part *part; /* NULL: the caller does not need it */
};

struct sql_table {
	sqlite3_vtab base; /* first: SQLite's part */
	struct known_table known;
};

struct sql_cursor {
	sqlite3_vtab_cursor base; /* first: SQLite's part */
	struct table_cursor at;
	uint64_t wanted; /* columns */
	bool end;
	sqlite3_int64 row;
	struct cell cells[TABLE_COLUMNS_MAX];
};

int sql_errno(int code)
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

int sql_columns(const struct data_table *table, char *text, size_t size)
{
	size_t used = 0;

	for (unsigned int i = 0; i < table->column_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s %s", i ? ", " : "",
					 table->columns[i].name,
					 column_type_name(&table->columns[i]));
	return used < size ? 0 : -E2BIG;
}

static int connect(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **vtab,
		   char **error)
{
	const struct known_table *known = arg;
	char columns[STATEMENT_SIZE], statement[STATEMENT_SIZE + 32];
	struct sql_table *made;
	int code;

	if (sql_columns(known->table, columns, sizeof(columns)))
		return SQLITE_TOOBIG;
	snprintf(statement, sizeof(statement), "CREATE TABLE t (%s)", columns);
	code = sqlite3_declare_vtab(db, statement);
	if (code != SQLITE_OK)
		return code;
	/* Not from sqlite3_malloc(): SQLite gives it back to disconnect(). */
	made = calloc(1, sizeof(*made));
	if (!made)
		return SQLITE_NOMEM;
	made->known = *known;
	*vtab = &made->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* How to find rows by one of the statement's conditions. */
static enum look look_by(const struct data_table *table,
			 const struct sqlite3_index_constraint *condition)
{
	if (!condition->usable || condition->op != SQLITE_INDEX_CONSTRAINT_EQ)
		return LOOK_ALL;
	if (table->keyed && condition->iColumn == 0)
		return LOOK_KEY;
	if (table->range && condition->iColumn == (int)table->range_column)
		return LOOK_RANGE;
	return LOOK_ALL;
}

/* Narrows @part by a condition on the start of rows. */
static void narrow(struct sql_part *part, unsigned char op, sqlite3_int64 value)
{
	uint64_t at_ns = value < 0 ? 0 : (uint64_t)value, after_ns = value < 0 ? 0 : at_ns + 1;
	struct sql_part by = SQL_PART_ALL;

	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ: by = (struct sql_part){ at_ns, after_ns }; break;
	case SQLITE_INDEX_CONSTRAINT_GT: by.from_ns = after_ns; break;
	case SQLITE_INDEX_CONSTRAINT_GE: by.from_ns = at_ns; break;
	case SQLITE_INDEX_CONSTRAINT_LT: by.to_ns = at_ns; break;
	case SQLITE_INDEX_CONSTRAINT_LE: by.to_ns = after_ns; break;
	default: break;
	}
	if (by.from_ns > part->from_ns)
		part->from_ns = by.from_ns;
	if (by.to_ns < part->to_ns)
		part->to_ns = by.to_ns;
}

/*
 * SQLite calls xBestIndex once for each set of conditions by which it could search the table, also for each side of an OR; the
 * union of them may be read. At first it offers conditions that do not hold for all rows, those of the other table
 * of an outer join. These are accepted, which makes SQLite call again without them. @used: arguments so far.
 */
static void note_part(const struct known_table *known, sqlite3_index_info *info, int used)
{
	struct sql_part part = SQL_PART_ALL;
	sqlite3_value *value;

	if (!known->part || !known->table->start_column)
		return;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *condition = &info->aConstraint[i];

		if (condition->usable && condition->iColumn == (int)known->table->start_column &&
		    sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK &&
		    sqlite3_value_type(value) == SQLITE_INTEGER) {
			narrow(&part, condition->op, sqlite3_value_int64(value));
			if (!info->aConstraintUsage[i].argvIndex)
				info->aConstraintUsage[i].argvIndex = ++used;
		}
	}
	if (part.from_ns >= part.to_ns)
		return;
	if (part.from_ns < known->part->from_ns)
		known->part->from_ns = part.from_ns;
	if (part.to_ns > known->part->to_ns)
		known->part->to_ns = part.to_ns;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	static const double costs[] = {
		[LOOK_ALL] = ROWS_GUESSED, [LOOK_KEY] = 1, [LOOK_RANGE] = 1e3
	};
	const struct known_table *known = &((struct sql_table *)vtab)->known;
	const struct data_table *table = known->table;
	enum look look = LOOK_ALL;
	int chosen = -1;

	for (int i = 0; i < info->nConstraint; i++) {
		enum look by = look_by(table, &info->aConstraint[i]);

		if (by != LOOK_ALL && (look == LOOK_ALL || by == LOOK_KEY)) {
			look = by;
			chosen = i;
		}
	}
	if (chosen >= 0)
		info->aConstraintUsage[chosen].argvIndex = 1;
	note_part(known, info, chosen >= 0);
	info->idxNum = (int)look;
	info->estimatedCost = costs[look];
	info->estimatedRows = (sqlite3_int64)costs[look];
	/* Which columns are read is only known here. */
	info->idxStr = sqlite3_mprintf("%llx", info->colUsed);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct sql_cursor *made = calloc(1, sizeof(*made));

	if (!made)
		return SQLITE_NOMEM;
	*cursor = &made->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static const struct known_table *known_of(const sqlite3_vtab_cursor *cursor)
{
	return &((const struct sql_table *)cursor->pVtab)->known;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	const struct data_table *table = known_of(base)->table;

	cursor->row++;
	cursor->end = !table->next(&cursor->at);
	if (!cursor->end)
		table->cells(&cursor->at, cursor->wanted, cursor->cells);
	return SQLITE_OK;
}

/*
 * Moves to the rows with a value. For a value that is no whole number all rows are returned: SQLite
 * checks the condition again itself.
 */
static void look_for(struct table_cursor *at, const struct known_table *known, enum look look,
		     sqlite3_value *value)
{
	sqlite3_int64 number = sqlite3_value_int64(value);

	if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER)
		return;
	if (number < 0) {
		at->limit = 0;
	} else if (look == LOOK_KEY) {
		at->i = (uint64_t)number;
		at->limit = at->i + 1;
	} else {
		known->table->range(known->data, (uint64_t)number, &at->i, &at->limit);
	}
}

static int filter(sqlite3_vtab_cursor *base, int look, const char *wanted, int argc,
		  sqlite3_value **argv)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	const struct known_table *known = known_of(base);

	cursor->wanted = strtoull(wanted, NULL, 16);
	cursor->row = 0;
	table_begin(&cursor->at, known->data);
	if (argc == 1)
		look_for(&cursor->at, known, (enum look)look, argv[0]);
	return next(base);
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return ((struct sql_cursor *)base)->end;
}

static bool is_made(const struct table_cursor *at, const char *text)
{
	for (int i = 0; i < TABLE_TEXTS; i++) {
		if (text == at->text[i])
			return true;
	}
	return false;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	const struct cell *cell = &cursor->cells[index];

	switch (cell->kind) {
	/* SQLite's integers have a sign: handles above 2^63 become negative, their bits stay. */
	case CELL_UNSIGNED: sqlite3_result_int64(context, (int64_t)cell->number); break;
	case CELL_SIGNED: sqlite3_result_int64(context, cell->negative); break;
	case CELL_REAL: sqlite3_result_double(context, cell->real); break;
	case CELL_TEXT:
		/* The model's texts stay valid; a text that was made for this row does not. */
		sqlite3_result_text(context, cell->text, -1,
				    is_made(&cursor->at, cell->text) ? SQLITE_TRANSIENT
								     : SQLITE_STATIC);
		break;
	default: sqlite3_result_null(context);
	}
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	*row = ((struct sql_cursor *)base)->row;
	return SQLITE_OK;
}

/* Without xCreate a table with the module's name exists without CREATE TABLE. */
static const sqlite3_module MODULE = {
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = row_id,
};

int sql_tables_add(sqlite3 *db, const struct table_data *data, const char *prefix,
		   struct sql_part *part)
{
	size_t count;
	const struct data_table *const *tables = tables_all(&count);
	int code = SQLITE_OK;

	for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
		struct known_table *known = malloc(sizeof(*known));
		char name[128];

		if (!known)
			return SQLITE_NOMEM;
		*known = (struct known_table){ .table = tables[i], .data = data, .part = part };
		snprintf(name, sizeof(name), "%s%s", prefix, tables[i]->name);
		/* It frees @known, also when it fails. */
		code = sqlite3_create_module_v2(db, name, &MODULE, known, free);
	}
	return code;
}
