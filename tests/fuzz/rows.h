/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - tables of databases that the importers know, and their rows, made from a fuzzer's bytes.
 *
 * A row is its table's number, the missing columns of the table (in the table's first row only), and its cells:
 * each a byte with its kind and the data of that kind (rows.c). 0xfe ends a row early: the
 * remaining cells are NULL. 0xff instead of a table's number ends the rows.
 */
#ifndef PROFBPF_TESTS_FUZZ_ROWS_H
#define PROFBPF_TESTS_FUZZ_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "tests/fuzz/input.h"

#define ROWS_COLUMNS 16
#define ROWS_MAX 64 /* rows of a database: more rows find nothing new and take time */
#define ROWS_NONE UINT8_MAX

/* Seeds contain numbers of tables: append new tables, and append new columns to their table. */
struct rows_table {
	const char *name;
	const char *columns[ROWS_COLUMNS];
	char owner; /* importer that reads it: 'n' nsys, 'a' ascend_db, 'r' rocpd, 'v' nvprof */
	char other; /* second importer that reads it; 0 = none */
};

extern const struct rows_table ROWS_TABLES[];
extern const unsigned int ROWS_TABLE_COUNT; /* at most 64 */

struct cell {
	int type; /* SQLITE_INTEGER, ... */
	int64_t integer;
	double real;
	struct input bytes; /* of texts and blobs */
};

struct row {
	uint8_t table;
	uint8_t next; /* row of the same table, or ROWS_NONE */
	struct cell cells[ROWS_COLUMNS];
};

struct rows {
	unsigned int count;
	uint64_t made; /* existing tables, by bit */
	uint16_t without[64]; /* missing columns of each table, by bit */
	uint8_t first[64], last[64]; /* row of each table, or ROWS_NONE */
	struct row row[ROWS_MAX];
};

/*
 * rows_make - makes rows from the begin of @in
 *
 * @owner: owner of the tables; 0 = any. The bytes after the rows stay in @in.
 */
void rows_make(struct rows *rows, char owner, struct input *in);

#endif /* PROFBPF_TESTS_FUZZ_ROWS_H */
