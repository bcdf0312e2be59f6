/* SPDX-License-Identifier: Apache-2.0 */
/* analyzer query: rows in each format, allowed statements, and the list of tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/cli/query.h"
#include "analyzer/store/all_tables.h"
#include "analyzer/load/load_pbt.h"
#include "tests/unit/small_model.h"

#define CALLS 2500 /* more rows than a text table shows at once */

struct scene {
	struct model *model;
	struct results results;
	struct export_options options;
	struct table_data data;
};

static int make_scene(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct model *model = scene->model = small_model(0, 100000000);
	uint32_t job = small_process(model, 100, "job, \"quoted\"", true);
	uint32_t main = small_thread(model, job, 100, "main");
	uint32_t second = small_thread(model, job, 101, "second");
	uint32_t launch =
		small_function(model, "acl", "aclrtLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);

	for (uint32_t i = 0; i < CALLS; i++)
		small_call(model, main, launch, 1000 * i, 1000 * i + i + 1);
	small_call(model, second, launch, 700, 800);
	model->calls.row[CALLS].flags = MODEL_CALL_ENTRY;
	model->calls.row[CALLS].args[1] = UINT64_MAX;
	small_index(model);
	*state = scene;
	return table_data_init(&scene->data, model, &scene->results, &scene->options);
}

static int free_scene(void **state)
{
	struct scene *scene = *state;

	table_data_free(&scene->data);
	model_free(scene->model);
	free(scene);
	return 0;
}

static char answer[1 << 20];
static char error[256];

static int ask_as(const struct scene *scene, enum query_format format, const char *sql)
{
	static const struct report_options report;
	FILE *out = fmemopen(answer, sizeof(answer), "w");
	int err;

	error[0] = '\0';
	err = query_run(out, &scene->data, sql, format, &report, error, sizeof(error));
	fclose(out);
	return err;
}

/* Returns the rows as CSV, without the names. */
static const char *ask(const struct scene *scene, const char *sql)
{
	assert_int_equal(ask_as(scene, QUERY_CSV, sql), 0);
	return strchr(answer, '\n') + 1;
}

static void rows(void **state)
{
	const struct scene *scene = *state;

	assert_string_equal(ask(scene, "select count(*), sum(thread) from calls"), "2501,1\n");
	assert_string_equal(answer, "count(*),sum(thread)\n2501,1\n");
	/* Each access path gives the same rows. */
	assert_string_equal(ask(scene, "select start_ns from calls where call = 2499"),
			    "2499000\n");
	assert_string_equal(ask(scene, "select start_ns from calls where call + 0 = 2499"),
			    "2499000\n");
	assert_string_equal(ask(scene, "select count(*) from calls where thread = 1"), "1\n");
	assert_string_equal(ask(scene, "select count(*) from calls where thread + 0 = 1"), "1\n");
	assert_string_equal(ask(scene, "select count(*) from calls where thread = 2"), "0\n");
	assert_string_equal(ask(scene, "select count(*) from calls where call = 2501"), "0\n");
	assert_string_equal(ask(scene, "select count(*) from calls where call = -1"), "0\n");
	assert_string_equal(ask(scene, "select count(*) from calls where call = '7'"), "1\n");
	assert_string_equal(ask(scene, "select count(*) from calls where call = 7.5"), "0\n");
	assert_string_equal(ask(scene, "select count(*) from calls where call is null"), "0\n");
	assert_string_equal(ask(scene, "select t.name, count(*) from threads t join calls c using "
				       "(thread) group by 1 order by 1"),
			    "main,2500\nsecond,1\n");
	/* Unknown is not 0, and a number above 2^63 keeps its bits. */
	assert_string_equal(ask(scene,
				"select end_ns is null, argument2 from calls where thread = 1"),
			    "1,-1\n");
	assert_string_equal(ask(scene, "select name from processes"), "\"job, \"\"quoted\"\"\"\n");
}

/* A part of the time: calls that begin in it, including its first instant. */
static void parts(void **state)
{
	struct scene *scene = *state;

	scene->options.part = true;
	scene->results.from_ns = 1000;
	scene->results.to_ns = 3000;
	assert_string_equal(ask(scene, "select call, start_ns from calls"), "1,1000\n2,2000\n");
	assert_string_equal(ask(scene, "select count(*) from calls where call = 3"), "0\n");
	assert_string_equal(ask(scene, "select count(*) from threads"), "2\n");
	scene->options.part = false;
	assert_string_equal(ask(scene, "select count(*) from calls"), "2501\n");
}

static void states_of_a_part(void **state)
{
	struct scene *scene = *state;
	struct model *model = scene->model;
	const struct span spans[] = { { .start_ns = 0, .end_ns = 10 },
				      { .start_ns = 10, .end_ns = 20 },
				      { .start_ns = 20, .end_ns = 30 },
				      { .start_ns = 30, .end_ns = 40 } };

	for (size_t i = 0; i < 4; i++)
		assert_true(MODEL_PUSH(&model->spans, spans[i]));
	model->timelines.row[0].count = 4;
	scene->options.part = true;
	scene->results.from_ns = 15;
	scene->results.to_ns = 30;
	assert_string_equal(ask(scene, "select start_ns from states"), "10\n20\n");
	scene->options.part = false;
	assert_string_equal(ask(scene, "select count(*) from states"), "4\n");
}

/* The tables and columns that a statement reads are known before there are any rows. */
static void needs(void **state)
{
	struct query_needs needs;

	(void)state;
	assert_int_equal(query_needs_of("select 1", &needs, error, sizeof(error)), 0);
	assert_int_equal(needs.sections, SECTION_TRACE);
	assert_int_equal(needs.rows, 0);
	assert_int_equal(
		query_needs_of("select count(*) from calls", &needs, error, sizeof(error)), 0);
	assert_int_equal(needs.sections, SECTION_TRACE);
	assert_int_equal(needs.rows, LOAD_CALLS | LOAD_TASKS);
	assert_int_equal(query_needs_of("with a as (select device from ioctls) select count(*) from a, "
					"api where (select max(count) from ioctl) > 3",
					&needs, error, sizeof(error)),
			 0);
	assert_int_equal(needs.sections, SECTION_TRACE | SECTION_API | SECTION_IOCTL);
	assert_int_equal(needs.rows, LOAD_IOCTLS | LOAD_SCHEDULE);
	assert_int_equal(query_needs_of("select * from advice", &needs, error, sizeof(error)), 0);
	assert_int_equal(needs.sections, SECTION_ALL);
	assert_int_equal(query_needs_of("select x from api", &needs, error, sizeof(error)), -22);
	assert_non_null(strstr(error, "no such column: x"));
	assert_int_equal(query_needs_of("delete from api", &needs, error, sizeof(error)), -22);
}

/*
 * The part of the time that a statement's conditions select: rows that begin there are sufficient, other rows never
 * match.
 */
static void needed_part(void **state)
{
	static const struct {
		const char *sql;
		uint64_t from_ns, to_ns;
	} parts[] = {
		{ "select * from calls where start_ns between 5 and 9", 5, 10 },
		{ "select * from calls where start_ns > 5 and 9 > start_ns", 6, 9 },
		{ "select * from calls where start_ns = 5", 5, 6 },
		{ "select * from calls where start_ns >= 5 and start_ns >= 7 and start_ns < 20 and start_ns <= 30",
		  7, 20 },
		{ "select * from calls where start_ns >= -5 and start_ns <= 9", 0, 10 },
		{ "select * from ioctls where start_ns >= 5", 5, UINT64_MAX },
		{ "select * from states where thread = 1 and start_ns < 9", 0, 9 },
		{ "select * from interrupts where start_ns between 5 and 9", 5, 10 },
		/* With several tables, or sides of a condition, the union. */
		{ "select * from calls a, ioctls b where a.start_ns between 5 and 9 and b.start_ns between 20 and 29",
		  5, 30 },
		{ "select * from calls where start_ns < 5 union select * from calls where start_ns between 7 and 9",
		  0, 10 },
		{ "select (select count(*) from calls where start_ns >= 20) from calls where start_ns between 5 and 9",
		  5, UINT64_MAX },
		{ "select count(*) from calls where start_ns between 5 and 9 and function in (select function from "
		  "functions)",
		  5, 10 },
		/* Conditions whose values are unknown before there are rows, or that do not restrict all rows. */
		{ "select * from calls", 0, UINT64_MAX },
		{ "select * from calls where end_ns < 9", 0, UINT64_MAX },
		{ "select * from calls where start_ns in (5, 9)", 0, UINT64_MAX },
		{ "select * from calls where start_ns > 5.5 and start_ns < '9'", 0, UINT64_MAX },
		{ "select * from calls where start_ns > (select start_ns from trace)", 0, UINT64_MAX },
		{ "select * from calls where start_ns between 5 and 9 or depth = 2", 0, UINT64_MAX },
		{ "select * from calls a, calls b where a.start_ns between 5 and 9", 0, UINT64_MAX },
		{ "select * from calls a left join calls b on a.start_ns = 5 and b.start_ns = 5", 0, UINT64_MAX },
		/* Threads depend on all records, and calls of other times may shift device tasks. */
		{ "select * from calls join threads using (thread) where start_ns between 5 and 9", 0, UINT64_MAX },
		{ "select * from tasks where start_ns between 5 and 9", 0, UINT64_MAX },
	};
	struct query_needs needs;

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		assert_int_equal(query_needs_of(parts[i].sql, &needs, error, sizeof(error)), 0);
		if (needs.part.from_ns != parts[i].from_ns || needs.part.to_ns != parts[i].to_ns)
			fail_msg("%s: from %llu to before %llu", parts[i].sql,
				 (unsigned long long)needs.part.from_ns,
				 (unsigned long long)needs.part.to_ns);
	}
	/* An empty part. */
	assert_int_equal(query_needs_of("select * from calls where start_ns > 9 and start_ns < 5", &needs,
					error, sizeof(error)),
			 0);
	assert_true(needs.part.from_ns >= needs.part.to_ns);
}

