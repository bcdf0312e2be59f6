/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and columns of views. */
#include "analyzer/view/view.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/export.h"

static const struct export_options ALL_PROCESSES = { .end_ns = UINT64_MAX };

int report_init(struct report *report, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	*report = (struct report){ .model = model,
				   .results = results,
				   .options = options,
				   .text = malloc(REPORT_TEXT_SIZE) };
	if (!report->text)
		return -ENOMEM;
	return table_data_init(&report->data, model, results, &ALL_PROCESSES);
}

void report_free(struct report *report)
{
	table_data_free(&report->data);
	free(report->text);
}

void view_begin(const struct report *report, const struct view *view,
		const struct table_cursor *outer, struct table_cursor *at)
{
	table_begin(at, &report->data);
	if (view->within) {
		view->within(at, outer);
	} else if (outer) {
		at->i = outer->index;
		at->limit = outer->index + 1;
	}
}

/* Tables of an array do not use @m: it is the index into the order. */
static bool next_row(const struct view *view, struct table_cursor *at)
{
	if (view->order) {
		if (at->m == view->order_count)
			return false;
		at->i = view->order[at->m++];
	}
	return view->next ? view->next(at) : view->table->next(at);
}

bool view_next(const struct view *view, const struct table_cursor *outer, struct table_cursor *at)
{
	while (next_row(view, at)) {
		if (!view->where || view->where(at, outer))
			return true;
	}
	return false;
}

void view_all(struct table_cursor *at, const struct table_cursor *outer)
{
	(void)at;
	(void)outer;
}

uint64_t view_count(const struct report *report, const struct view *view,
		    const struct table_cursor *outer)
{
	struct table_cursor at;
	uint64_t count = 0;

	view_begin(report, view, outer, &at);
	while (view_next(view, outer, &at))
		count++;
	return count;
}

static unsigned int find_column(const struct data_table *table, const char *name, size_t length)
{
	unsigned int i = 0;

	while (i < table->column_count && (strncmp(table->columns[i].name, name, length) != 0 ||
					   table->columns[i].name[length] != '\0'))
		i++;
	return i;
}

bool view_find(const struct view *view, const struct view_column *column, struct view_place *place)
{
	const struct data_table *table = view->table;
	const char *name = column->column;

	*place = (struct view_place){ .shown = *column };
	while (table && place->hops < VIEW_HOPS) {
		size_t length = strcspn(name, ".");
		unsigned int i = find_column(table, name, length);

		if (i == table->column_count && place->hops == 0 && view->figures) {
			table = view->figures;
			i = find_column(table, name, length);
		}
		if (i == table->column_count)
			return false;
		place->tables[place->hops] = table;
		place->columns[place->hops++] = i;
		place->column = &table->columns[i];
		if (name[length] == '\0')
			return true;
		name += length + 1;
		table = column_refers_to(place->column);
	}
	return false;
}

/* If a row shows a device's number it also shows its rank, which distinguishes device 0 of several hosts. */
static bool wants_rank(const struct view *view, unsigned int column)
{
	const char *name = view->columns[column].column;

	if (strcmp(name, "device.id") != 0 ||
	    (view->shape != VIEW_ROWS && view->shape != VIEW_ONE) || view->below)
		return false;
	for (unsigned int i = 0; view->columns[i].column; i++)
		if (strcmp(view->columns[i].column, "device.rank") == 0 ||
		    strcmp(view_key(&view->columns[i]), "rank") == 0)
			return false;
	return true;
}

static void add_rank(const struct view *view, const struct view_column *device,
		     struct view_place *place)
{
	const struct view_column rank = { "device.rank", "rank",
					  (device->how & (VIEW_TEXT | VIEW_JSON)) | VIEW_IF_KNOWN |
						  VIEW_BLANK };

	if (!view_find(view, &rank, place))
		abort();
}

struct view_place *view_places(const struct view *view, unsigned int *count)
{
	struct view_place *places;
	unsigned int columns = 0, added = 0;

	while (view->columns ? view->columns[columns].column != NULL
			     : columns < view->table->column_count)
		columns++;
	places = calloc(2 * (size_t)columns + 1, sizeof(*places));
	for (unsigned int i = 0; places && i < columns; i++) {
		struct view_column shown = { 0 };

		if (view->columns)
			shown = view->columns[i];
		else
			shown.column = view->table->columns[i].name;
		/* tests/unit/test_view.c checks each of them. */
		if (!view_find(view, &shown, &places[i + added]))
			abort();
		if (view->columns && wants_rank(view, i))
			add_rank(view, &view->columns[i], &places[i + ++added]);
	}
	*count = columns + added;
	return places;
}

void view_places_free(struct view_place *places)
{
	free(places);
}

struct cell view_cell(struct view_place *place, struct table_cursor *at)
{
	struct cell cells[TABLE_COLUMNS_MAX];
	struct cell *cell;

	for (unsigned int i = 0;; i++) {
		cell = &cells[place->columns[i]];
		place->tables[i]->cells(at, 1ull << place->columns[i], cells);
		if (i + 1 == place->hops || cell->kind == CELL_NULL)
			return *cell;
		table_begin(&place->at[i], at->of);
		place->at[i].i = cell->number;
		place->at[i].limit = cell->number + 1;
		at = &place->at[i];
		if (!place->tables[i + 1]->next(at))
			return (struct cell){ .kind = CELL_NULL };
	}
}

struct cell device_label(struct table_cursor *at, uint32_t device)
{
	const struct device *row = &at->of->model->devices.row[device];

	if (row->has_rank)
		snprintf(at->text[0], sizeof(at->text[0]), "%u (rank %u)", row->id, row->rank);
	else
		snprintf(at->text[0], sizeof(at->text[0]), "%u", row->id);
	return (struct cell){ .kind = CELL_TEXT, .text = at->text[0] };
}
