/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - one description of every table that the analyzer knows.
 *
 * A table has a name, columns and rows. A column has a name (the same in SQL, CSV and Parquet), a unit, a
 * heading for people and its meaning in one line; the expression that reads its value from a row is beside these
 * (define_table.h). CSV files, SQL tables, Parquet files and docs/tables.md are made from the descriptions:
 * a new figure is one line in one of the files of store/tables/.
 */
#ifndef PROFBPF_ANALYZER_STORE_SCHEMA_H
#define PROFBPF_ANALYZER_STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/export/export.h"
#include "analyzer/view/report.h"

/* The kind of a column's values. */
enum column_unit {
	UNIT_ROW, /* the number of a row of this table or of the one that the column's name and meaning give */
	UNIT_NUMBER, /* an identifier that the system or a file gave: pid, stream, address */
	UNIT_COUNT,
	UNIT_FLAG, /* 0 or 1 */
	UNIT_STATUS, /* a number with a sign that a function or device returned */
	UNIT_NS, /* a duration in nanoseconds; people read ms */
	UNIT_SHORT_NS, /* the duration of a single item, such as a mean or a maximum; shown in us */
	UNIT_INSTANT, /* nanoseconds of the traced host's CLOCK_MONOTONIC */
	UNIT_BYTES,
	UNIT_PERCENT,
	UNIT_REAL, /* a number with decimals, whose unit the meaning states */
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

/* A value. An unknown value is CELL_NULL, never 0. */
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
 * A position in a table. The rows are the elements of an array, or of an array in each element of an outer array; @i
 * counts the outer elements and @k the inner ones.
 */
struct table_cursor {
	const struct table_data *of;
	const void *row; /* as the table's own functions know it */
	const void *outer; /* the row of the outer array, where there are two */
	uint64_t
		index; /* of row, or of outer, in its array: the value of a first column of UNIT_ROW */
	uint64_t i, k, m; /* counters of the next element */
	uint64_t limit, inner_limit; /* of i and of k */
	char text[TABLE_TEXTS][512]; /* of values that are made for the row */
};

struct data_table {
	const char *name;
	const char *meaning; /* the meaning of a row: a sentence without a full stop */
	const struct column *columns;
	unsigned int column_count;
	/* Is the first column the counter @i of the cursor? Then rows with a given value are found directly. */
	bool keyed;
	/*
	 * Rows with @value in the column @range_column, which is not the first, are in [*@first, *@end) of the
	 * counter @i. NULL = they may be anywhere.
	 */
	void (*range)(const struct table_data *of, uint64_t value, uint64_t *first, uint64_t *end);
	unsigned int range_column;
	/* The column with the start of a row: for a part of the time only rows that start in it are read. 0 = none. */
	unsigned int start_column;
	/*
	 * The inputs of its rows: the sections (enum report_section) whose analyses make them; 0 = all. And the rows of
	 * a trace (enum load_rows) that the table shows itself, beyond those that these analyses read.
	 */
	uint32_t sections;
	uint32_t rows;
	/* Moves to the next row; returns false after the last one. */
	bool (*next)(struct table_cursor *at);
	/* Fills cells[column] for each column that is set in @wanted. */
	void (*cells)(struct table_cursor *at, uint64_t wanted, struct cell *cells);
};

/* A cursor before the first row. */
void table_begin(struct table_cursor *at, const struct table_data *of);

enum column_type column_type(const struct column *column);

/* SQLite's name of the column's type: "INTEGER", "REAL", "TEXT". */
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
