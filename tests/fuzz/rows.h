/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - tables of databases that the importers know, and rows of them made of a fuzzer's bytes.
 *
 * A row is its table's number, what the table lacks (of the table's first row only), and its cells:
 * each a byte that says of what kind it is and what that kind needs (rows.c). 0xfe ends a row early: the
 * cells left are NULL. 0xff instead of a table's number ends the rows.
 */
#ifndef PROFBPF_TESTS_FUZZ_ROWS_H
#define PROFBPF_TESTS_FUZZ_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "tests/fuzz/input.h"

#define ROWS_COLUMNS 16
#define ROWS_MAX 64 /* of a database: more say nothing new and take long */
#define ROWS_NONE UINT8_MAX

/* Seeds hold numbers of tables: append new ones, and new columns to the end of theirs. */
struct rows_table {
	const char *name;
	const char *columns[ROWS_COLUMNS];
	char owner; /* who asks for it: 'n' nsys, 'a' ascend_db, 'r' rocpd, 'v' nvprof */
	char other; /* who does, too; 0 = nobody */
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
	uint64_t made; /* tables that are there, by bit */
	uint16_t without[64]; /* columns that each of them lacks, by bit */
	uint8_t first[64], last[64]; /* row of each table, or ROWS_NONE */
	struct row row[ROWS_MAX];
};

/*
 * rows_make - what @in begins with
 *
 * @owner: whose tables; 0 = any. What follows the rows stays in @in.
 */
void rows_make(struct rows *rows, char owner, struct input *in);

#endif /* PROFBPF_TESTS_FUZZ_ROWS_H */