static void quantiles(void **state)
{
	const struct scene *scene = *state;

	/* Durations are 1 to 2500 ns; the unknown one does not count. */
	assert_string_equal(ask(scene, "select quantile(end_ns - start_ns, 0.99) from calls"),
			    "2475\n");
	assert_string_equal(ask(scene, "select median(end_ns - start_ns) from calls"), "1250\n");
	assert_string_equal(ask(scene, "select quantile(end_ns - start_ns, 0), "
				       "quantile(end_ns - start_ns, 1) from calls"),
			    "1,2500\n");
	assert_string_equal(ask(scene, "select median(depth / 2.0), median(text) from calls"),
			    "0.0,\n");
	assert_string_equal(ask(scene, "select median(depth) from calls where thread = 9"), "\n");
	assert_int_equal(ask_as(scene, QUERY_CSV, "select quantile(depth, 99) from calls"), -5);
	assert_non_null(strstr(error, "from 0 to 1"));
}

static void formats(void **state)
{
	const struct scene *scene = *state;
	const char *sql = "select tid, name, null as none from threads order by tid";
	size_t lines = 0;

	assert_int_equal(ask_as(scene, QUERY_TABLE, sql), 0);
	assert_string_equal(answer, "tid name   none\n"
				    "100 main   \n"
				    "101 second \n");
	assert_int_equal(ask_as(scene, QUERY_JSON, sql), 0);
	assert_non_null(strstr(answer, "\"tid\": 100,\n    \"name\": \"main\",\n    \"none\": "
				       "null\n"));
	assert_int_equal(ask_as(scene, QUERY_JSON, "select 1 where 0"), 0);
	assert_string_equal(answer, "[\n\n]\n");
	assert_int_equal(ask_as(scene, QUERY_TABLE, "select 1 where 0"), 0);
	assert_string_equal(answer, "no rows\n");
	/* Every row of a long table, once. */
	assert_int_equal(ask_as(scene, QUERY_TABLE, "select 'row' as r, call from calls"), 0);
	for (const char *at = answer; (at = strstr(at, "row ")); at++)
		lines++;
	assert_int_equal(lines, CALLS + 1);
}

