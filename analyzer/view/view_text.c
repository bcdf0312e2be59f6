/* SPDX-License-Identifier: Apache-2.0 */
/* Views as text tables. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/view/report_parts.h"
#include "analyzer/model/translate.h"
#include "analyzer/view/view.h"

/* Suffixes of headings: the unit in which values are shown. */
static const char *const SUFFIXES[UNITS] = {
	[UNIT_NS] = " ms",
	[UNIT_SHORT_NS] = " us",
	[UNIT_INSTANT] = " ms",
	[UNIT_PERCENT] = " %",
};

static void add_heading(struct table *table, const struct view_place *place)
{
	const struct column *column = place->column;
	unsigned int how = place->shown.how;
	bool right = column->unit != UNIT_TEXT;
	char heading[128];

	if (how & (VIEW_LEFT | VIEW_RIGHT))
		right = how & VIEW_RIGHT;
	if (place->shown.heading)
		snprintf(heading, sizeof(heading), "%s", tr(place->shown.heading));
	else
		snprintf(heading, sizeof(heading), "%s%s", tr(column->heading),
			 SUFFIXES[column->unit] ? SUFFIXES[column->unit] : "");
	table_column(table, heading,
		     (right ? TABLE_RIGHT : TABLE_LEFT) | (how & VIEW_SHRINK ? TABLE_SHRINK : 0));
}

static double number(const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_UNSIGNED: return (double)cell->number;
	case CELL_SIGNED: return (double)cell->negative;
	default: return cell->real;
	}
}

static void add_unsigned(const struct report *report, struct table *table, enum column_unit unit,
			 uint64_t value)
{
	switch (unit) {
	case UNIT_NS: table_ms(table, value); break;
	case UNIT_SHORT_NS: table_us(table, value); break;
	case UNIT_INSTANT:
		table_ms_after(table, report->model->info.session_start_ns, value);
		break;
	case UNIT_NUMBER:
		/* Handles are addresses. */
		table_format(table, value > UINT32_MAX ? "0x%" PRIx64 : "%" PRIu64, value);
		break;
	default: table_count(table, value);
	}
}

static void add_unknown(struct table *table, const struct view_column *column)
{
	if (column->how & VIEW_BLANK)
		table_empty(table);
	else if (column->unknown)
		table_text(table, column->unknown);
	else
		table_unknown(table);
}

static void add_cell(const struct report *report, struct table *table, struct view_place *place,
		     const struct cell *cell)
{
	enum column_unit unit = place->column->unit;

	if (cell->kind == CELL_NULL)
		add_unknown(table, &place->shown);
	else if (cell->kind == CELL_TEXT)
		table_text(table,
			   place->shown.empty && !*cell->text ? place->shown.empty : cell->text);
	else if (place->shown.scale > 0)
		table_format(table, "%.*f", place->shown.decimals,
			     number(cell) / place->shown.scale);
	else if (unit == UNIT_PERCENT)
		table_percent(table, number(cell));
	else if (cell->kind == CELL_UNSIGNED)
		add_unsigned(report, table, unit, cell->number);
	else if (cell->kind == CELL_SIGNED && unit == UNIT_NS)
		table_format(table, "%.3f", (double)cell->negative / 1e6);
	else if (cell->kind == CELL_SIGNED)
		table_format(table, "%" PRId64, cell->negative);
	else
		table_format(table, "%.3f", cell->real);
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	return a->kind == b->kind && (a->kind == CELL_NULL || a->number == b->number);
}

