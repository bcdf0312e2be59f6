/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - a part of the report: which rows of which table, which columns, in which order.
 *
 * What a figure is called, its unit and how its value is read are in the tables' descriptions
 * (store/schema.h): a view only names it. Text tables, with headings, formats and "unknown", and the
 * maps and arrays of the JSON report are made from the same list:
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
 * What only the report has (the time between two columns, a name with a number behind it) is described
 * in the section's file in the same way, with DEFINE_FIGURES(); moved to a file of store/tables/ it is in
 * all formats. A section is a file: its views and its prose, and a line in SECTIONS
 * (report.h).
 */
#ifndef PROFBPF_ANALYZER_VIEW_VIEW_H
#define PROFBPF_ANALYZER_VIEW_VIEW_H

#include <stdio.h>

#include "analyzer/store/all_tables.h"
#include "analyzer/store/schema.h"
#include "analyzer/view/render/json.h"
#include "analyzer/view/report.h"
#include "analyzer/view/render/table.h"

/* One report that is being written. */
struct report {
	FILE *out; /* text */
	struct json *json; /* or JSON, with an open map */
	const struct model *model;
	const struct results *results;
	const struct report_options *options;
	struct table_data data;
	char *text; /* REPORT_TEXT_SIZE bytes for a value that is longer than a cursor's texts: for one at a time */
};

#define REPORT_TEXT_SIZE 4096

/* How a column is shown; or-ed. */
enum view_how {
	VIEW_TEXT = 1 << 0, /* in text only */
	VIEW_JSON = 1 << 1, /* in JSON only */
	VIEW_SHRINK = 1 << 2, /* text: may be cut */
	VIEW_LEFT = 1 << 3, /* text: to the left, though it is a number */
	VIEW_RIGHT = 1 << 4, /* the other way round */
	VIEW_IF_ANY = 1 << 5, /* text: if any row has one other than 0; JSON: of rows that have */
	VIEW_IF_DIFFERS = 1 << 6, /* text: if rows differ in it */
	VIEW_NOT_0 = 1 << 7, /* JSON: of rows that have one other than 0 */
	VIEW_BLANK = 1 << 8, /* text: nothing, not "unknown", where there is none */
	VIEW_EMPTY = 1 << 9, /* JSON: "" where there is no text, instead of nothing */
	VIEW_NULL = 1 << 10, /* JSON: null where there is none, instead of nothing */
	VIEW_IF_KNOWN = 1 << 11, /* text: if any row has one, be it 0 */
	VIEW_WIDE = 1 << 12, /* text: not on a terminal of fewer than VIEW_NARROW columns */
};

#define VIEW_NARROW 80

struct view;

struct view_column {
	/* A column of the table; "process.pid": of the row that the column process names. */
	const char *column;
	const char *key; /* in JSON; NULL: as the column is called, the last of those with dots */
	unsigned int how;
	const char *heading; /* with its unit; NULL: the schema's */
	double scale; /* text: divide by it and write with decimals; 0: as its unit asks for */
	int decimals; /* with a scale */
	const char *unknown; /* text: where there is none; NULL: "unknown" */
	const char *empty; /* text: for "" */
	const char *with; /* text: only where any row has this other column */
};

enum view_shape {
	VIEW_ROWS, /* an array of maps */
	VIEW_ONE, /* a map: of the first row; nothing if there is none */
	VIEW_MATRIX, /* "columns" and "rows", an array of arrays, in a map; without a key in the open one */
	VIEW_PAIRS, /* an array of arrays */
	VIEW_LIST, /* an array of what its one column holds */
};

#define VIEWS_INSIDE 5

