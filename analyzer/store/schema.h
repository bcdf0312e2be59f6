/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - one description of every table that the analyzer knows.
 *
 * A table has a name, columns and rows. A column has a name (the same in SQL, CSV and Parquet), a unit, a
 * heading for people and its meaning in one line; how its value is read from a row stands beside these
 * (define_table.h). CSV files, SQL tables, Parquet files and docs/tables.md are made from the descriptions:
 * who adds a figure adds a line to one of the files in store/tables/.
 */
#ifndef PROFBPF_ANALYZER_STORE_SCHEMA_H
#define PROFBPF_ANALYZER_STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/export/export.h"
#include "analyzer/view/report.h"

/* What the values of a column are. */
enum column_unit {
	UNIT_ROW, /* the number of a row, here or in the table that the column's name and meaning tell */
	UNIT_NUMBER, /* an identifier that the system or a file gave: pid, stream, address */
	UNIT_COUNT,
	UNIT_FLAG, /* 0 or 1 */
	UNIT_STATUS, /* a number with a sign that a function or device returned */
	UNIT_NS, /* a duration in nanoseconds; people read ms */
	UNIT_SHORT_NS, /* the same of one of many: a mean, a maximum; people read us */
	UNIT_INSTANT, /* nanoseconds of the traced host's CLOCK_MONOTONIC */
	UNIT_BYTES,
	UNIT_PERCENT,
	UNIT_REAL, /* a number with decimals whose unit the meaning tells */
	UNIT_TEXT,
	UNITS
};

/* How values are stored. */
enum column_type { COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT };

#define TABLE_COLUMNS_MAX 64 /* a mask of columns is 64 bits */
#define TABLE_TEXTS 3

struct column {
	const char *name;
	enum column_unit unit;
	const char *heading; /* in tables for people, without the unit */
	const char *meaning; /* a clause, without a full stop */
};

/* A value. What is unknown is CELL_NULL, never 0. */
struct cell {
	enum { CELL_NULL, CELL_UNSIGNED, CELL_SIGNED, CELL_REAL, CELL_TEXT } kind;
	union {
		uint64_t number;
		int64_t negative;
		double real;
		const char *text; /* valid until the cursor moves */
	};
};

/* Where rows come from. */
struct table_data {
	const struct model *model; /* joined and indexed */
	const struct results *results;
	const struct export_options *options;
	bool *threads; /* by thread: is it wanted? export_threads() */
	struct syscall_table *syscalls; /* their names on the traced machine */
};

/*
 * A place in a table. Rows are those of an array, or of an array in each row of another one; @i counts the
 * outer array's rows and @k the inner one's.
 */
struct table_cursor {
	const struct table_data *of;
	const void *row; /* as the table's own functions know it */
	const void *outer; /* the row of the outer array, where there are two */
	uint64_t
		index; /* of row, or of outer, in its array: what a first column of UNIT_ROW holds */
	uint64_t i, k, m; /* what comes next */
	uint64_t limit, inner_limit; /* of i and of k */
	char text[TABLE_TEXTS][512]; /* of values that are made for the row */
};

struct data_table {
	const char *name;
	const char *meaning; /* what a row is: a sentence without a full stop */
	const struct column *columns;
	unsigned int column_count;
	/* Does the first column hold what @i of the cursor counts? Then rows with a value of it are found at once. */
	bool keyed;
	/*
	 * Where rows have the value @value in the column @range_column, which is not the first, they lie in
	 * [*@first, *@end) of what @i counts. NULL = they lie anywhere.
	 */
	void (*range)(const struct table_data *of, uint64_t value, uint64_t *first, uint64_t *end);
	unsigned int range_column;
	/* The column that tells when a row begins: of a part of the time no others than these are asked for. 0 = none. */
	unsigned int start_column;
	/*
	 * What its rows are made of: the sections (enum report_section) whose analyses find them; 0 = of everything
	 * that there is. And the rows of a trace (enum load_rows) that they are, beyond those that these analyses read.
	 */
	uint32_t sections;
	uint32_t rows;
	/* Move to the next row; false after the last one. */
	bool (*next)(struct table_cursor *at);
	/* Fill those cells[column] that are set in @wanted. */
	void (*cells)(struct table_cursor *at, uint64_t wanted, struct cell *cells);
};

/* A cursor before the first row. */
void table_begin(struct table_cursor *at, const struct table_data *of);

enum column_type column_type(const struct column *column);

/* "INTEGER", "REAL", "TEXT": what SQLite calls it. */
const char *column_type_name(const struct column *column);

/* "ns", "bytes", "%"; "" where the number says it all. */
const char *column_unit_name(const struct column *column);

/*
 * table_data_init - rows of the wanted processes
 *
 * @options, @model and @results must outlive it. Returns 0 or -ENOMEM; table_data_free() afterwards.
 */
int table_data_init(struct table_data *data, const struct model *model,
		    const struct results *results, const struct export_options *options);
void table_data_free(struct table_data *data);

#endif /* PROFBPF_ANALYZER_STORE_SCHEMA_H */