static void refused(void **state)
{
	static const struct {
		const char *sql, *reason;
	} wrong[] = {
		{ "create table x (a)", "only SELECT" },
		{ "attach 'x' as y", "only SELECT" },
		{ "pragma temp_store_directory = '/tmp'", "only SELECT" },
		{ "delete from calls", "may not be modified" },
		{ "select nonsense from calls",
		  "no such column: nonsense; analyzer query --schema" },
		{ "select 1 from absent", "no such table: absent; analyzer query --schema" },
		{ "select 1; select 2", "one statement" },
		{ "", "empty" },
		{ "selec 1", "the statement: near \"selec\": syntax error; for example" },
		{ "select", "the statement: incomplete input; for example" },
	};
	const struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(ask_as(scene, QUERY_CSV, wrong[i].sql), -22);
		if (!strstr(error, wrong[i].reason))
			fail_msg("%s: %s", wrong[i].sql, error);
	}
	assert_int_equal(ask_as(scene, QUERY_CSV, "select 1 ; \n"), 0);
}

/* Rows are sorted in the given folder, or not at all. */
static void folder_to_sort_in(void **state)
{
	static const struct {
		const char *folder, *reason;
	} wrong[] = { { "/nonexistent/here", "'/nonexistent/here': No such file or directory; set it to a folder" },
		      { "/dev/null", "'/dev/null': Not a directory; set it to a folder" } };
	const struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("SQLITE_TMPDIR", wrong[i].folder, 1);
		assert_true(ask_as(scene, QUERY_CSV, "select 1") < 0);
		if (!strstr(error, wrong[i].reason))
			fail_msg("%s: %s", wrong[i].folder, error);
	}
	setenv("SQLITE_TMPDIR", "/tmp", 1);
	assert_int_equal(ask_as(scene, QUERY_CSV, "select 1"), 0);
	setenv("SQLITE_TMPDIR", "", 1);
	assert_int_equal(ask_as(scene, QUERY_CSV, "select 1"), 0);
	unsetenv("SQLITE_TMPDIR");
}

