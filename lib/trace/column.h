/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - columns of the batches in a .pbt file.
 *
 * A batch is a protobuf message whose packed repeated fields all have one entry
 * per row (see proto/trace.proto). A column that is zero in every row is left
 * out, and a column may hold differences ("delta") instead of values.
 *
 * Writing: one struct column_TYPE per field, TYPE being u64, s64, u32 or s32 as
 * protobuf-c declares the field. Reserve first, so that a row cannot be added to
 * half of the columns only:
 *
 *	if (column_u64_reserve(&ts, rows) || column_u32_reserve(&tid, rows))
 *		return -ENOMEM;
 *	column_u64_push_delta(&ts, record->ts_ns);
 *	column_u32_push(&tid, record->tid);
 *	...
 *	COLUMN_EXPORT_ALWAYS(&ts, &message, ts_ns);
 *	COLUMN_EXPORT(&tid, &message, tid);
 *
 * Reading:
 *
 *	size_t rows;
 *	uint64_t ts = 0;
 *
 *	if (COLUMN_ROWS(&rows, m->n_ts_ns, m->n_tid))
 *		the batch is damaged: skip it
 *	for (size_t i = 0; i < rows; i++) {
 *		ts = column_u64_next(ts, COLUMN_AT(m, ts_ns, i));
 *		tid = COLUMN_AT(m, tid, i);
 *	}
 *
 * Reading a batch with shapes (see proto/trace.proto) takes one more step, which finds
 * the row's entry in the columns "by shape".
 *
 *	struct column_table shapes = { .count = m->n_tid };
 *
 *	if (!column_table_at(&shapes, m->shape[i], &s))
 *		the batch is damaged
 *	tid = COLUMN_AT(m, tid, s);
 */
#ifndef PROFBPF_LIB_TRACE_COLUMN_H
#define PROFBPF_LIB_TRACE_COLUMN_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * column_grow - make room for @more entries after @count
 *
 * Returns the new address and sets *@capacity, or NULL, and nothing changed, if
 * there is no memory. Used by the functions below.
 */
void *column_grow(void *value, size_t count, size_t more, size_t entry_size, size_t *capacity);

/*
 * column_TYPE_reserve    - room for @rows more rows; 0 or -ENOMEM
 * column_TYPE_push       - add a value; 0 or -ENOMEM (never after enough was reserved)
 * column_TYPE_push_delta - add the difference to the value pushed this way before;
 *                          wraps around, so every value survives the round trip
 * column_TYPE_next       - for readers: the value that follows @previous by @delta
 * column_TYPE_clear      - back to no rows; memory is kept
 * column_TYPE_free       - free the memory; may be used again
 *
 * A zeroed struct is an empty column. Differences of unsigned columns that
 * decrease become huge varints: use them for values that only grow.
 */
