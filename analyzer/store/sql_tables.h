/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_tables.h - the tables of store/schema.h in SQL, without a copy.
 *
 * They are SQLite virtual tables. Only the columns that a statement names are read; a join by the number of a
 * row ("thread", "task") finds the row directly, and so does a join of calls by their thread.
 */
#ifndef PROFBPF_ANALYZER_STORE_SQL_TABLES_H
#define PROFBPF_ANALYZER_STORE_SQL_TABLES_H

#include <sqlite3.h>

#include "analyzer/store/schema.h"

/* The part of the time (CLOCK_MONOTONIC, half-open) in which the requested rows of tables with a start column begin. */
struct sql_part {
	uint64_t from_ns;
	uint64_t to_ns; /* not after from_ns: none is */
};

#define SQL_PART_NONE ((struct sql_part){ UINT64_MAX, 0 })
#define SQL_PART_ALL ((struct sql_part){ 0, UINT64_MAX })

/*
 * sql_tables_add - adds every table to @db, named @prefix and the table's name
 *
 * @part: widened, whenever a statement is prepared, by the part that its conditions ("start_ns between 5 and 9") leave of each
 * such table that it names; initially SQL_PART_NONE, or NULL. @data and @part must outlive @db. Returns SQLITE_OK or SQLite's
 * error.
 */
int sql_tables_add(sqlite3 *db, const struct table_data *data, const char *prefix,
		   struct sql_part *part);

/*
 * sql_functions_add - quantile(value, fraction) and median(value)
 *
 * Exact: the smallest of the values that at least the fraction of them does not exceed. NULLs and texts are left
 * out. 8 bytes of memory for each value. Returns SQLITE_OK or SQLite's error.
 */
int sql_functions_add(sqlite3 *db);

/* The negative errno for one of SQLite's result codes; 0 for codes that are no errors. */
int sql_errno(int code);

/* "name INTEGER, other TEXT": the columns in the syntax of CREATE TABLE. -E2BIG if @size bytes are too few. */
int sql_columns(const struct data_table *table, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_STORE_SQL_TABLES_H */
