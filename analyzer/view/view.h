/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - a part of the report: the rows of a table, the columns, and their order.
 *
 * The tables' descriptions (store/schema.h) define a figure's name, its unit and how its value is read: a view only
 * names the figure. Text tables, with headings, formats and "unknown", and the maps and arrays of the JSON report are
 * made from the same list:
 *
 *	static const struct view_column COLUMNS[] = {
 *		{ "function.name", "function", VIEW_SHRINK },
 *		{ "process.pid", "pid", VIEW_IF_DIFFERS },
 *		{ "count" },
 *		{ "total_ns" },
 *		{ NULL },
 *	};
 *	static const struct view CALLS = { "api", "functions", &table_api, COLUMNS };
 *
 * Figures that only the report has (the time between two columns, a name followed by a number) are described in the
 * section's file in the same way, with DEFINE_FIGURES(); a figure moved to a file of store/tables/ appears in all
 * formats. A section is a file with its views and its prose, and a line in SECTIONS (report.h).
 */
#ifndef PROFBPF_ANALYZER_VIEW_VIEW_H
#define PROFBPF_ANALYZER_VIEW_VIEW_H

#include <stdio.h>

#include "analyzer/store/all_tables.h"
#include "analyzer/store/schema.h"
#include "analyzer/view/render/json.h"
#include "analyzer/view/report.h"
#include "analyzer/view/render/table.h"

/* A report that is being written. */
struct report {
	FILE *out; /* text */
	struct json *json; /* or JSON, with an open map */
	const struct model *model;
	const struct results *results;
	const struct report_options *options;
	struct table_data data;
	char *text; /* REPORT_TEXT_SIZE bytes for a value that is longer than a cursor's texts: one value at a time */
};

#define REPORT_TEXT_SIZE 4096

/* Display options of a column; or-ed. */
enum view_how {
	VIEW_TEXT = 1 << 0, /* in text only */
	VIEW_JSON = 1 << 1, /* in JSON only */
	VIEW_SHRINK = 1 << 2, /* text: may be cut */
	VIEW_LEFT = 1 << 3, /* text: left-aligned, though it is a number */
	VIEW_RIGHT = 1 << 4, /* text: right-aligned, though it is not a number */
	VIEW_IF_ANY = 1 << 5, /* text: shown if any row has a value other than 0; JSON: in rows that have one */
	VIEW_IF_DIFFERS = 1 << 6, /* text: the column is shown if its values differ between rows */
	VIEW_NOT_0 = 1 << 7, /* JSON: only in rows with a value other than 0 */
	VIEW_BLANK = 1 << 8, /* text: a missing value is empty, not "unknown" */
	VIEW_EMPTY = 1 << 9, /* JSON: a missing text is "" instead of being left out */
	VIEW_NULL = 1 << 10, /* JSON: a missing value is null instead of being left out */
	VIEW_IF_KNOWN = 1 << 11, /* text: the column is shown if any row has a value, even 0 */
	VIEW_WIDE = 1 << 12, /* text: not on a terminal of fewer than VIEW_NARROW columns */
};

#define VIEW_NARROW 80

struct view;

struct view_column {
	/* A column of the table; "process.pid": the column pid of the row that the column process refers to. */
	const char *column;
	const char *key; /* key in JSON; NULL: the column's name, after the last dot */
	unsigned int how;
	const char *heading; /* heading with its unit; NULL: the schema's */
	double scale; /* text: the value is divided by it and written with decimals; 0: as its unit requires */
	int decimals; /* number of decimals, if there is a scale */
	const char *unknown; /* text: for a missing value; NULL: "unknown" */
	const char *empty; /* text: for "" */
	const char *with; /* text: shown only if any row has a value in this other column */
};

enum view_shape {
	VIEW_ROWS, /* an array of maps */
	VIEW_ONE, /* a map: the first row; left out if there is none */
	VIEW_MATRIX, /* a map with "columns" and "rows", an array of arrays; without a key, in the open map */
	VIEW_PAIRS, /* an array of arrays */
	VIEW_LIST, /* an array of the values of its one column */
};

#define VIEWS_INSIDE 5