/* Is the column worth its room? All rows decide, including those that are not shown. */
static bool is_shown(const struct report *report, const struct view *view,
		     const struct table_cursor *outer, struct view_place *place)
{
	unsigned int how = place->shown.how;
	struct cell first, cell;
	struct table_cursor at;

	if (how & VIEW_JSON || (how & VIEW_WIDE && report->options->width &&
				report->options->width < VIEW_NARROW))
		return false;
	if (place->shown.with) {
		const struct view_column with = { place->shown.with, .how = VIEW_IF_KNOWN };
		struct view_place other;

		return view_find(view, &with, &other) && is_shown(report, view, outer, &other);
	}
	if (!(how & (VIEW_IF_ANY | VIEW_IF_DIFFERS | VIEW_IF_KNOWN)))
		return true;
	view_begin(report, view, outer, &at);
	for (uint64_t row = 0; view_next(view, outer, &at); row++) {
		cell = view_cell(place, &at);
		if (row == 0)
			first = cell;
		if ((how & VIEW_IF_ANY && !cell_is_0(&cell)) ||
		    (how & VIEW_IF_KNOWN && cell.kind != CELL_NULL) ||
		    (how & VIEW_IF_DIFFERS && !is_same(&first, &cell)))
			return true;
	}
	return false;
}

/* The printed part of a view: its places in text, and the number of rows. */
struct shown {
	struct view_place *places;
	unsigned int count;
	uint64_t most;
};

/* Returns false without memory; the caller frees shown->places. */
static bool choose(const struct report *report, const struct view *view,
		   const struct table_cursor *outer, struct shown *shown)
{
	unsigned int count;

	*shown = (struct shown){ .places = view_places(view, &count),
				 .most = view->rows && report->options->top ? report->options->top
									    : UINT64_MAX };
	for (unsigned int i = 0; shown->places && i < count; i++) {
		if (is_shown(report, view, outer, &shown->places[i]))
			shown->places[shown->count++] = shown->places[i];
	}
	return shown->places;
}

static uint64_t add_rows(const struct report *report, const struct view *view,
			 const struct table_cursor *outer, struct shown *shown, struct shown *below,
			 struct table *table);

static void add_below(const struct report *report, const struct view *view,
		      const struct table_cursor *outer, struct shown *shown, struct table *table)
{
	uint64_t rows = add_rows(report, view, outer, shown, NULL, table);
	char one[64];

	if (rows <= shown->most)
		return;
	table_row(table);
	table_empty(table);
	table_format(table, "  ... %" PRIu64 " more %s", rows - shown->most,
		     text_one_of(view->rows, rows - shown->most, one, sizeof(one)));
}

/* Returns the number of rows. */
static uint64_t add_rows(const struct report *report, const struct view *view,
			 const struct table_cursor *outer, struct shown *shown, struct shown *below,
			 struct table *table)
{
	struct table_cursor at;
	uint64_t rows = 0;

	for (view_begin(report, view, outer, &at); view_next(view, outer, &at); rows++) {
		if (rows >= shown->most)
			continue;
		table_row(table);
		for (unsigned int i = 0; i < shown->count; i++) {
			struct cell cell = view_cell(&shown->places[i], &at);

			add_cell(report, table, &shown->places[i], &cell);
		}
		if (below)
			add_below(report, view->below, &at, below, table);
	}
	return rows;
}

static int print(const struct report *report, const struct view *view,
		 const struct table_cursor *outer, view_lead *lead, struct table *table)
{
	struct shown shown, below = { 0 };
	int err = -ENOMEM;
	uint64_t rows;

	if (!choose(report, view, outer, &shown))
		return err;
	if (view->below && !choose(report, view->below, NULL, &below))
		goto cleanup;
	for (unsigned int i = 0; i < shown.count; i++)
		add_heading(table, &shown.places[i]);
	if (lead)
		lead(report, table, outer);
	rows = add_rows(report, view, outer, &shown, view->below ? &below : NULL, table);
	err = table_print(table, report->out);
	if (!err && view->rows)
		text_more(report->out, view->rows, (uint32_t)rows,
			  (uint32_t)(rows < shown.most ? rows : shown.most));
cleanup:
	free(shown.places);
	free(below.places);
	return err;
}

int view_text_of(const struct report *report, const struct view *view,
		 const struct table_cursor *outer, view_lead *lead)
{
	struct table *table = table_new(report->options);
	int err = table ? print(report, view, outer, lead, table) : -ENOMEM;

	table_free(table);
	return err;
}

int view_text(const struct report *report, const struct view *view)
{
	return view_text_of(report, view, NULL, NULL);
}
