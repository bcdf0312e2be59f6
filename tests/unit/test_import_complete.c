/* SPDX-License-Identifier: Apache-2.0 */
/* Files of Ascend's profilers that complete the records of other files beside them, built by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/import/importer.h"
#include "analyzer/import/task_find.h"
#include "tests/unit/import_text.h"

static struct model *take_folder(const char *name)
{
	return import_take(import_in_root(name));
}

#define TASK(name, tid, number, ts, dur)                                                    \
	"{\"name\":\"" name "\",\"pid\":416,\"tid\":" tid ",\"ts\":\"" ts "\",\"dur\":" dur \
	",\"ph\":\"X\",\"args\":{\"Task Type\":\"AI_CORE\",\"Physic Stream Id\":" tid       \
	",\"Task Id\":" number "}}"

/* Device 0: two tasks that begin at once, one that runs twice, and one that is in no table. */
#define TIMELINE                                                                              \
	"[{\"name\":\"process_name\",\"pid\":416,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":"  \
	"\"Ascend Hardware\"}}," TASK("MatMul_1", "2", "4", "1700000000000100.250",           \
				      "10.5") "," TASK("Cast_2", "3", "5",                    \
						       "1700000000000100.250", "2") "," TASK( \
		"MatMul_1", "2", "6", "1700000000000200.750",                                 \
		"11") "," TASK("Only_3", "2", "7", "1700000000000300", "1") "]"

#define HEADER                                                                              \
	"Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"          \
	"Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num,Input Shapes,"  \
	"Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"    \
	"Context ID,aicore_time(us),aic_mac_ratio,cube_utilization(%),aic_cube_fops\n"

/* Out of order, one rounded to hundredths, one of another device, one that is not in the timeline. */
#define TABLE                                                                                  \
	HEADER "0,4294967295,6,2,MatMul_1,MatMulV2,static,AI_CORE,\"1700000000000200.75\t\","  \
	       "11,0,8,\"\"\"8,2048\"\"\",FLOAT16,ND,\"\"\"8\"\"\",FLOAT16,ND,N/A,10,0.5,40,"  \
	       "1000\n"                                                                        \
	       "0,4294967295,5,3,Cast_2,Cast,static,AI_VECTOR_CORE,\"1700000000000100.25\t\"," \
	       "2,0,1,\"\"\"1\"\"\",FLOAT,ND,\"\"\"1\"\"\",FLOAT16,ND,N/A,N/A,N/A,N/A,N/A\n"   \
	       "0,4294967295,4,2,MatMul_1,MatMulV2,static,AI_CORE,\"1700000000000100.251\t\"," \
	       "10.5,0,8,\"\"\"8,1024\"\"\",FLOAT16,ND,\"\"\"8\"\"\",FLOAT16,ND,N/A,10,0.25,"  \
	       "20,500\n"                                                                      \
	       "1,4294967295,7,2,Only_3,X,static,AI_CORE,\"1700000000000300\t\",1,0,8,N/A,"    \
	       "N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n"                                     \
	       "0,N/A,N/A,N/A,hcom_allReduce__1,hcom_allReduce_,N/A,COMMUNICATION,"            \
	       "\"1700000000000100\t\",9,0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n"

static const struct device_task *task_at(const struct model *model, const char *name,
					 uint64_t start_ns)
{
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->start_ns == start_ns && strcmp(model_text(model, task->name), name) == 0)
			return task;
	}
	fail_msg("no task %s", name);
	return NULL;
}

static double metric(const struct model *model, const struct device_task *task, const char *name)
{
	const struct task_detail *detail = model_task_detail(model, task);

	for (uint32_t i = 0; detail && i < detail->metric_count; i++) {
		const struct task_metric *row = &model->task_metrics.row[detail->first_metric + i];

		if (strcmp(model_text(model, row->name), name) == 0)
			return (double)row->value;
	}
	return -1;
}

static void check_completed(const struct model *model)
{
	const struct device_task *task = task_at(model, "MatMul_1", 1700000000000100250);
	const struct task_detail *detail = model_task_detail(model, task);

	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->tasks.count, 4);
	/* Times and launches stay as in the timeline. */
	assert_int_equal(task->end_ns - task->start_ns, 10500);
	assert_string_equal(model_text(model, task->type), "MatMulV2");
	assert_string_equal(model_text(model, task->core), "AI_CORE");
	assert_string_equal(model_text(model, detail->input_shapes), "\"8,1024\"");
	assert_int_equal(detail->task_id, 4);
	assert_int_equal(detail->blocks, 8);
	assert_int_equal((int)detail->flops, 500);
	assert_true(metric(model, task, "aic_mac_ratio") == 0.25);
	task = task_at(model, "MatMul_1", 1700000000000200750);
	assert_true(metric(model, task, "aic_mac_ratio") == 0.5);
	task = task_at(model, "Cast_2", 1700000000000100250);
	assert_string_equal(model_text(model, task->type), "Cast");
	assert_int_equal(model_task_detail(model, task)->metric_count, 0);
	task = task_at(model, "Only_3", 1700000000000300000);
	assert_string_equal(model_text(model, task->type), "");
	assert_int_equal(model_task_detail(model, task)->input_shapes, 0);
	/* The row of device 1. */
	assert_int_equal(model->findings.count, 1);
	assert_int_equal(model->findings.row[0].count, 1);
}

