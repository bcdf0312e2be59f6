/* SPDX-License-Identifier: Apache-2.0 */
/*
 * define_table.h - macros that describe a table. The files of store/tables/ and the report's sections include it.
 *
 *	#define LINK_COLUMNS(COLUMN)                                                       \
 *		COLUMN(device, ROW, "device", "whose link: a row of devices",              \
 *		       cell_index(row->device))                                            \
 *		COLUMN(bytes, BYTES, "bytes", "what went over it", cell_u64(row->bytes))
 *
 *	static bool next_link(struct table_cursor *at)
 *	{
 *		return CURSOR_ROWS(at, at->of->model->link_uses);
 *	}
 *
 *	DEFINE_TABLE(link_uses, struct link_use, LINK_COLUMNS, next_link,
 *		     "transfers over one link, as a device file sums them up");
 *
 * and a line in all_tables.h. A value is an expression of type struct cell; it may use
 *
 *	row	the row, of the type given
 *	at	the cursor: at->index, at->outer, at->text
 *	of	the model and the results: struct table_data
 *	model	of->model
 */
#ifndef PROFBPF_ANALYZER_STORE_DEFINE_TABLE_H
#define PROFBPF_ANALYZER_STORE_DEFINE_TABLE_H

#include <math.h>

#include "analyzer/load/load_pbt.h"
#include "analyzer/store/all_tables.h"
#include "analyzer/store/schema.h"

static inline struct cell cell_none(void)
{
	return (struct cell){ .kind = CELL_NULL };
}

static inline struct cell cell_u64(uint64_t value)
{
	return (struct cell){ .kind = CELL_UNSIGNED, .number = value };
}

static inline struct cell cell_i64(int64_t value)
{
	return (struct cell){ .kind = CELL_SIGNED, .negative = value };
}

/* NULL for NaN and infinities. */
static inline struct cell cell_real(double value)
{
	return isfinite(value) ? (struct cell){ .kind = CELL_REAL, .real = value } : cell_none();
}

/* NULL for "", too. */
static inline struct cell cell_text(const char *text)
{
	return text && *text ? (struct cell){ .kind = CELL_TEXT, .text = text } : cell_none();
}

static inline struct cell cell_known(bool known, uint64_t value)
{
	return known ? cell_u64(value) : cell_none();
}

static inline struct cell cell_known_i64(bool known, int64_t value)
{
	return known ? cell_i64(value) : cell_none();
}

static inline struct cell cell_known_real(bool known, double value)
{
	return known ? cell_real(value) : cell_none();
}

/* 0 stands for "not known". */
static inline struct cell cell_not_0(uint64_t value)
{
	return cell_known(value != 0, value);
}

/* The numbers that stand for "none": UINT64_MAX, or UINT32_MAX of indexes. */
static inline struct cell cell_id(uint64_t id)
{
	return cell_known(id != UINT64_MAX, id);
}

static inline struct cell cell_index(uint32_t index)
{
	return cell_known(index != INDEX_NONE, index);
}

static inline struct cell cell_flag(bool flag)
{
	return cell_u64(flag);
}

static inline struct cell cell_string(const struct model *model, uint32_t string)
{
	return cell_text(model_text(model, string));
}

/* The next row of an array of @count rows of @size bytes. */
static inline bool cursor_rows(struct table_cursor *at, const void *rows, uint64_t count,
			       size_t size)
{
	if (at->i >= count || at->i >= at->limit)
		return false;
	at->row = (const char *)rows + at->i * size;
	at->index = at->i++;
	return true;
}

#define CURSOR_ROWS(at, array) cursor_rows(at, (array).row, (array).count, sizeof(*(array).row))

/* The next row of the array in the outer row that CURSOR_OUTER() is at. */
static inline bool cursor_inner(struct table_cursor *at, const void *outer, const void *rows,
				uint64_t count, size_t size)
{
	if (at->k >= count)
		return false;
	at->row = (const char *)rows + at->k++ * size;
	at->outer = outer;
	at->index = at->i;
	return true;
}

