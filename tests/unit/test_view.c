/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the report: every column that a view names exists, and each output format works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/store/define_table.h"
#include "analyzer/view/overview.h"
#include "analyzer/view/sections.h"
#include "tests/unit/json_path.h"

static void check(const struct view *view)
{
	for (const struct view_column *column = view->columns; column && column->column; column++) {
		struct view_place place;

		if (!view_find(view, column, &place))
			fail_msg("%s: no column %s", view->table->name, column->column);
		if (column->with &&
		    !view_find(view, &(struct view_column){ column->with }, &place))
			fail_msg("%s: no column %s", view->table->name, column->with);
	}
	for (unsigned int i = 0; i < VIEWS_INSIDE && view->inside[i]; i++)
		check(view->inside[i]);
}

static void every_column_is_there(void **state)
{
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		const struct view *const *view = sections[i]->views;

		for (; view && *view; view++)
			check(*view);
	}
	for (const struct view *const *view = overview_views; *view; view++)
		check(*view);
}

/* "a row of threads" is the text by which the thread is found. */
static void every_row_is_of_a_table(void **state)
{
	size_t count;
	const struct data_table *const *tables = tables_all(&count);

	for (size_t i = 0; i < count; i++) {
		for (unsigned int k = 0; k < tables[i]->column_count; k++) {
			const struct column *column = &tables[i]->columns[k];

			if (column->unit != UNIT_ROW || strstr(column->meaning, "this row"))
				continue;
			if (!strstr(column->meaning, "a row of ") || !column_refers_to(column))
				fail_msg("%s.%s: of which table?", tables[i]->name, column->name);
		}
	}
}

/* ---- A table of its own */

struct animal {
	const char *name;
	uint64_t legs, wings, ns;
	double share;
	int64_t drift_ns;
	bool known;
};

static const struct animal ANIMALS[] = {
	{ "cat", 4, 0, 1500000, 25, -2500000, true },
	{ "crow", 2, 0, 2500, 75.25, 0, true },
	{ NULL, 2, 0, 999, 0, 0, false },
};

#define ANIMAL_COLUMNS(COLUMN)                                                             \
	COLUMN(name, TEXT, "animal", "its name", cell_text(row->name))                     \
	COLUMN(legs, COUNT, "legs", "how many", cell_u64(row->legs))                       \
	COLUMN(wings, COUNT, "wings", "how many", cell_u64(row->wings))                    \
	COLUMN(tame, FLAG, "tame", "is it?", cell_flag(row->known))                        \
	COLUMN(total_ns, NS, "total", "all", cell_known(row->known, row->ns))              \
	COLUMN(each_ns, SHORT_NS, "each", "one", cell_known(row->known, row->ns))          \
	COLUMN(drift_ns, NS, "drift", "signed", cell_known_i64(row->known, row->drift_ns)) \
	COLUMN(share, PERCENT, "share", "of all", cell_known_real(row->known, row->share))

static bool next_animal(struct table_cursor *at)
{
	return cursor_rows(at, ANIMALS, 3, sizeof(ANIMALS[0]));
}

DEFINE_FIGURES(animals, struct animal, ANIMAL_COLUMNS, next_animal);

#define HALF_COLUMNS(COLUMN) COLUMN(half, COUNT, "half", "of its legs", cell_u64(row->legs / 2))

DEFINE_FIGURES(halves, struct animal, HALF_COLUMNS, NULL);

static const struct model MODEL = { 0 };
static const struct results RESULTS = { 0 };

/* Returns the view's text; the caller frees it. */
static char *text_of(const struct view *view, uint32_t top)
{
	const struct report_options options = { .top = top };
	struct report report = { .model = &MODEL, .results = &RESULTS, .options = &options };
	char *text = NULL;
	size_t size;

	report.data = (struct table_data){ .model = &MODEL, .results = &RESULTS };
	report.out = open_memstream(&text, &size);
	assert_int_equal(view_text(&report, view), 0);
	fclose(report.out);
	return text;
}

static yajl_val json_of(const struct view *view)
{
	struct report report = { .model = &MODEL, .results = &RESULTS };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	yajl_val root;

	report.data = (struct table_data){ .model = &MODEL, .results = &RESULTS };
	report.json = json_new(out, false);
	json_map(report.json, NULL);
	view_json(&report, view);
	json_map_close(report.json);
	assert_int_equal(json_end(report.json), 0);
	fclose(out);
	root = json_parse(text);
	free(text);
	return root;
}

static void a_unit_has_its_format(void **state)
{
	static const struct view_column columns[] = {
		{ "name" },
		{ "legs" },
		{ "total_ns" },
		{ "each_ns" },
		{ "drift_ns" },
		{ "share" },
		{ "legs", .heading = "k", .scale = 1000, .decimals = 2 },
		{ NULL },
	};
	static const struct view view = { "animals", "animals", &animals, columns };
	char *text = text_of(&view, 2);

	assert_string_equal(text, "animal legs total ms each us drift ms share %    k\n"
				  "cat       4    1.500    1500   -2.500    25.0 0.00\n"
				  "crow      2    0.003     2.5    0.000    75.2 0.00\n"
				  "... and 1 more animal (--top 0 shows all)\n");
	free(text);
}

