/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/tables/rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void note(struct rows *rows, int err)
{
	if (!rows->err)
		rows->err = err;
}

static void end_table(struct rows *rows)
{
	if (rows->open && !rows->err)
		note(rows, rows->end_table(rows));
	rows->open = false;
}

void rows_table(struct rows *rows, const char *name, const char *columns)
{
	end_table(rows);
	rows->columns = 1;
	for (const char *comma = columns; (comma = strchr(comma, ',')); comma++)
		rows->columns++;
	rows->cell_count = 0;
	if (rows->columns > ROWS_CELLS)
		note(rows, -EINVAL);
	if (!rows->err)
		note(rows, rows->begin_table(rows, name, columns));
	rows->open = !rows->err;
}

int rows_finish(struct rows *rows)
{
	end_table(rows);
	return rows->err;
}

/* A cell too many goes into the last one, and the row is refused. */
static struct cell *next(struct rows *rows)
{
	if (rows->cell_count == ROWS_CELLS) {
		note(rows, -EINVAL);
		return &rows->cells[ROWS_CELLS - 1];
	}
	return &rows->cells[rows->cell_count++];
}

void rows_null(struct rows *rows)
{
	next(rows)->kind = CELL_NULL;
}

void rows_u64(struct rows *rows, uint64_t value)
{
	struct cell *cell = next(rows);

	cell->kind = CELL_UNSIGNED;
	cell->number = value;
}

void rows_i64(struct rows *rows, int64_t value)
{
	struct cell *cell = next(rows);

	cell->kind = CELL_SIGNED;
	cell->negative = value;
}

void rows_real(struct rows *rows, double value)
{
	struct cell *cell = next(rows);

	cell->kind = isfinite(value) ? CELL_REAL : CELL_NULL;
	cell->real = value;
}

void rows_text(struct rows *rows, const char *text)
{
	struct cell *cell = next(rows);

	cell->kind = text && *text ? CELL_TEXT : CELL_NULL;
	cell->text = text;
}

void rows_known(struct rows *rows, bool known, uint64_t value)
{
	if (known)
		rows_u64(rows, value);
	else
		rows_null(rows);
}

void rows_id(struct rows *rows, uint64_t id)
{
	rows_known(rows, id != UINT64_MAX, id);
}

void rows_index(struct rows *rows, uint32_t index)
{
	rows_known(rows, index != UINT32_MAX, index);
}

void rows_end(struct rows *rows)
{
	if (rows->cell_count != rows->columns)
		note(rows, -EINVAL);
	if (!rows->err)
		note(rows, rows->end_row(rows));
	rows->cell_count = 0;
}