/* Names that are usable in SQL, JSON and by people; a description for every column. */
static void descriptions(void **state)
{
	size_t count;
	const struct data_table *const *tables = tables_all(&count);

	for (size_t i = 0; i < count; i++) {
		const struct data_table *table = tables[i];

		assert_true(table->column_count > 0 && *table->meaning);
		assert_ptr_equal(table_find(table->name), table);
		for (unsigned int k = 0; k < table->column_count; k++) {
			const struct column *column = &table->columns[k];

			if (strspn(column->name, "abcdefghijklmnopqrstuvwxyz_0123456789") !=
			    strlen(column->name))
				fail_msg("%s.%s: not a plain name", table->name, column->name);
			if (!*column->heading || !*column->meaning ||
			    column->meaning[strlen(column->meaning) - 1] == '.')
				fail_msg("%s.%s: not described as schema.h wants it", table->name,
					 column->name);
			for (unsigned int other = 0; other < k; other++)
				assert_string_not_equal(column->name, table->columns[other].name);
		}
		if (table->keyed)
			assert_int_equal(table->columns[0].unit, UNIT_ROW);
	}
	assert_null(table_find("nothing"));
}

static void schema(void **state)
{
	FILE *out = fmemopen(answer, sizeof(answer), "w");

	assert_int_equal(query_schema(out, "api", QUERY_MARKDOWN), 0);
	fclose(out);
	assert_non_null(strstr(answer, "\n## api\n"));
	assert_non_null(
		strstr(answer, "| `total_ns` | INTEGER | ns | time in calls that returned |"));
	assert_null(strstr(answer, "## calls"));
	assert_int_equal(query_schema(stdout, "nothing", QUERY_TABLE), -2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),		cmocka_unit_test(quantiles),
		cmocka_unit_test(parts),	cmocka_unit_test(states_of_a_part),
		cmocka_unit_test(needs),	cmocka_unit_test(needed_part),
		cmocka_unit_test(formats),	cmocka_unit_test(refused),
		cmocka_unit_test(folder_to_sort_in),
		cmocka_unit_test(descriptions), cmocka_unit_test(schema),
	};

	return cmocka_run_group_tests(tests, make_scene, free_scene);
}