/* The same if the outer rows share one array, of which this row has the part from @first on; @rows may be NULL if it is empty. */
static inline bool cursor_part(struct table_cursor *at, const void *outer, const void *rows,
			       uint64_t first, uint64_t count, size_t size)
{
	if (at->k >= count)
		return false;
	return cursor_inner(at, outer, (const char *)rows + first * size, count, size);
}

/* Defines a function that iterates over the rows of an array in the results of one analysis, if that was run. */
#define DEFINE_NEXT(name, analysis, rows, count)                                          \
	static bool name(struct table_cursor *at)                                         \
	{                                                                                 \
		return (analysis) && cursor_rows(at, (analysis)->rows, (analysis)->count, \
						 sizeof(*(analysis)->rows));              \
	}

/* for each row at->i of an outer array of @count rows, from where the cursor is */
#define CURSOR_OUTER(at, count) \
	for (; (at)->i < (count) && (at)->i < (at)->limit; (at)->i++, (at)->k = (at)->m = 0)

#define COLUMN_DESCRIBE(name, unit, heading, meaning, value) \
	{ #name, UNIT_##unit, heading, meaning },
#define COLUMN_CELL(name, unit, heading, meaning, value) \
	if (wanted & 1ull << column)                     \
		cells[column] = (value);                 \
	column++;

#define DESCRIBE_TABLE(id, row_type, COLUMNS)                                                \
	static const struct column id##_columns[] = { COLUMNS(COLUMN_DESCRIBE) };            \
	_Static_assert(sizeof(id##_columns) / sizeof(id##_columns[0]) <= TABLE_COLUMNS_MAX,  \
		       "too many columns");                                                  \
	static void id##_cells(struct table_cursor *at, uint64_t wanted, struct cell *cells) \
	{                                                                                    \
		const row_type *row __attribute__((unused)) = at->row;                       \
		const struct table_data *of __attribute__((unused)) = at->of;                \
		const struct model *model __attribute__((unused)) = of->model;               \
		unsigned int column = 0;                                                     \
                                                                                             \
		COLUMNS(COLUMN_CELL)                                                         \
	}

#define TABLE_INITIAL(id, next_row, table_meaning, ...)                                           \
	{                                                                                         \
		.name = #id, .meaning = table_meaning, .columns = id##_columns,                   \
		.column_count = sizeof(id##_columns) / sizeof(id##_columns[0]), .next = next_row, \
		.cells = id##_cells, __VA_ARGS__                                                  \
	}

/* Further members of struct data_table may follow the meaning. */
#define DEFINE_TABLE(id, row_type, COLUMNS, next_row, table_meaning, ...) \
	DESCRIBE_TABLE(id, row_type, COLUMNS)                             \
	const struct data_table table_##id = TABLE_INITIAL(id, next_row, table_meaning, __VA_ARGS__)

/*
 * A table that is in no list: a section of the report has it for itself. @next_row is NULL for further
 * columns of the rows of another table (view.h).
 */
#define DEFINE_FIGURES(id, row_type, COLUMNS, next_row) \
	DESCRIBE_TABLE(id, row_type, COLUMNS)           \
	static const struct data_table id = TABLE_INITIAL(id, next_row, "", .keyed = false)

/* Did the row begin in the requested part of the time? @ns = 0: its time is unknown. */
static inline bool table_wants_instant(const struct table_cursor *at, uint64_t ns)
{
	const struct table_data *of = at->of;

	return !of->options->part || (ns >= of->results->from_ns && ns < of->results->to_ns);
}

/* A thread's process is wanted. */
static inline bool table_wants_thread(const struct table_cursor *at, uint32_t thread)
{
	return thread < at->of->model->threads.count && at->of->threads[thread];
}

#endif /* PROFBPF_ANALYZER_STORE_DEFINE_TABLE_H */
