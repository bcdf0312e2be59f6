/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a small model, as CSV files and in a database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/cli/analysis.h"
#include "analyzer/export/tables/tables.h"
#include "tests/unit/small_model.h"

static char folder[64];

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/test_tables.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/* Two processes; the second one has no device. */
static struct model *make_model(void)
{
	struct model *model = small_model(0, 100000000);
	uint32_t job = small_process(model, 100, "job, \"quoted\"", true);
	uint32_t other = small_process(model, 200, "other", true);
	uint32_t main = small_thread(model, job, 100, "main");
	uint32_t second = small_thread(model, other, 200, "second");
	uint32_t launch =
		small_function(model, "acl", "aclrtLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	struct device_task *task;
	uint32_t row;

	small_device(model, job, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	task = small_task(model, 0, 1000000, 3000000);
	task->name = model_string(model, "two\nlines");
	task->stream = UINT64_MAX - 1;
	task = small_task(model, 0, 5000000, 6000000);
	task->name = model_string(model, "last");
	task->stream = UINT64_MAX;
	row = small_call(model, main, launch, 500, 900);
	model->calls.row[row].args[1] = UINT64_MAX;
	small_call(model, second, launch, 700, 800);
	row = small_call(model, second, launch, 900, 900);
	model->calls.row[row].flags = MODEL_CALL_ENTRY;
	small_index(model);
	return model;
}

static void analyse(struct analysis *analysis)
{
	static const struct analysis_options options;
	char error[256] = "";

	*analysis = (struct analysis){ .model = make_model() };
	/* The model's makers prepare what the analysis makes. */
	free(analysis->model->timelines.row);
	memset(&analysis->model->timelines, 0, sizeof(analysis->model->timelines));
	assert_int_equal(analysis_compute(analysis, &options, error, sizeof(error)), 0);
}

static char *text_of(const char *name)
{
	static char text[4096];
	char path[128];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	return text;
}

static void csv_files(void **state)
{
	const uint32_t pid = 100;
	const struct export_options options = { .end_ns = 100000000, .pids = &pid, .pid_count = 1 };
	struct analysis analysis;
	char error[256] = "";

	analyse(&analysis);
	assert_int_equal(write_csv(analysis.model, &analysis.results, folder, &options, error,
				   sizeof(error)),
			 0);
	assert_string_equal(text_of("threads.csv"),
			    "thread,tid,process,name,target,first_ns,last_ns,exit_ns\n"
			    "0,100,0,main,1,0,100000000,\n");
	assert_non_null(
		strstr(text_of("processes.csv"), "\n0,100,,\"job, \"\"quoted\"\"\",,1,,\n"));
	assert_non_null(strstr(text_of("calls.csv"),
			       "\n0,0,0,500,900,0,0,0,0,0,0,0,,0,18446744073709551615,0,"));
	/* One process was asked for. */
	assert_null(strstr(text_of("calls.csv"), ",700,"));
	assert_non_null(strstr(text_of("tasks.csv"),
			       "\n0,0,18446744073709551614,\"two\nlines\",kernel,,,"));
	assert_non_null(strstr(text_of("tasks.csv"), "\n1,0,,last,kernel,,,"));
	assert_non_null(strstr(text_of("operators.csv"),
			       ",kernel,kernel,1,2000000,2000000,2000000,66.6667,,,,,,,,,,,\n"));
	assert_non_null(strstr(text_of("device_usage.csv"),
			       "\n0,2,0,0,1000000,5000000,3000000,2000000,1,"));
	assert_non_null(strstr(text_of("idle_gaps.csv"), "\n0,0,3000000,5000000,0,1\n"));
	assert_int_equal(write_csv(analysis.model, &analysis.results, "/nonexistent", &options,
				   error, sizeof(error)),
			 -2);
	assert_non_null(strstr(error, "/nonexistent"));
	analysis_free(&analysis);
}

static void expect(sqlite3 *db, const char *query, const char *value)
{
	sqlite3_stmt *statement;
	const char *found;

	assert_int_equal(sqlite3_prepare_v2(db, query, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	found = (const char *)sqlite3_column_text(statement, 0);
	if (value)
		assert_string_equal(found, value);
	else
		assert_null(found);
	sqlite3_finalize(statement);
}

static void database(void **state)
{
	const struct export_options options = { .end_ns = 100000000 };
	struct analysis analysis;
	char path[128], error[256] = "";
	sqlite3 *db;

	analyse(&analysis);
	snprintf(path, sizeof(path), "%s/model.sqlite", folder);
	assert_int_equal(write_sqlite(analysis.model, &analysis.results, path, &options, error,
				      sizeof(error)),
			 0);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	expect(db, "PRAGMA integrity_check", "ok");
	expect(db, "SELECT count(*) FROM calls JOIN threads USING (thread)", "3");
	expect(db, "SELECT count(*) FROM calls WHERE end_ns IS NULL AND end_unknown = 1", "1");
	expect(db, "SELECT count FROM api WHERE end_unknown = 1 AND left_calls = 0", "2");
	expect(db, "SELECT sum(end_ns - start_ns) FROM tasks", "3000000");
	expect(db, "SELECT name FROM tasks WHERE task = 0", "two\nlines");
	expect(db, "SELECT stream FROM tasks WHERE task = 1", NULL);
	expect(db, "SELECT stream FROM tasks WHERE task = 0", "-2");
	expect(db,
	       "SELECT processes.name FROM tasks JOIN devices USING (device) JOIN processes "
	       "USING (process) WHERE task = 1",
	       "job, \"quoted\"");
	expect(db, "SELECT computation_ns FROM overlap WHERE whole_device", "3000000");
	expect(db, "SELECT sum(ns) FROM idle_causes", "2000000");
	expect(db, "SELECT sum(ns) FROM idle_roots", "2000000");
	expect(db,
	       "SELECT count(*) FROM idle_roots WHERE root IN (SELECT root FROM idle_hops WHERE "
	       "hop = 0)",
	       "1");
	expect(db, "SELECT sum(end_ns - start_ns) FROM idle_parts", "2000000");
	expect(db, "SELECT count FROM api_statistic WHERE process = 0", "1");
	sqlite3_close(db);
	analysis_free(&analysis);
}

/* Begins and ends as the format says; what is in it tests/e2e/table_formats.sh compares by other readers. */
static void parquet(void **state)
{
	const struct export_options options = { .end_ns = 100000000 };
	struct analysis analysis;
	char error[256] = "";
	const char *text;

	analyse(&analysis);
	assert_int_equal(write_parquet(analysis.model, &analysis.results, folder, &options, error,
				       sizeof(error)),
			 0);
	text = text_of("calls.parquet");
	assert_memory_equal(text, "PAR1", 4);
	assert_memory_equal(text_of("advice.parquet"), "PAR1", 4);
	assert_int_equal(write_parquet(analysis.model, &analysis.results, "/nonexistent", &options,
				       error, sizeof(error)),
			 -2);
	assert_non_null(strstr(error, "/nonexistent"));
	analysis_free(&analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_files),
		cmocka_unit_test(database),
		cmocka_unit_test(parquet),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