/* The table beside the timeline adds no tasks. */
static void test_table_beside_timeline(void **state)
{
	const char *path = import_make_folder("PROF_1/mindstudio_profiler_output");
	struct model *model;

	import_write_text(path, "msprof_20240101000000.json", TIMELINE);
	import_write_text(path, "op_summary_20240101000000.csv", TABLE);
	model = take_folder("PROF_1");
	check_completed(model);
	model_free(model);
}

/* In 2023 the files were in separate folders, tables first by name. */
static void test_folders_of_2023(void **state)
{
	struct model *model;

	import_write_text(import_make_folder("PROF_2/device_0/timeline"), "msprof_0_2_1.json", TIMELINE);
	import_write_text(import_make_folder("PROF_2/device_0/summary"), "op_summary_0_2_1.csv", TABLE);
	model = take_folder("PROF_2");
	check_completed(model);
	model_free(model);
	/* Without a timeline the tasks come from the table: those of both devices, and the collective. */
	import_write_text(import_make_folder("PROF_3/device_0/summary"), "op_summary_0_2_1.csv", TABLE);
	model = take_folder("PROF_3");
	assert_int_equal(model->devices.count, 2);
	assert_int_equal(model->tasks.count, 5);
	model_free(model);
}

/* Without numbers (kernel_details) tasks are matched by name and instant, also if several begin at once. */
static void test_kernel_details(void **state)
{
	const char *path = import_make_folder("a_ascend_pt/ASCEND_PROFILER_OUTPUT");
	struct model *model;

	import_write_text(path, "trace_view.json", TIMELINE);
	import_write_text(path, "kernel_details.csv",
			  "Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
			  "Block Dim,Input Shapes\n"
			  "Cast_2,Cast,AI_VECTOR_CORE,1700000000000100.250,2,0,1,\"\"\"3\"\"\"\n"
			  "MatMul_1,MatMul,AI_CORE,1700000000000100.250,10.5,0,1,\"\"\"4\"\"\"\n"
			  "MatMul_1,MatMul,AI_CORE,1700000000000202.750,10.5,0,1,\"\"\"5\"\"\"\n");
	import_write_text(import_make_folder("a_ascend_pt"), "profiler_info_3.json",
			  "{\"config\": {}, \"rank_id\": 3}");
	import_write_text(import_make_folder("a_ascend_pt"), "profiler_metadata.json",
			  "{\"parallel_group_info\": {\"g0\": {\"group_name\": \"default_group\","
			  " \"global_ranks\": [0, 1, 2, 3]}, \"g1\": {\"group_name\": \"pp\","
			  " \"group_rank\": 0, \"global_ranks\": [0, \"x\", 3]}, \"g2\": 7}}");
	model = take_folder("a_ascend_pt");
	assert_int_equal(model->tasks.count, 4);
	assert_string_equal(
		model_text(model, task_at(model, "Cast_2", 1700000000000100250)->type), "Cast");
	assert_string_equal(
		model_text(model, model_task_detail(model, task_at(model, "MatMul_1",
								   1700000000000100250))
					  ->input_shapes),
		"\"4\"");
	/* Two microseconds away: a different task. */
	assert_string_equal(
		model_text(model, task_at(model, "MatMul_1", 1700000000000200750)->type), "");
	assert_true(model->devices.row[0].has_rank);
	assert_int_equal(model->devices.row[0].rank, 3);
	assert_int_equal(model->devices.row[0].stages, 3);
	assert_int_equal(model->devices.row[0].stage, 2);
	model_free(model);
	/* The output folder alone: the file is in its parent folder. */
	model = take_folder("a_ascend_pt/ASCEND_PROFILER_OUTPUT");
	assert_int_equal(model->devices.row[0].rank, 3);
	model_free(model);
}

#define CACHE "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n"

