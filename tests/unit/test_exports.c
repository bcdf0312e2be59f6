/* SPDX-License-Identifier: Apache-2.0 */
/* Folders into which a result was exported more than once, built by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/import/exports.h"
#include "analyzer/import/importer.h"
#include "tests/unit/import_text.h"

#define HEADER "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
#define LEFT "left out: a newer export has the same"

static char root[64], output[160];

static int setup(void **state)
{
	strcpy(root, "/tmp/test_exports.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(output, sizeof(output), "mkdir -p %s/PROF_1/mindstudio_profiler_output", root);
	if (system(output) != 0)
		return -1;
	snprintf(output, sizeof(output), "%s/PROF_1/mindstudio_profiler_output", root);
	return 0;
}

static int teardown(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* @count tasks of a device, a millisecond each, from millisecond @from on. */
static void write_table(const char *name, int device, int from, int count)
{
	char text[4096];
	int length = snprintf(text, sizeof(text), "%s", HEADER);

	for (int i = from; i < from + count; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
				   "%d,%d,3,MatMul_%d,MatMulV2,AI_CORE,%d\t,1000\n", device, i, i,
				   1700000000 + i * 1000);
	import_write_text(output, name, text);
}

static void write_timeline(const char *name, int from, int count)
{
	char text[4096];
	int length = snprintf(text, sizeof(text),
			      "[{\"name\":\"process_name\",\"pid\":800,\"tid\":0,\"ph\":\"M\","
			      "\"args\":{\"name\":\"Ascend Hardware\"}}");

	for (int i = from; i < from + count; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
				   ",{\"name\":\"MatMul_%d\",\"pid\":800,\"tid\":3,\"ts\":\"%d.0\","
				   "\"dur\":1000,\"args\":{\"Task Type\":\"AI_CORE\",\"Stream Id\":3,"
				   "\"Task Id\":%d},\"ph\":\"X\"}",
				   i, 1700000000 + i * 1000, i);
	snprintf(text + length, sizeof(text) - (size_t)length, "]");
	import_write_text(output, name, text);
}

/* Checks the import of the folder: the number of tasks, and of files that were left out. */
static void expect(uint32_t tasks, uint64_t left)
{
	struct model *model = import_take(root);
	uint64_t found = 0;

	for (uint32_t i = 0; i < model->findings.count; i++) {
		if (strcmp(model_text(model, model->findings.row[i].what), LEFT) == 0)
			found += model->findings.row[i].count;
	}
	assert_int_equal(model->tasks.count, tasks);
	assert_int_equal(found, left);
	model_free(model);
}

static void test_names(void **state)
{
	struct export_name name;

	assert_true(export_name_read("op_summary_20240102030405.csv", &name));
	assert_string_equal(name.rest, "op_summary_.csv");
	assert_true(name.stamp == 20240102030405);
	assert_true(name.slice == UINT32_MAX);
	/* A slice number before or after the time stamp; device, model and iteration stay. */
	assert_true(export_name_read("msprof_slice_12_20240102030405.json", &name));
	assert_string_equal(name.rest, "msprof_.json");
	assert_int_equal(name.slice, 12);
	assert_true(export_name_read("op_summary_0_1_2_20240102030405_slice_0.csv", &name));
	assert_string_equal(name.rest, "op_summary_0_1_2_.csv");
	assert_int_equal(name.slice, 0);
	assert_true(export_name_read("a_slice_99999999999999999999_20240102030405.csv", &name));
	assert_false(export_name_read("op_summary_0_1_2.csv", &name));
	assert_false(export_name_read("op_summary_202401020304056.csv", &name));
	assert_false(export_name_read("hwts.data.45.dev.1.slice_20240102030405", &name));
}

/* The newer of two exports counts, for tables, timelines and sums. */
static void test_twice(void **state)
{
	struct model *model;

	write_table("op_summary_20240102030405.csv", 0, 0, 10);
	expect(10, 0);
	write_table("op_summary_20240102040404.csv", 0, 0, 12);
	expect(12, 1);
	write_table("op_summary_20230102040404.csv", 0, 1, 9);
	expect(12, 2);
	import_write_text(output, "op_statistic_20240102030405.csv",
			  "Device_id,OP Type,Core Type,Count,Total Time(us)\n0,MatMulV2,AI_CORE,1,1\n");
	import_write_text(output, "op_statistic_20240102040404.csv",
			  "Device_id,OP Type,Core Type,Count,Total Time(us)\n0,MatMulV2,AI_CORE,2,2\n");
	expect(12, 3);
	model = import_take(root);
	assert_int_equal(model->operator_sums.count, 1);
	assert_int_equal(model->operator_sums.row[0].count, 2);
	model_free(model);
	/* Timelines are read before tables, which add details to their tasks. */
	write_timeline("msprof_20240102040406.json", 0, 12);
	expect(12, 3);
	write_timeline("msprof_20240102030406.json", 0, 12);
	expect(12, 4);
}

/* Slices belong to one export, whatever their stamps; an older export may have more slices. */
static void test_slices(void **state)
{
	write_table("op_summary_slice_0_20240102040404.csv", 0, 0, 10);
	write_table("op_summary_slice_1_20240102040404.csv", 0, 10, 10);
	expect(20, 0);
	/* Slices are not split by time. */
	write_table("op_summary_slice_2_20240102040405.csv", 0, 0, 4);
	expect(24, 0);
	for (int i = 0; i < 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "op_summary_slice_%d_20240102030404.csv", i);
		write_table(name, 0, i * 6, 6);
	}
	expect(24, 4);
	/* And an export that was not split. */
	write_table("op_summary_20240101000000.csv", 0, 0, 24);
	expect(24, 5);
	write_table("op_summary_20250101000000.csv", 0, 0, 24);
	expect(24, 8);
}

/* Iterations and devices that were exported separately are all imported, each once. */
static void test_iterations(void **state)
{
	write_table("op_summary_0_1_1_20240102030405.csv", 0, 0, 10);
	write_table("op_summary_0_1_2_20240102030406.csv", 0, 10, 10);
	expect(20, 0);
	write_table("op_summary_0_1_2_20240102040406.csv", 0, 10, 10);
	expect(20, 1);
	/* Names without numbers: the tasks show whether the files overlap. */
	write_table("op_summary_20240102050000.csv", 0, 20, 10);
	write_table("op_summary_20240102050001.csv", 0, 29, 10);
	expect(40, 1);
	write_table("op_summary_20240102050002.csv", 1, 20, 10);
	expect(50, 1);
	write_table("op_summary_20240102050003.csv", 0, 20, 10);
	expect(50, 2);
}

/* A folder with such a name, and files that are no exports. */
static void test_hostile(void **state)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && ln -s .. msprof_20240102030405.json && ln -s .. msprof_20240102030406.json && "
		 "printf x >op_summary_20240102030405.csv && : >op_summary_20240102030406.csv",
		 output);
	assert_int_equal(system(command), 0);
	write_table("op_summary_20240102030407.csv", 0, 0, 3);
	expect(3, 2);
	/* An incomplete export supersedes no other one. */
	import_write_text(output, "op_summary_20240102030408.csv", HEADER);
	expect(3, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_iterations, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
