/* SPDX-License-Identifier: Apache-2.0 */
/* Views as JSON. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/view/view.h"

const char *view_key(const struct view_column *column)
{
	const char *dot;

	if (column->key)
		return column->key;
	dot = strrchr(column->column, '.');
	return dot ? dot + 1 : column->column;
}

static bool is_left_out(const struct view_place *place, const struct cell *cell)
{
	unsigned int how = place->shown.how;

	if (how & (VIEW_IF_ANY | VIEW_NOT_0) && cell_is_0(cell))
		return true;
	return cell->kind == CELL_NULL && !(how & (VIEW_EMPTY | VIEW_NULL));
}

static void write_cell(struct json *json, const char *key, const struct view_place *place,
		       const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_UNSIGNED:
		if (place->column->unit == UNIT_FLAG)
			json_bool(json, key, cell->number);
		else
			json_u64(json, key, cell->number);
		break;
	case CELL_SIGNED: json_i64(json, key, cell->negative); break;
	case CELL_REAL: json_decimal(json, key, cell->real); break;
	case CELL_TEXT: json_text(json, key, cell->text); break;
	default:
		if (place->shown.how & VIEW_EMPTY)
			json_text(json, key, "");
		else
			json_null(json, key);
	}
}

/* Writes the columns of a row into the open map, then the views inside it. */
static void write_map(const struct report *report, const struct view *view,
		      struct view_place *places, unsigned int count, struct table_cursor *at)
{
	for (unsigned int i = 0; i < count; i++) {
		struct cell cell;

		if (places[i].shown.how & VIEW_TEXT)
			continue;
		cell = view_cell(&places[i], at);
		if (!is_left_out(&places[i], &cell))
			write_cell(report->json, view_key(&places[i].shown), &places[i], &cell);
	}
	if (view->more)
		view->more(report, at);
	for (unsigned int i = 0; i < VIEWS_INSIDE && view->inside[i]; i++)
		view_json_of(report, view->inside[i], at);
}

static void write_array(const struct report *report, struct view_place *places, unsigned int count,
			struct table_cursor *at)
{
	json_array(report->json, NULL);
	for (unsigned int i = 0; i < count; i++) {
		struct cell cell = view_cell(&places[i], at);

		write_cell(report->json, NULL, &places[i], &cell);
	}
	json_array_close(report->json);
}

static void write_columns(const struct report *report, const struct view_place *places,
			  unsigned int count)
{
	json_array(report->json, "columns");
	for (unsigned int i = 0; i < count; i++)
		json_text(report->json, NULL, view_key(&places[i].shown));
	json_array_close(report->json);
	json_array(report->json, "rows");
}

static void write_rows(const struct report *report, const struct view *view,
		       const struct table_cursor *outer, struct view_place *places,
		       unsigned int count)
{
	struct table_cursor at;

	view_begin(report, view, outer, &at);
	while (view_next(view, outer, &at)) {
		if (view->shape == VIEW_LIST) {
			struct cell cell = view_cell(&places[0], &at);

			write_cell(report->json, NULL, &places[0], &cell);
			continue;
		}
		if (view->shape != VIEW_ROWS) {
			write_array(report, places, count, &at);
			continue;
		}
		json_map(report->json, NULL);
		write_map(report, view, places, count, &at);
		json_map_close(report->json);
	}
}

static void write_one(const struct report *report, const struct view *view,
		      const struct table_cursor *outer, struct view_place *places,
		      unsigned int count)
{
	struct table_cursor at;

	view_begin(report, view, outer, &at);
	if (!view_next(view, outer, &at))
		return;
	if (view->key)
		json_map(report->json, view->key);
	write_map(report, view, places, count, &at);
	if (view->key)
		json_map_close(report->json);
}

static void write_view(const struct report *report, const struct view *view,
		       const struct table_cursor *outer, struct view_place *places,
		       unsigned int count)
{
	struct json *json = report->json;

	switch (view->shape) {
	case VIEW_ONE: write_one(report, view, outer, places, count); return;
	case VIEW_MATRIX:
		if (view->key)
			json_map(json, view->key);
		write_columns(report, places, count);
		write_rows(report, view, outer, places, count);
		json_array_close(json);
		if (view->key)
			json_map_close(json);
		return;
	default:
		json_array(json, view->key);
		write_rows(report, view, outer, places, count);
		json_array_close(json);
	}
}

void view_json_of(const struct report *report, const struct view *view,
		  const struct table_cursor *outer)
{
	unsigned int count;
	struct view_place *places;

	if ((view->known && !view->known(outer)) ||
	    (view->optional && !view_count(report, view, outer)))
		return;
	places = view_places(view, &count);
	if (places)
		write_view(report, view, outer, places, count);
	else
		json_fail(report->json);
	free(places);
}

void view_json(const struct report *report, const struct view *view)
{
	view_json_of(report, view, NULL);
}