#define COLUMN_DEFINE(name, type, utype)                                                       \
	struct column_##name {                                                                 \
		type *value;                                                                   \
		size_t count;                                                                  \
		size_t capacity;                                                               \
		utype last; /* of push_delta */                                                \
		utype any; /* all values or-ed: 0 if the column can be left out */             \
	};                                                                                     \
                                                                                               \
	static inline int column_##name##_reserve(struct column_##name *column, size_t rows)   \
	{                                                                                      \
		void *value;                                                                   \
                                                                                               \
		if (rows <= column->capacity - column->count)                                  \
			return 0;                                                              \
		value = column_grow(column->value, column->count, rows, sizeof(type),          \
				    &column->capacity);                                        \
		if (!value)                                                                    \
			return -ENOMEM;                                                        \
		column->value = (type *)value;                                                 \
		return 0;                                                                      \
	}                                                                                      \
                                                                                               \
	static inline int column_##name##_push(struct column_##name *column, type value)       \
	{                                                                                      \
		if (column->count == column->capacity && column_##name##_reserve(column, 1))   \
			return -ENOMEM;                                                        \
		column->value[column->count++] = value;                                        \
		column->any |= (utype)value;                                                   \
		return 0;                                                                      \
	}                                                                                      \
                                                                                               \
	static inline int column_##name##_push_delta(struct column_##name *column, type value) \
	{                                                                                      \
		int err = column_##name##_push(column, (type)((utype)value - column->last));   \
                                                                                               \
		if (!err)                                                                      \
			column->last = (utype)value;                                           \
		return err;                                                                    \
	}                                                                                      \
                                                                                               \
	static inline type column_##name##_next(type previous, type delta)                     \
	{                                                                                      \
		return (type)((utype)previous + (utype)delta);                                 \
	}                                                                                      \
                                                                                               \
	static inline void column_##name##_clear(struct column_##name *column)                 \
	{                                                                                      \
		column->count = 0;                                                             \
		column->last = 0;                                                              \
		column->any = 0;                                                               \
	}                                                                                      \
                                                                                               \
	static inline void column_##name##_free(struct column_##name *column)                  \
	{                                                                                      \
		free(column->value);                                                           \
		*column = (struct column_##name){ 0 };                                         \
	}

COLUMN_DEFINE(u64, uint64_t, uint64_t)
COLUMN_DEFINE(s64, int64_t, uint64_t)
COLUMN_DEFINE(u32, uint32_t, uint32_t)
COLUMN_DEFINE(s32, int32_t, uint32_t)

/*
 * COLUMN_EXPORT - makes a protobuf-c message point at a column; left out if all zeros
 * COLUMN_EXPORT_ALWAYS - also if all zeros
 * COLUMN_EXPORT_ENUM, COLUMN_EXPORT_ENUM_ALWAYS - the same for a u32 column and a field of an enum type
 *
 * The column keeps the memory. Each batch needs one column that is always
 * there (its instants), or its number of rows would be lost.
 */
#define COLUMN_EXPORT_ALWAYS(column, message, field)    \
	do {                                            \
		(message)->n_##field = (column)->count; \
		(message)->field = (column)->value;     \
	} while (0)

#define COLUMN_EXPORT(column, message, field)                               \
	do {                                                                \
		(message)->n_##field = (column)->any ? (column)->count : 0; \
		(message)->field = (column)->value;                         \
	} while (0)

#define COLUMN_EXPORT_ENUM_ALWAYS(column, message, field)                             \
	do {                                                                          \
		_Static_assert(sizeof(*(message)->field) == sizeof(*(column)->value), \
			       "enums are as wide as the column");                    \
		(message)->n_##field = (column)->count;                               \
		(message)->field = (void *)(column)->value;                           \
	} while (0)

#define COLUMN_EXPORT_ENUM(column, message, field)                                    \
	do {                                                                          \
		_Static_assert(sizeof(*(message)->field) == sizeof(*(column)->value), \
			       "enums are as wide as the column");                    \
		(message)->n_##field = (column)->any ? (column)->count : 0;           \
		(message)->field = (void *)(column)->value;                           \
	} while (0)

/*
 * column_rows - the number of rows of a batch, from the entries of its columns
 *
 * Each column must have *@rows entries or none. Returns 0 or -EBADMSG, with
 * *@rows then 0.
 */
int column_rows(size_t *rows, const size_t *counts, size_t columns);

/* COLUMN_ROWS - column_rows() of the counts written out */
#define COLUMN_ROWS(rows, ...)                             \
	column_rows(rows, (const size_t[]){ __VA_ARGS__ }, \
		    sizeof((const size_t[]){ __VA_ARGS__ }) / sizeof(size_t))

/* COLUMN_AT - entry @i of a column of a message that passed COLUMN_ROWS; 0 if it is left out */
#define COLUMN_AT(message, field, i) ((message)->n_##field ? (message)->field[i] : 0)

/* Entries that rows refer to by code, in the order in which they came first. */
struct column_table {
	size_t count;
	size_t used; /* so far */
};

/*
 * column_table_at - the entry that @code stands for: 0 = the next one, n = the n-th
 *
 * Returns false if there is none, or if none had come yet.
 */
static inline bool column_table_at(struct column_table *table, uint32_t code, size_t *entry)
{
	size_t limit = code ? table->used : table->count;

	*entry = code ? code - 1 : table->used++;
	return *entry < limit;
}

#endif /* PROFBPF_LIB_TRACE_COLUMN_H */
