/* SPDX-License-Identifier: Apache-2.0 */
/* input_files.c - files and databases for importers, and checks of the models that they make. */
#include "tests/fuzz/input.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyzer/model/model.h"
#include "tests/fuzz/rows.h"

void input_write_file(const char *name, struct input bytes, bool packed)
{
	if (packed) {
		gzFile out = gzopen(name, "wb1");

		check(out && gzwrite(out, bytes.data, (unsigned int)bytes.size) == (int)bytes.size);
		check(gzclose(out) == Z_OK);
	} else {
		FILE *out = fopen(name, "w");

		check(out != NULL);
		check(!bytes.size || fwrite(bytes.data, 1, bytes.size, out) == bytes.size);
		check(!fclose(out));
	}
}

static void run_sql(sqlite3 *db, sqlite3_str *text)
{
	char *statement = sqlite3_str_finish(text);

	check(statement && sqlite3_exec(db, statement, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_free(statement);
}

static void make_table(sqlite3 *db, const struct rows *rows, uint8_t table)
{
	sqlite3_str *text = sqlite3_str_new(db);

	sqlite3_str_appendf(text, "CREATE TABLE \"%w\" (unknown", ROWS_TABLES[table].name);
	for (int i = 0; i < ROWS_COLUMNS && ROWS_TABLES[table].columns[i]; i++)
		if (!(rows->without[table] & 1u << i))
			sqlite3_str_appendf(text, ", %s", ROWS_TABLES[table].columns[i]);
	sqlite3_str_appendall(text, ")");
	run_sql(db, text);
}

static void bind_cell(sqlite3_stmt *row, int place, const struct cell *cell)
{
	const char *bytes = (const char *)cell->bytes.data;
	int size = (int)cell->bytes.size;

	switch (cell->type) {
	case SQLITE_INTEGER: sqlite3_bind_int64(row, place, cell->integer); break;
	case SQLITE_FLOAT: sqlite3_bind_double(row, place, cell->real); break;
	case SQLITE_TEXT: sqlite3_bind_text(row, place, bytes, size, SQLITE_STATIC); break;
	case SQLITE_BLOB: sqlite3_bind_blob(row, place, bytes, size, SQLITE_STATIC); break;
	default: break;
	}
}

static void add_row(sqlite3 *db, const struct rows *rows, const struct row *from)
{
	uint16_t without = rows->without[from->table];
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_stmt *row = NULL;
	char *statement;
	int place = 1;

	sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES (0", ROWS_TABLES[from->table].name);
	for (int i = 0; i < ROWS_COLUMNS && ROWS_TABLES[from->table].columns[i]; i++)
		if (!(without & 1u << i))
			sqlite3_str_appendall(text, ", ?");
	sqlite3_str_appendall(text, ")");
	statement = sqlite3_str_finish(text);
	check(statement && sqlite3_prepare_v2(db, statement, -1, &row, NULL) == SQLITE_OK);
	for (int i = 0; i < ROWS_COLUMNS && ROWS_TABLES[from->table].columns[i]; i++)
		if (!(without & 1u << i))
			bind_cell(row, place++, &from->cells[i]);
	check(sqlite3_step(row) == SQLITE_DONE);
	sqlite3_finalize(row);
	sqlite3_free(statement);
}

/* Flips bits in the finished file, from pairs of a place and a byte; most inputs have none. */
static void damage(unsigned char *bytes, sqlite3_int64 size, struct input *in)
{
	while (in->size >= 3) {
		uint64_t place = input_number(in, 2);

		bytes[place % (uint64_t)size] ^= input_byte(in);
	}
}

/* Small pages, so that there is less to write, and there are more pages. */
void input_write_database(const char *name, struct input *in)
{
	static struct rows rows;
	sqlite3_int64 size = 0;
	unsigned char *bytes;
	sqlite3 *db;

	rows_make(&rows, 0, in);
	check(sqlite3_open(":memory:", &db) == SQLITE_OK);
	check(sqlite3_exec(db, "PRAGMA page_size = 512; BEGIN", NULL, NULL, NULL) == SQLITE_OK);
	for (unsigned int i = 0; i < rows.count; i++) {
		if (rows.first[rows.row[i].table] == i)
			make_table(db, &rows, rows.row[i].table);
		add_row(db, &rows, &rows.row[i]);
	}
	check(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
	bytes = sqlite3_serialize(db, "main", &size, 0);
	if (bytes && size)
		damage(bytes, size, in);
	input_write_file(name, (struct input){ bytes, (size_t)size }, false);
	sqlite3_free(bytes);
	sqlite3_close(db);
}

/* References to missing rows would be reads beyond arrays. */
void check_model(const struct model *model)
{
	for (uint32_t i = 0; i < model->threads.count; i++)
		check(model->threads.row[i].process < model->processes.count);
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];

		check(call->thread < model->threads.count);
		check(call->function < model->functions.count && call->end_ns >= call->start_ns);
	}
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		check(task->device < model->devices.count);
		check(task->thread == INDEX_NONE || task->thread < model->threads.count);
		check(task->flags & MODEL_TASK_UNTIMED || task->end_ns >= task->start_ns);
	}
	for (uint32_t i = 0; i < model->findings.count; i++)
		check(model->findings.row[i].file < model->imports.count);
}