struct view {
	const char *key; /* key in JSON; NULL: the columns of its row are written into the open map */
	const char *rows; /* plural name of the rows, for "... and 3 more functions"; NULL: all rows are shown */
	const struct data_table *table;
	const struct view_column *columns; /* up to a column without a name; NULL: all of the table */
	enum view_shape shape;
	/* Columns of the same rows that only the report has (DEFINE_FIGURES). */
	const struct data_table *figures;
	/* Selects the rows to show; NULL: all. @outer is the row that contains the view, or NULL. */
	bool (*where)(const struct table_cursor *at, const struct table_cursor *outer);
	/* Iterates over the rows in another order; NULL: the table's own next(). */
	bool (*next)(struct table_cursor *at);
	/* Sets the range of the rows that belong to @outer; NULL: outer->index, as in tables with a key. */
	void (*within)(struct table_cursor *at, const struct table_cursor *outer);
	/* JSON: rows of other tables that belong to each row, with keys of their own. */
	const struct view *inside[VIEWS_INSIDE];
	/* JSON: writes data that is not a column into the row's map. */
	void (*more)(const struct report *report, const struct table_cursor *at);
	bool optional; /* JSON: the key is left out if there are no rows */
	const struct view *instead; /* JSON: another view with this key that may replace it */
	/* JSON: is it known whether @outer has any rows? If not, the key is left out. NULL: yes. */
	bool (*known)(const struct table_cursor *outer);
	/* Text: rows of another view with the same number of columns are written below each row. */
	const struct view *below;
	/* Only these rows of an array, in this order. NULL: all rows in their order. */
	const uint32_t *order;
	uint32_t order_count;
};

/* Writes rows of a text table before the rows of the view. */
typedef void view_lead(const struct report *report, struct table *table,
		       const struct table_cursor *outer);

/*
 * view_text, view_text_of - write a view's rows as a table, at most options->top rows, and the number of further rows
 *
 * @outer: the row to which they belong, or NULL. Return 0 or a negative errno.
 */
int view_text(const struct report *report, const struct view *view);
int view_text_of(const struct report *report, const struct view *view,
		 const struct table_cursor *outer, view_lead *lead);

/* The same in JSON, into the open map. */
void view_json(const struct report *report, const struct view *view);
void view_json_of(const struct report *report, const struct view *view,
		  const struct table_cursor *outer);

/* For view->within: all rows, for any outer row. */
void view_all(struct table_cursor *at, const struct table_cursor *outer);

/* Returns the number of rows of the view. */
uint64_t view_count(const struct report *report, const struct view *view,
		    const struct table_cursor *outer);

/* Initializes a cursor before the first row of the view; view_next() moves it and returns false after the last row. */
void view_begin(const struct report *report, const struct view *view,
		const struct table_cursor *outer, struct table_cursor *at);
bool view_next(const struct view *view, const struct table_cursor *outer, struct table_cursor *at);

/* ---- Internal functions of the text and JSON writers */

#define VIEW_HOPS 3 /* references in a column's name (dots) */

/* The location of a column of a view. */
struct view_place {
	struct view_column shown;
	const struct column *column;
	const struct data_table *tables[VIEW_HOPS];
	unsigned int columns[VIEW_HOPS];
	unsigned int hops;
	struct table_cursor at[VIEW_HOPS]; /* cursors of the rows referred to */
};

/* Returns the locations of the view's columns, *@count of them; the caller frees. NULL without memory. */
struct view_place *view_places(const struct view *view, unsigned int *count);

void view_places_free(struct view_place *places);

/* Returns the key of a column in JSON. */
const char *view_key(const struct view_column *column);

/* Returns the value in the row; it is valid until the next call with the same @place. */
struct cell view_cell(struct view_place *place, struct table_cursor *at);

/* Finds @column of @view; returns false if there is no column of that name. */
bool view_find(const struct view *view, const struct view_column *column, struct view_place *place);

static inline bool cell_is_0(const struct cell *cell)
{
	return cell->kind == CELL_NULL || (cell->kind == CELL_UNSIGNED && !cell->number);
}

/* Returns the report that contains a cursor. */
static inline const struct report *report_of(const struct table_cursor *at)
{
	return (const struct report *)((const char *)at->of - offsetof(struct report, data));
}

/* The text for a device (its row): its number, and its rank if it has one. */
struct cell device_label(struct table_cursor *at, uint32_t device);

/* Initializes a report of all processes. Returns 0 or -ENOMEM; the caller calls report_free() in any case. */
int report_init(struct report *report, const struct model *model, const struct results *results,
		const struct report_options *options);
void report_free(struct report *report);

#endif /* PROFBPF_ANALYZER_VIEW_VIEW_H */