/* Files of a known kind that are not imported are reported once per kind. */
static void test_left(void **state)
{
	const char *path = import_make_folder("PROF_6/mindstudio_profiler_output");
	struct model *model;

	import_write_text(path, "msprof_1.json", TIMELINE);
	import_write_text(path, "nic_1.csv", "");
	import_write_text(path, "nic_2.csv", "");
	import_write_text(path, "nothing_known.csv", "");
	model = take_folder("PROF_6");
	/* The file of no known format has a line of its own. */
	assert_int_equal(model->findings.count, 2);
	assert_int_equal(model->findings.row[0].count, 2);
	assert_non_null(strstr(model_text(model, model->findings.row[0].what), "nic_*.csv"));
	model_free(model);
}

/* Matched by numbers only: in order if the counts are equal, otherwise by their mean; N/A is unknown. */
static void test_cache_rates(void **state)
{
	const char *path = import_make_folder("PROF_4/mindstudio_profiler_output");
	static const char timeline[] =
		"[{\"name\":\"process_name\",\"pid\":416,\"tid\":0,\"ph\":\"M\",\"args\":{"
		"\"name\":\"Ascend Hardware\"}}," TASK("B", "2", "4", "200", "1") "," TASK(
			"B", "2", "4", "100", "1") "," TASK("C", "3", "4", "100",
							    "1") "," TASK("C", "3", "4", "300",
									  "1") "," TASK("D", "4",
											"4", "1",
											"1") "]";
	struct model *model;

	import_write_text(path, "msprof_1.json", timeline);
	import_write_text(path, "op_summary_1.csv",
			  "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,"
			  "Task Start Time(us),Task Duration(us),mac_ratio\n"
			  "0,4,2,B,BType,AI_CORE,100,1,0.5\n");
	import_write_text(path, "l2_cache_1.csv",
			  CACHE "0,2,4,0.25,1.5,B\n0,3,4,0.25,0,C\n0,2,4,0.5,N/A,B\n0,3,4,0.5,0,C\n"
				"0,3,4,0.75,0,C\n0,4,4,N/A,N/A,D\n0,9,9,1,1,E\n0,x,9,1,1,E\n");
	model = take_folder("PROF_4");
	assert_int_equal(model->tasks.count, 5);
	assert_true(metric(model, task_at(model, "B", 100000), "l2_cache_hit_rate") == 0.25);
	assert_true(metric(model, task_at(model, "B", 100000), "l2_cache_victim_rate") == 1.5);
	assert_true(metric(model, task_at(model, "B", 100000), "mac_ratio") == 0.5);
	assert_true(metric(model, task_at(model, "B", 200000), "l2_cache_hit_rate") == 0.5);
	assert_true(metric(model, task_at(model, "B", 200000), "l2_cache_victim_rate") == -1);
	assert_true(metric(model, task_at(model, "C", 100000), "l2_cache_hit_rate") == 0.5);
	assert_true(metric(model, task_at(model, "C", 300000), "l2_cache_hit_rate") == 0.5);
	assert_true(metric(model, task_at(model, "D", 1000), "l2_cache_hit_rate") == -1);
	/* Findings: C's numbers of rows and tasks differ; E has no task; x is not a number. */
	assert_int_equal(model->findings.count, 3);
	model_free(model);
	import_same("l2_cache_1.csv", CACHE "0,2,4,0.25,1.5,B\n", strlen(CACHE) + 16, true);
}

/* msprof's facts about its device, "-1" for unknown ones; a folder of MindSpore with several ranks. */
static void test_ranks(void **state)
{
	struct model *model;

	import_write_text(import_make_folder("PROF_5/device_0"), "info.json.0", "{\"rank_id\": 5}");
	import_write_text(import_make_folder("PROF_5/device_0/timeline"), "msprof_0_1_1.json", TIMELINE);
	model = take_folder("PROF_5");
	assert_true(model->devices.row[0].has_rank);
	assert_int_equal(model->devices.row[0].rank, 5);
	model_free(model);
	import_write_text(import_make_folder("PROF_5/device_0"), "info.json.0", "{\"rank_id\": \"-1\"}");
	model = take_folder("PROF_5");
	assert_false(model->devices.row[0].has_rank);
	model_free(model);
	for (int i = 0; i < 2; i++) {
		char name[64];

		snprintf(name, sizeof(name), "output_timeline_data_%d.txt", i);
		import_write_text(import_make_folder("profiler"), name,
				  "op_name, stream_id, start_time(ms), duration(ms)\nA,1,5,1\n");
		snprintf(name, sizeof(name), "profiler_info_%d.json", i);
		import_write_text(import_make_folder("profiler"), name,
				  i ? "{\"rank_id\": \"1\"}" : "{\"context_mode\": \"graph\"}");
	}
	import_write_text(import_make_folder("profiler"),
			  "ascend_cluster_analyse_pipeline-parallel_2_2_1.csv", "1,2,3,4,5\n");
	import_write_text(import_make_folder("profiler"),
			  "ascend_cluster_analyse_pipeline-parallel_3_2_0.csv", "1,2,3,4,5\n");
	model = take_folder("profiler");
	assert_int_equal(model->devices.count, 2);
	/* Two ranks cannot form three stages. */
	assert_int_equal(model->devices.row[0].stages, 0);
	assert_int_equal(model->devices.row[1].stages, 2);
	assert_int_equal(model->devices.row[1].stage, 1);
	assert_int_equal(model->devices.row[0].rank, 0);
	assert_true(model->devices.row[0].has_rank);
	assert_int_equal(model->devices.row[1].rank, 1);
	assert_true(model->devices.row[1].has_rank);
	model_free(model);
}

