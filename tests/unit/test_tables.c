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
#include "analyzer/export/export.h"
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
	/* The model's builders prepare what the analysis computes itself. */
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

static uint32_t allocator(struct model *model, const char *name, Profbpf__Function__Kind kind)
{
	uint32_t row = small_function(model, "acl", name, kind);

	model->functions.row[row].roles[0] = PROFBPF__FUNCTION__ROLE__BYTES;
	model->functions.row[row].roles[1] = kind == PROFBPF__FUNCTION__KIND__ALLOC
						     ? PROFBPF__FUNCTION__ROLE__OUT_HANDLE
						     : PROFBPF__FUNCTION__ROLE__HANDLE;
	return row;
}

static void call_of(struct model *model, uint32_t function, uint64_t at_ns, uint64_t bytes,
		    uint64_t handle)
{
	uint32_t row = small_call(model, 0, function, at_ns, at_ns + 10);

	model->calls.row[row].args[0] = bytes;
	model->calls.row[row].args[1] = handle;
}

/* No two figures of a row are equal: an exchanged one is noticed. */
static void memory_files(void **state)
{
	static const struct analysis_options all;
	const struct export_options options = { .end_ns = 100000000 };
	struct analysis analysis = { .model = small_model(0, 100000000) };
	struct model *model = analysis.model;
	uint32_t take, give;
	char error[256] = "";

	small_thread(model, small_process(model, 100, "job", true), 100, "main");
	small_function(model, "acl", "aclInit", PROFBPF__FUNCTION__KIND__OTHER);
	take = allocator(model, "aclrtMalloc", PROFBPF__FUNCTION__KIND__ALLOC);
	give = allocator(model, "aclrtFree", PROFBPF__FUNCTION__KIND__FREE);
	for (uint64_t i = 0; i < 5; i++)
		call_of(model, take, 1000 + 100 * i, 4096, 0xa000 + 0x1000 * i);
	for (uint64_t i = 0; i < 3; i++)
		call_of(model, give, 1350 + 100 * i, 0, 0xa000 + 0x1000 * i);
	call_of(model, give, 3000, 0, 0x77);
	small_index(model);
	free(model->timelines.row);
	memset(&model->timelines, 0, sizeof(model->timelines));
	assert_int_equal(analysis_compute(&analysis, &all, error, sizeof(error)), 0);
	assert_int_equal(export_csv.write(model, &analysis.results, folder, &options, error, sizeof(error)),
			 0);
	assert_string_equal(text_of("memory.csv"),
			    "ledger,process,runtime,memory,allocations,allocated_bytes,frees,failed,"
			    "unknown_frees,peak_bytes,peak_ns,live_bytes,live_count\n"
			    "0,0,acl,device,5,20480,4,0,1,16384,1310,8192,2\n");
	assert_string_equal(text_of("memory_live.csv"),
			    "ledger,function,bytes,count,first_ns,thread\n0,1,4096,2,1310,0\n");
	analysis_free(&analysis);
}

static void csv_files(void **state)
{
	const uint32_t pid = 100;
	const struct export_options options = { .end_ns = 100000000, .pids = &pid, .pid_count = 1 };
	struct analysis analysis;
	char error[256] = "";

	analyse(&analysis);
	assert_int_equal(export_csv.write(analysis.model, &analysis.results, folder, &options, error,
				   sizeof(error)),
			 0);
	assert_string_equal(text_of("threads.csv"),
			    "thread,tid,process,name,target,first_ns,last_ns,exit_ns\n"
			    "0,100,0,main,1,0,100000000,\n");
	assert_non_null(
		strstr(text_of("processes.csv"), "\n0,100,,\"job, \"\"quoted\"\"\",,1,,\n"));
	assert_non_null(strstr(text_of("calls.csv"),
			       "\n0,0,0,500,900,0,0,0,0,0,0,0,,0,18446744073709551615,0,"));
	/* One process was selected. */
	assert_null(strstr(text_of("calls.csv"), ",700,"));
	assert_non_null(strstr(text_of("tasks.csv"),
			       "\n0,0,18446744073709551614,\"two\nlines\",kernel,,,"));
	assert_non_null(strstr(text_of("tasks.csv"), "\n1,0,,last,kernel,,,"));
	assert_non_null(strstr(text_of("operators.csv"),
			       ",kernel,kernel,1,2000000,2000000,2000000,66.6667,,,,,,,,,,,,\n"));
	assert_non_null(strstr(text_of("device_usage.csv"),
			       "\n0,2,0,0,1000000,5000000,3000000,2000000,1,"));
	/* The device has no rank. */
	assert_non_null(strstr(text_of("idle_gaps.csv"), "device,start_ns,end_ns,task_before,task_after,rank\n"
							 "0,0,3000000,5000000,0,1,\n"));
	assert_int_equal(export_csv.write(analysis.model, &analysis.results, "/nonexistent", &options,
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
	assert_int_equal(export_sqlite.write(analysis.model, &analysis.results, path, &options, error,
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

/* Begins and ends as the format requires; tests/e2e/table_formats.sh compares the contents with other readers. */
static void parquet(void **state)
{
	const struct export_options options = { .end_ns = 100000000 };
	struct analysis analysis;
	char error[256] = "";
	const char *text;

	analyse(&analysis);
	assert_int_equal(export_parquet.write(analysis.model, &analysis.results, folder, &options, error,
				       sizeof(error)),
			 0);
	text = text_of("calls.parquet");
	assert_memory_equal(text, "PAR1", 4);
	assert_memory_equal(text_of("advice.parquet"), "PAR1", 4);
	assert_int_equal(export_parquet.write(analysis.model, &analysis.results, "/nonexistent", &options,
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
		cmocka_unit_test(memory_files),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