struct view {
	const char *key; /* in JSON; NULL: the columns of its row go into the open map */
	const char *rows; /* what rows are, for "... and 3 more functions"; NULL: all are shown */
	const struct data_table *table;
	const struct view_column *columns; /* up to one of no name; NULL: all of the table */
	enum view_shape shape;
	/* Columns of the same rows that the report alone has (DEFINE_FIGURES). */
	const struct data_table *figures;
	/* Rows that it shows; NULL: all. @outer is the row that it is in, if it is in one. */
	bool (*where)(const struct table_cursor *at, const struct table_cursor *outer);
	/* Its rows in another order; NULL: as the table's own next() goes through them. */
	bool (*next)(struct table_cursor *at);
	/* Where the rows that belong to @outer begin and end; NULL: at outer->index, as of tables with a key. */
	void (*within)(struct table_cursor *at, const struct table_cursor *outer);
	/* JSON: rows of other tables that belong to each row, with their own keys. */
	const struct view *inside[VIEWS_INSIDE];
	/* JSON: what is no column of the row, into its map. */
	void (*more)(const struct report *report, const struct table_cursor *at);
	bool optional; /* JSON: without rows there is no key */
	const struct view *instead; /* JSON: another with the key that may be in its place */
	/* JSON: is it known whether @outer has any? If not there is no key. NULL: yes. */
	bool (*known)(const struct table_cursor *outer);
	/* Text: rows of another view with as many columns come below each row. */
	const struct view *below;
	/* These rows of an array, in this order. NULL: all as they are. */
	const uint32_t *order;
	uint32_t order_count;
};

/* Rows of a text table before those of the view. */
typedef void view_lead(const struct report *report, struct table *table,
		       const struct table_cursor *outer);

/*
 * view_text - its rows as a table, as many as options->top allows, and how many more there are
 *
 * @outer: the row that they belong to, or NULL. Returns 0 or a negative errno.
 */
int view_text(const struct report *report, const struct view *view);
int view_text_of(const struct report *report, const struct view *view,
		 const struct table_cursor *outer, view_lead *lead);

/* The same in JSON, into the open map. */
void view_json(const struct report *report, const struct view *view);
void view_json_of(const struct report *report, const struct view *view,
		  const struct table_cursor *outer);

/* For view->within: all rows, whatever row they are in. */
void view_all(struct table_cursor *at, const struct table_cursor *outer);

/* How many rows it has. */
uint64_t view_count(const struct report *report, const struct view *view,
		    const struct table_cursor *outer);

/* A cursor before the first row of the view. Then view_next(); false after the last one. */
void view_begin(const struct report *report, const struct view *view,
		const struct table_cursor *outer, struct table_cursor *at);
bool view_next(const struct view *view, const struct table_cursor *outer, struct table_cursor *at);

/* ---- For the two writers */

#define VIEW_HOPS 3 /* names with dots between */

/* Where a column of a view is found. */
struct view_place {
	struct view_column shown;
	const struct column *column;
	const struct data_table *tables[VIEW_HOPS];
	unsigned int columns[VIEW_HOPS];
	unsigned int hops;
	struct table_cursor at[VIEW_HOPS]; /* of the rows that are named */
};

/* Places of the view's columns, *@count of them; the caller frees. NULL without memory. */
struct view_place *view_places(const struct view *view, unsigned int *count);

void view_places_free(struct view_place *places);

/* The key of a column in JSON. */
const char *view_key(const struct view_column *column);

/* The value of the row; it is valid until the next call with the same @place. */
struct cell view_cell(struct view_place *place, struct table_cursor *at);

/* Find @column of @view: false if there is none of that name. */
bool view_find(const struct view *view, const struct view_column *column, struct view_place *place);

static inline bool cell_is_0(const struct cell *cell)
{
	return cell->kind == CELL_NULL || (cell->kind == CELL_UNSIGNED && !cell->number);
}

/* The report that a cursor is in. */
static inline const struct report *report_of(const struct table_cursor *at)
{
	return (const struct report *)((const char *)at->of - offsetof(struct report, data));
}

/* A device (its row) in text: its number, and its rank if it has one. */
struct cell device_label(struct table_cursor *at, uint32_t device);

/* A report of all processes. Returns 0 or -ENOMEM; report_free() in any case. */
int report_init(struct report *report, const struct model *model, const struct results *results,
		const struct report_options *options);
void report_free(struct report *report);

#endif /* PROFBPF_ANALYZER_VIEW_VIEW_H */
