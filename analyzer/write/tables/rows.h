/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - tables of rows, written as CSV files or into an SQLite database.
 *
 * A table is begun with its columns, then rows are given cell by cell from left to right. Errors are
 * sticky and told at the end. tables.h has the tables.
 */
#ifndef PROFBPF_ANALYZER_WRITE_TABLES_ROWS_H
#define PROFBPF_ANALYZER_WRITE_TABLES_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#define ROWS_CELLS 40 /* most columns of a table */

struct cell {
	enum { CELL_NULL, CELL_UNSIGNED, CELL_SIGNED, CELL_REAL, CELL_TEXT } kind;
	union {
		uint64_t number;
		int64_t negative;
		double real;
		const char *text; /* valid until the row ends */
	};
};

struct rows {
	/* What the format does; 0 or a negative errno. Columns: "name TEXT, count INTEGER, ...". */
	int (*begin_table)(struct rows *rows, const char *name, const char *columns);
	int (*end_row)(struct rows *rows); /* cells[0 .. cell_count) */
	int (*end_table)(struct rows *rows);
	struct cell cells[ROWS_CELLS];
	unsigned int cell_count;
	unsigned int columns; /* of the table */
	bool open; /* a table was begun */
	int err;
};

/* Begin a table and end the one before; columns as SQLite declares them. */
void rows_table(struct rows *rows, const char *name, const char *columns);

/* After the last table; returns the first error, -EINVAL for a row with another number of cells. */
int rows_finish(struct rows *rows);

void rows_u64(struct rows *rows, uint64_t value);
void rows_i64(struct rows *rows, int64_t value);
void rows_real(struct rows *rows, double value); /* NULL for NaN and infinities */
void rows_text(struct rows *rows, const char *text); /* must live until rows_end() */
void rows_null(struct rows *rows);
/* NULL if it is not known. */
void rows_known(struct rows *rows, bool known, uint64_t value);
/* NULL for the number that stands for "none": UINT64_MAX, or UINT32_MAX of indexes. */
void rows_id(struct rows *rows, uint64_t id);
void rows_index(struct rows *rows, uint32_t index);
void rows_end(struct rows *rows);

#endif /* PROFBPF_ANALYZER_WRITE_TABLES_ROWS_H */