static void unknown_is_told(void **state)
{
	static const struct view_column columns[] = {
		{ "name" },
		{ "total_ns" },
		{ "share", .how = VIEW_BLANK },
		{ NULL },
	};
	static const struct view view = { "animals", "animals", &animals, columns };
	char *text = text_of(&view, 0);

	assert_non_null(strstr(text, "\nunknown  unknown"));
	assert_null(strstr(strstr(text, "\nunknown  unknown") + strlen("\nunknown  unknown"),
			   "unknown"));
	free(text);
}

/* Decided by all rows, also by those that are not shown. */
static void columns_that_say_nothing(void **state)
{
	static const struct view_column columns[] = {
		{ "name" },
		{ "wings", .how = VIEW_IF_ANY },
		{ "legs", .how = VIEW_IF_DIFFERS },
		{ "wings", "same", .how = VIEW_IF_DIFFERS },
		{ "half", .how = VIEW_IF_ANY },
		{ NULL },
	};
	static const struct view view = { "animals", "animals", &animals, columns,
					  .figures = &halves };
	char *text = text_of(&view, 1);
	yajl_val root = json_of(&view);

	assert_non_null(strstr(text, "animal legs half\n"));
	free(text);
	assert_int_equal(json_length(root, "animals"), 3);
	assert_null(json_at(root, "animals.0.wings"));
	assert_int_equal(json_int(root, "animals.0.half"), 2);
	yajl_tree_free(root);
}

static void json_leaves_out_what_is_unknown(void **state)
{
	static const struct view_column columns[] = {
		{ "name", "called", VIEW_EMPTY },
		{ "tame" },
		{ "total_ns" },
		{ "drift_ns", .how = VIEW_NULL },
		{ "share" },
		{ "legs", .how = VIEW_TEXT },
		{ NULL },
	};
	static const struct view view = { "animals", "animals", &animals, columns };
	yajl_val root = json_of(&view);

	assert_string_equal(json_string(root, "animals.0.called"), "cat");
	assert_string_equal(json_string(root, "animals.2.called"), "");
	assert_true(json_true(root, "animals.0.tame"));
	assert_int_equal(json_int(root, "animals.0.total_ns"), 1500000);
	assert_int_equal(json_int(root, "animals.0.drift_ns"), -2500000);
	assert_null(json_at(root, "animals.2.total_ns"));
	assert_null(json_at(root, "animals.2.share"));
	assert_true(YAJL_IS_NULL(json_at(root, "animals.2.drift_ns")));
	assert_null(json_at(root, "animals.0.legs"));
	yajl_tree_free(root);
}

static void shapes_of_json(void **state)
{
	static const struct view_column columns[] = { { "name" }, { "legs", "feet" }, { NULL } };
	static const struct view matrix = { "m", NULL, &animals, columns, VIEW_MATRIX };
	static const struct view pairs = { "p", NULL, &animals, columns, VIEW_PAIRS };
	static const struct view one = { NULL, NULL, &animals, NULL, VIEW_ONE };
	yajl_val root = json_of(&matrix);

	assert_string_equal(json_string(root, "m.columns.1"), "feet");
	assert_int_equal(json_int(root, "m.rows.1.1"), 2);
	assert_true(YAJL_IS_NULL(json_at(root, "m.rows.2.0")));
	yajl_tree_free(root);
	root = json_of(&pairs);
	assert_int_equal(json_int(root, "p.0.1"), 4);
	yajl_tree_free(root);
	root = json_of(&one);
	assert_string_equal(json_string(root, "name"), "cat");
	assert_int_equal(json_int(root, "each_ns"), 1500000);
	yajl_tree_free(root);
}

static void a_list_is_an_array_of_values(void **state)
{
	static const struct view_column columns[] = { { "name", .how = VIEW_EMPTY }, { NULL } };
	static const struct view list = { "l", NULL, &animals, columns, VIEW_LIST };
	yajl_val root = json_of(&list);

	assert_int_equal(json_length(root, "l"), 3);
	assert_string_equal(json_string(root, "l.1"), "crow");
	assert_string_equal(json_string(root, "l.2"), "");
	yajl_tree_free(root);
}

static bool next_backwards(struct table_cursor *at)
{
	static const unsigned int count = sizeof(ANIMALS) / sizeof(ANIMALS[0]);

	if (at->i == count)
		return false;
	at->row = &ANIMALS[count - ++at->i];
	return true;
}

static void a_view_has_its_own_order(void **state)
{
	static const struct view_column columns[] = { { "legs" }, { "name" }, { NULL } };
	static const struct view view = { "animals", "animals", &animals, columns,
					  .next = next_backwards };
	yajl_val root = json_of(&view);

	assert_null(json_at(root, "animals.0.name"));
	assert_string_equal(json_string(root, "animals.1.name"), "crow");
	assert_string_equal(json_string(root, "animals.2.name"), "cat");
	yajl_tree_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_column_is_there),
		cmocka_unit_test(every_row_is_of_a_table),
		cmocka_unit_test(a_unit_has_its_format),
		cmocka_unit_test(unknown_is_told),
		cmocka_unit_test(columns_that_say_nothing),
		cmocka_unit_test(json_leaves_out_what_is_unknown),
		cmocka_unit_test(shapes_of_json),
		cmocka_unit_test(a_list_is_an_array_of_values),
		cmocka_unit_test(a_view_has_its_own_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