/* Counters of a compute task, counters of another task, a counter without a value; and the device's rank. */
static void test_database(void **state)
{
	static const char statements[] =
		"CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"
		"INSERT INTO STRING_IDS VALUES (1, 'MatMul'), (2, 'KERNEL_AICORE'),"
		" (3, 'aic_mac_ratio'), (4, 'aic_total_cycles'), (5, 'aic_cube_fops');"
		"CREATE TABLE COMPUTE_TASK_INFO (name, globalTaskId, opType);"
		"INSERT INTO COMPUTE_TASK_INFO VALUES (1, 11, 1);"
		"CREATE TABLE TASK_PMU_INFO (globalTaskId, name, value);"
		"INSERT INTO TASK_PMU_INFO VALUES (11, 3, 0.5), (12, 3, 0.75), (11, 4, 9),"
		" (11, 5, 100), (11, 3, NULL);"
		"CREATE TABLE RANK_DEVICE_MAP (rankId, deviceId);"
		"INSERT INTO RANK_DEVICE_MAP VALUES (7, 0), (-1, 1);"
		"CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, taskType,"
		" streamId);"
		"INSERT INTO TASK VALUES (1700000000000000200, 1700000000000000300, 0, 7, 11, 2, 2),"
		" (1700000000000000400, 1700000000000000500, 1, 7, 12, 2, 2);";
	const struct device_task *task;
	struct model *model;
	char path[192];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/msprof_1.db", import_root());
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	model = import_take(path);
	task = task_at(model, "MatMul", 1700000000000000200);
	assert_int_equal(model_task_detail(model, task)->metric_count, 3);
	assert_true(metric(model, task, "aic_mac_ratio") == 0.5);
	assert_true(metric(model, task, "aic_total_cycles") == 9);
	assert_int_equal((int)model_task_detail(model, task)->flops, 100);
	assert_true(model->devices.row[0].has_rank);
	assert_int_equal(model->devices.row[0].rank, 7);
	assert_false(model->devices.row[1].has_rank);
	model_free(model);
}

/* Tasks that differ in names and times only share their details, until one of them gets more. */
static void test_shared(void **state)
{
	struct model *model;
	struct task_detail *own;

	import_write_text(import_root(), "kernel_details.csv",
			  "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
			  "Block Dim,Input Shapes\n"
			  "1,0,MatMul_1,MatMulV2,AI_CORE,100.5,2,20,\"8,8\"\n"
			  "1,0,MatMul_2,MatMulV2,AI_CORE,110.5,3,20,\"8,8\"\n"
			  "1,0,MatMul_3,MatMulV2,AI_CORE,120.5,3,20,\"8,4\"\n"
			  "2,0,MatMul_1,MatMulV2,AI_CORE,130.5,3,20,\"8,8\"\n"
			  "1,0,MatMul_1,MatMulV2,AI_CORE,140.5,3,20,\"8,8\"\n");
	model = take_folder("kernel_details.csv");
	assert_int_equal(model->tasks.count, 5);
	assert_int_equal(model->task_details.count, 3);
	assert_ptr_equal(model_task_detail(model, &model->tasks.row[0]),
			 model_task_detail(model, &model->tasks.row[4]));
	own = task_detail_of(model, &model->tasks.row[1]);
	own->blocks = 7;
	assert_ptr_equal(task_detail_of(model, &model->tasks.row[1]), own);
	assert_int_equal(model->task_details.count, 4);
	assert_int_equal(model_task_detail(model, &model->tasks.row[1])->step, 1);
	assert_int_equal(model_task_detail(model, &model->tasks.row[0])->blocks, 20);
	assert_int_equal(model_task_detail(model, &model->tasks.row[4])->blocks, 20);
	/* The third shares its details with no task: they are changed in place. */
	task_detail_of(model, &model->tasks.row[2])->blocks = 8;
	assert_int_equal(model->task_details.count, 4);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_beside_timeline),
		cmocka_unit_test(test_folders_of_2023),
		cmocka_unit_test(test_kernel_details),
		cmocka_unit_test(test_cache_rates),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_database),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, import_root_make, import_root_remove);
}
