/* SPDX-License-Identifier: Apache-2.0 */
/* Files of Ascend's profilers, built by the test: database, timeline, tables, directories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/analyse/device/devices.h"
#include "analyzer/import/importer.h"
#include "analyzer/join/clock/device_clock.h"
#include "analyzer/join/launch/launches.h"
#include "tests/unit/import_text.h"

#define EPOCH "17000000000000"

static char folder[64];

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/test_import_ascend.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void write_text(const char *name, const char *text)
{
	import_write_text(folder, name, text);
}

static struct model *take(const char *name, int *error)
{
	struct model *model = model_new();
	char path[256], words[1024] = "";

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	*error = import_device_file(model, path, true, words, sizeof(words));
	assert_int_equal(import_finish(model, true), 0);
	return model;
}

/* Returns the usage of the first device; the caller frees it with devices_free(). */
static struct device_usage *usage_of(struct model *model, struct launch_join *launches)
{
	static const struct analysis_options everything;
	struct device_clock clocks[8];
	struct device_usage *usage;

	assert_true(model->devices.count > 0 && model->devices.count <= 8);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(launches_join(model, launches), 0);
	assert_int_equal(devices_analyse(model, &everything, &usage), 0);
	return usage;
}

static void make_database(const char *name)
{
	static const char statements[] =
		"CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"
		"INSERT INTO STRING_IDS VALUES (1, 'MatMul_1'), (2, 'KERNEL_AICORE'),"
		" (3, 'launch'), (4, 'aclnnMatmul'), (5, 'EVENT_RECORD'), (6, 'hcom_allReduce__1'),"
		" (7, 'MEMCPY_ASYNC'), (8, 'NOTIFY_WAIT'), (9, 'SDMA'), (20, 'MatMulV3'),"
		" (21, 'MIX_AIC'), (22, 'FLOAT16;FLOAT16');"
		"CREATE TABLE NPU_INFO (id, name); INSERT INTO NPU_INFO VALUES (0, 'Ascend910B4');"
		/* An acl call with the node's call nested in it, on one thread: one launch. */
		"CREATE TABLE CANN_API (startNs, endNs, type, globalTid, connectionId, name);"
		"INSERT INTO CANN_API VALUES"
		" (" EPOCH "100, " EPOCH "190, 20000, (42 << 32) | 43, 7, 4),"
		" (" EPOCH "120, " EPOCH "180, 10000, (42 << 32) | 43, 7, 3);"
		"CREATE TABLE COMPUTE_TASK_INFO (name, globalTaskId, opType, taskType, blockNum,"
		" inputDataTypes);"
		"INSERT INTO COMPUTE_TASK_INFO VALUES (1, 11, 20, 21, 24, 22);"
		"CREATE TABLE COMMUNICATION_OP (opName, startNs, endNs, connectionId, deviceId, "
		"opId);"
		"INSERT INTO COMMUNICATION_OP VALUES (6, " EPOCH "250, " EPOCH "400, 9, 0, 500);"
		"CREATE TABLE ENUM_HCCL_LINK_TYPE (id, name);"
		"INSERT INTO ENUM_HCCL_LINK_TYPE VALUES (0, 'ON_CHIP'), (1, 'HCCS');"
		"CREATE TABLE COMMUNICATION_TASK_INFO (name, globalTaskId, taskType, opId, size,"
		" srcRank, dstRank, linkType, planeId);"
		"INSERT INTO COMMUNICATION_TASK_INFO VALUES (6, 13, 8, 500, 0, 1, 0, 1, 0),"
		" (6, 14, 7, 500, 4096, 0, 1, 1, 0);"
		"CREATE TABLE STEP_TIME (id INTEGER, startNs, endNs);"
		"INSERT INTO STEP_TIME VALUES (4, " EPOCH "100, " EPOCH "700);"
		"CREATE TABLE MEMORY_RECORD (component, timestamp TEXT, totalAllocated,"
		" totalReserved, deviceId);"
		"INSERT INTO MEMORY_RECORD VALUES (6, '" EPOCH "150', 4096, 8192, 0),"
		" (6, '" EPOCH "160', NULL, 8192, 0);"
		"CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, taskType,"
		" streamId);"
		"INSERT INTO TASK VALUES (" EPOCH "200, " EPOCH "300, 0, 7, 11, 2, 2),"
		" (" EPOCH "300, " EPOCH "900, 0, 4294967295, 12, 5, 2),"
		" (" EPOCH "250, " EPOCH "320, 0, 9, 13, 8, 3),"
		" (" EPOCH "320, " EPOCH "400, 0, 9, 14, 9, 3),"
		" (" EPOCH "500, " EPOCH "600, 0, 4294967295, 15, 7, 2);";
	char path[256];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* If a trace is given, times are the raw ones that msprof converted, if the file states the conversion. */
static void check_anchor(const char *name, uint8_t clock, uint64_t start_ns)
{
	struct model *model = model_new();
	char path[256], words[1024] = "";

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(import_device_file(model, path, false, words, sizeof(words)), 0);
	assert_int_equal(import_finish(model, false), 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].clock, clock);
	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->tasks.row[0].start_ns, start_ns);
	assert_int_equal(model->tasks.row[0].end_ns, start_ns + 50);
	model_free(model);
}

static void test_database_anchor(void **state)
{
	static const char statements[] =
		"CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"
		"INSERT INTO STRING_IDS VALUES (2, 'KERNEL_AICORE');"
		"CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, taskType,"
		" streamId);"
		"INSERT INTO TASK VALUES (1692340024324979100, 1692340024324979150, 0, 7, 11, 2, "
		"2)";
	char path[256];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/msprof_anchor.db", folder);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	check_anchor("msprof_anchor.db", PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME,
		     1692340024324979100);
	snprintf(path, sizeof(path), "%s/host", folder);
	assert_int_equal(mkdir(path, 0755), 0);
	write_text("host/start_info", "{\"collectionTimeBegin\":\"1692340024324979\","
				      "\"clockMonotonicRaw\":\"56579931060630\"}");
	check_anchor("msprof_anchor.db", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW,
		     56579931060730);
	snprintf(path, sizeof(path), "%s/host/start_info", folder);
	unlink(path);
}

static void test_database(void **state)
{
	const struct task_detail *detail;
	const struct device_task *task;
	struct launch_join launches;
	struct device_usage *usage;
	struct model *model;
	int error;

	make_database("msprof_1.db");
	model = take("msprof_1.db", &error);
	assert_int_equal(error, 0);
	usage = usage_of(model, &launches);
	assert_string_equal(model_text(model, model->devices.row[0].name), "Ascend910B4");
	assert_int_equal(usage->tasks, 6);
	assert_int_equal(usage->compute_ns, 100);
	task = &model->tasks.row[0];
	assert_string_equal(model_text(model, task->type), "MatMulV3");
	assert_string_equal(model_text(model, task->core), "MIX_AIC");
	detail = &model->task_details.row[task->detail - 1];
	assert_string_equal(model_text(model, detail->input_types), "FLOAT16;FLOAT16");
	assert_int_equal(detail->blocks, 24);
	assert_int_equal(detail->mix_blocks, INDEX_NONE);
	assert_int_equal(model->communication_times.count, 1);
	assert_int_equal(model->communication_times.row[0].elapsed_ns, 150);
	assert_int_equal(model->communication_times.row[0].wait_ns, 70);
	assert_int_equal(model->communication_times.row[0].synchronization_ns, 70);
	assert_int_equal(model->communication_times.row[0].transit_ns, 80);
	assert_int_equal(model->communication_times.row[0].idle_ns, 0);
	assert_int_equal(model->step_marks.count, 1);
	assert_int_equal(model->step_marks.row[0].number, 4);
	assert_int_equal(model->step_marks.row[0].device, 0);
	assert_int_equal(model->memory_records.count, 2);
	assert_int_equal(model->memory_records.row[0].allocated, 4096);
	assert_int_equal(model->memory_records.row[1].flags, MODEL_MEMORY_RESERVED);
	assert_int_equal(model->link_uses.count, 2);
	assert_true(model->link_uses.row[0].wait);
	assert_int_equal(model->link_uses.row[0].source, 1);
	assert_int_equal(model->link_uses.row[1].bytes, 4096);
	assert_string_equal(model_text(model, model->link_uses.row[1].transport), "HCCS");
	/* The operation without its parts. */
	assert_int_equal(usage->communication_ns, 150);
	assert_int_equal(usage->communication_not_overlapped_ns, 100);
	assert_int_equal(usage->copy_ns, 100);
	/* An event record is not work, however long it is. */
	assert_int_equal(usage->busy_ns, 300);
	assert_int_equal(usage->window_ns, 400);
	assert_int_equal(launches.launches, 1);
	assert_int_equal(launches.by_correlation, 1);
	devices_free(usage, model->devices.count);
	model_free(model);
}

/* 33 and 8 columns, tabs after times, quotes, newlines in fields, CRLF, N/A. */
static void test_tables(void **state)
{
	const struct task_detail *detail;
	struct launch_join launches;
	struct device_usage *usage;
	struct model *model;
	int error;

	write_text(
		"kernel_details.csv",
		"Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
		"Stream ID,Input Shapes\r\n"
		"1,3,MatMul_1,MatMulV2,AI_CORE,\"1736413971558972.912\t\",185.504,2,"
		"\"\"\"8,2048;\n1,5\"\"\"\r\n"
		"1,3,hcom_allReduce__1,hcom_allReduce_,HCCL,1736413971559000.000\t,1.5,N/A,N/A\r\n"
		"1,3,bad,Cast,AI_CORE,N/A,1,2,N/A\r\n"
		"1,3,N/A,N/A,N/A,1736413971560000.5,0.25,2,N/A");
	model = take("kernel_details.csv", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.row[0].id, 3);
	usage = usage_of(model, &launches);
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(model->tasks.row[0].start_ns, 1736413971558972912);
	assert_int_equal(model->tasks.row[0].end_ns - model->tasks.row[0].start_ns, 185504);
	assert_int_equal(model->tasks.row[0].stream, 2);
	assert_string_equal(model_text(model, model->tasks.row[0].type), "MatMulV2");
	assert_string_equal(model_text(model, model->tasks.row[0].core), "AI_CORE");
	detail = &model->task_details.row[model->tasks.row[0].detail - 1];
	assert_string_equal(model_text(model, detail->input_shapes), "\"8,2048;\n1,5\"");
	assert_int_equal(detail->step, 1);
	assert_int_equal(detail->task_id, MODEL_ID_NONE);
	assert_int_equal(detail->blocks, INDEX_NONE);
	assert_int_equal(model->tasks.row[2].type, 0);
	assert_int_equal(usage->compute_ns, 185504 + 250);
	assert_int_equal(usage->communication_ns, 1500);
	assert_int_equal(model->findings.count, 1);
	devices_free(usage, 1);
	model_free(model);
	write_text(
		"task_time_1.csv",
		"Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
		"task_stop(us)\n0,te_cast,KERNEL_AIVEC,5,1,2.000,\"56635864664.91\t\",56635864666."
		"91\n");
	model = take("task_time_1.csv", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.row[0].start_ns, 56635864664910);
	/* Times are not since 1970: the clock is CLOCK_MONOTONIC_RAW. */
	assert_int_equal(model->devices.row[0].clock, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW);
	model_free(model);
}

#define TIMELINE                                                                                   \
	"[{\"name\":\"process_name\",\"pid\":800,\"tid\":0,\"ph\":\"M\","                          \
	"\"args\":{\"name\":\"Ascend Hardware\"}},"                                                \
	"{\"name\":\"process_name\",\"pid\":4202,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":"       \
	"\"CANN\"}},"                                                                              \
	"{\"name\":\"process_name\",\"pid\":900,\"tid\":0,\"ph\":\"M\","                           \
	"\"args\":{\"name\":\"Overlap Analysis\"}},"                                               \
	"{\"name\":\"process_name\",\"pid\":850,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":"        \
	"\"HCCL\"}},"                                                                              \
	"{\"name\":\"MatMul\",\"pid\":800,\"tid\":2,\"ts\":\"1704161511422904.204\",\"dur\":1.35," \
	"\"args\":{\"Task Type\":\"AI_CORE\",\"connection_id\":8},\"ph\":\"X\"},"                  \
	"{\"name\":\"Computing\",\"pid\":900,\"tid\":2,\"ts\":\"1704161511422904.204\",\"dur\":1." \
	"35,"                                                                                      \
	"\"ph\":\"X\"},"                                                                           \
	"{\"name\":\"hcom_broadcast_1\",\"pid\":850,\"tid\":1,\"ts\":1704161511422910,\"dur\":4,"  \
	"\"args\":{\"connection_id\":9},\"ph\":\"X\"},"                                            \
	"{\"name\":\"Memcpy\",\"pid\":850,\"tid\":3,\"ts\":1704161511422910,\"dur\":4,\"ph\":"     \
	"\"X\"},"                                                                                  \
	"{\"name\":\"Memcpy\",\"pid\":800,\"tid\":3,\"ts\":1704161511422910,\"dur\":4,\"ph\":"     \
	"\"X\","                                                                                   \
	"\"args\":{\"Task Type\":\"SDMA\",\"connection_id\":9}},"                                  \
	"{\"name\":\"Node@launch\",\"pid\":4202,\"tid\":43,\"ts\":\"1704161511422890.0\",\"dur\":" \
	"9,"                                                                                       \
	"\"ph\":\"X\"},"                                                                           \
	"{\"ph\":\"s\",\"cat\":\"HostToDevice\",\"id\":\"38654705663\",\"pid\":4202,\"tid\":43,"   \
	"\"ts\":\"1704161511422898.906\",\"name\":\"x\"}]"

static void test_timeline(void **state)
{
	struct launch_join launches;
	struct device_usage *usage;
	struct model *model;
	int error;

	write_text("trace_view.json", TIMELINE);
	model = take("trace_view.json", &error);
	assert_int_equal(error, 0);
	usage = usage_of(model, &launches);
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(usage->compute_ns, 1350);
	assert_int_equal(usage->communication_ns, 4000);
	assert_int_equal(usage->copy_ns, 0);
	assert_int_equal(launches.launches, 1);
	assert_int_equal(launches.by_enqueue, 1);
	assert_int_equal(model->processes.row[0].pid, 42);
	devices_free(usage, model->devices.count);
	model_free(model);
}

/* The database takes precedence over the table beside it; two ranks are two devices. */
static void test_directories(void **state)
{
	struct model *model;
	char path[256];
	int error;

	for (int rank = 0; rank < 2; rank++) {
		char name[512];

		snprintf(path, sizeof(path), "%s/job/rank%d_ascend_pt/ASCEND_PROFILER_OUTPUT",
			 folder, rank);
		snprintf(name, sizeof(name), "mkdir -p %s", path);
		assert_int_equal(system(name), 0);
		snprintf(name, sizeof(name),
			 "job/rank%d_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db",
			 rank);
		make_database(name);
		snprintf(name, sizeof(name),
			 "job/rank%d_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", rank);
		write_text(name, "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n");
	}
	model = take("job", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 2);
	assert_int_equal(model->tasks.count, 12);
	model_free(model);
	snprintf(path, sizeof(path), "%s/PROF_000001_2023", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/PROF_000001_2023/device_0", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	model = take("PROF_000001_2023", &error);
	assert_true(error < 0);
	model_free(model);
}

/* Counters of the cores, under any names that the table has. */
static void test_counters(void **state)
{
	const struct task_detail *detail;
	const struct task_metric *metric;
	struct model *model;
	int error;

	write_text(
		"op_summary_1.csv",
		"Device_id,Op Name,Task Type,Task Start Time(us),Task Duration(us),"
		"Input Shapes,aicore_time(us),aic_mac_ratio,Context ID,aic_cube_fops,"
		"aiv_vector_fops,cube_utilization(%)\n"
		"0,MatMul,AI_CORE,1700000000000010.5\t,5,\"\"\"8,16;16,4\"\"\",4.5,0.875,N/A,1024,"
		"32,90.25\n"
		"0,Cast,AI_VECTOR_CORE,1700000000000020.5\t,5,N/A,N/A,N/A,N/A,N/A,N/A,\n");
	model = take("op_summary_1.csv", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 2);
	detail = model_task_detail(model, &model->tasks.row[0]);
	assert_int_equal(detail->known, MODEL_DETAIL_FLOPS);
	assert_true(detail->flops == 1056);
	assert_int_equal(detail->metric_count, 5);
	metric = &model->task_metrics.row[detail->first_metric];
	assert_string_equal(model_text(model, metric[1].name), "aic_mac_ratio");
	assert_true(metric[1].value == 0.875);
	assert_string_equal(model_text(model, metric[4].name), "cube_utilization(%)");
	assert_true(metric[4].value == 90.25);
	detail = model_task_detail(model, &model->tasks.row[1]);
	assert_int_equal(detail->known, 0);
	assert_int_equal(detail->metric_count, 0);
	model_free(model);
}

/* Steps beside the tasks of the same device; MindSpore's table with its row of means. */
static void test_step_traces(void **state)
{
	const struct device_step *step;
	struct model *model;
	char path[256];
	int error;

	snprintf(path, sizeof(path), "%s/PROF_1", folder);
	assert_int_equal(mkdir(path, 0755), 0);
	write_text("PROF_1/op_summary_20240101.csv",
		   "Device_id,Op Name,Task Type,Task Start Time(us),Task Duration(us)\n"
		   "2,MatMul,AI_CORE,1700000000000010.5\t,5\n");
	write_text("PROF_1/step_trace_20240101.csv",
		   "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),"
		   "Iteration Time(us),Model ID,Reduce Start(us),Reduce Duration(us)\n"
		   "2,1,1700000000000010.5,1700000000000020.25\t,1700000000000030,20,4,1,2\n"
		   "2,2,N/A,N/A,1700000000000050,20,4294967295,N/A,N/A\n"
		   "2,3,1700000000000060,N/A,1700000000000070,20,4294967295,N/A,N/A\n");
	write_text("PROF_1/step_trace_time.csv", "Device_id,Step,Computing\n2,1,5\n");
	model = take("PROF_1", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->device_steps.count, 2);
	step = &model->device_steps.row[0];
	assert_int_equal(step->device, 0);
	assert_int_equal(step->number, 1);
	assert_int_equal(step->model_id, 4);
	assert_int_equal(step->fp_start_ns, 1700000000000010500);
	assert_int_equal(step->bp_end_ns, 1700000000000020250);
	assert_int_equal(step->end_ns, 1700000000000030000);
	assert_int_equal(step[1].number, 3);
	assert_int_equal(step[1].bp_end_ns, 0);
	assert_int_equal(step[1].model_id, MODEL_ID_NONE);
	model_free(model);
	write_text("step_trace_raw_5_detail_time.csv",
		   "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,"
		   "fp_and_bp,tail\n"
		   "1,1000,1900,900,1000,1800,0,800,100\n"
		   "2,1900,3000,1100,2000,2900,100,900,100\n"
		   "-,1900,3000,1100,2000,2900,100,900,100\n");
	model = take("step_trace_raw_5_detail_time.csv", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.row[0].id, 5);
	assert_int_equal(model->device_steps.count, 2);
	assert_int_equal(model->device_steps.row[1].bp_end_ns, 29000);
	model_free(model);
}

static void test_communication(void **state)
{
	const struct communication_time *time;
	const struct link_use *use;
	struct model *model;
	int error;

	write_text("communication.json",
		   "{\"step1\": {\"p2p\": {}, \"collective\": {\"hcom_allReduce__971_0_1@971\": {"
		   "\"Communication Time Info\": {\"Start Timestamp(us)\": 1700000000000000.5,"
		   "\"Elapse Time(ms)\": 1.25, \"Transit Time(ms)\": 0.25, \"Wait Time(ms)\": 1,"
		   "\"Synchronization Time(ms)\": 0.5},"
		   "\"Communication Bandwidth Info\": {\"HCCS\": {\"Transit Size(MB)\": 3.5,"
		   "\"Size Distribution\": {\"0.5\": [7, 0.25]}}}},"
		   "\"Total Op Info\": {\"Communication Time Info\": {\"Elapse Time(ms)\": 9}}}}}");
	model = take("communication.json", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->communication_times.count, 1);
	time = &model->communication_times.row[0];
	assert_string_equal(model_text(model, time->operation), "hcom_allReduce__971_0_1");
	assert_int_equal(time->elapsed_ns, 1250000);
	assert_int_equal(time->transit_ns, 250000);
	assert_int_equal(time->wait_ns, 1000000);
	assert_int_equal(time->synchronization_ns, 500000);
	assert_true(time->idle_ns == UINT64_MAX);
	assert_int_equal(model->link_uses.count, 0);
	model_free(model);
	write_text("communication_matrix.json",
		   "{\"step1\": {\"collective\": {\"allreduce-top1@971\": {\"0-1\": {"
		   "\"Transport Type\": \"HCCS\", \"Transit Size(MB)\": 1, "
		   "\"Transit Time(ms)\": 1}}, \"allreduce-total@971\": {\"0-1\": {"
		   "\"Transport Type\": \"HCCS\", \"Transit Size(MB)\": 2.5, "
		   "\"Transit Time(ms)\": 0.125, \"Bandwidth(GB/s)\": 20}, \"0-2\": {"
		   "\"Transport Type\": \"RDMA\", \"Transit Size(MB)\": 1, "
		   "\"Transit Time(ms)\": 1}}}}}");
	model = take("communication_matrix.json", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->link_uses.count, 2);
	use = &model->link_uses.row[0];
	assert_int_equal(use->source, 0);
	assert_int_equal(use->destination, 1);
	assert_int_equal(use->bytes, 2500000);
	assert_int_equal(use->ns, 125000);
	assert_string_equal(model_text(model, use->transport), "HCCS");
	assert_string_equal(model_text(model, use[1].transport), "RDMA");
	model_free(model);
}

/* One iteration of a device in an export of 2023: @at is the begin of its microseconds. */
#define ITERATION(number, at)                                                                      \
	"[{\"name\":\"process_name\",\"pid\":3,\"tid\":0,\"args\":{\"name\":\"Ascend Hardware\"}," \
	"\"ph\":\"M\"},{\"name\":\"thread_name\",\"pid\":3,\"tid\":10036,\"args\":{\"name\":"      \
	"\"Step Trace(Model ID:2)\"},\"ph\":\"M\"},"                                               \
	"{\"name\":\"process_name\",\"pid\":1003611,\"tid\":0,\"args\":{\"name\":\"HCCL\"},"       \
	"\"ph\":"                                                                                  \
	"\"M\"},{\"name\":\"thread_name\",\"pid\":1003611,\"tid\":70000,\"args\":{\"name\":"       \
	"\"Communication Kernel\"},\"ph\":\"M\"},"                                                 \
	"{\"name\":\"Iteration\",\"pid\":3,\"tid\":10036,\"ts\":" at "00.5,\"dur\":90,\"args\":{"  \
	"\"Iteration ID\":" number ",\"FP Start\":" at "02.5,\"BP End\":" at "40,"                 \
	"\"Iteration End\":" at "90.5},\"cat\":\"Iteration Time\",\"ph\":\"X\"},"                  \
	"{\"name\":\"Reduce\",\"pid\":3,\"tid\":10036,\"ts\":" at "50,\"dur\":20,\"args\":{"       \
	"\"Iteration ID\":" number "},\"cat\":\"Reduce\",\"ph\":\"X\"},"                           \
	"{\"name\":\"Default/Cast-op1\",\"pid\":3,\"tid\":2,\"ts\":" at "03.25,\"dur\":10.125,"    \
	"\"args\":{\"Task Type\":\"AI_CORE\",\"Stream Id\":2,\"Task Id\":4},\"ph\":\"X\"},"        \
	"{\"name\":\"MEMCPY_ASYNC\",\"pid\":3,\"tid\":12,\"ts\":" at "50,\"dur\":20,\"args\":"     \
	"{\"Task Type\":\"MEMCPY_ASYNC\",\"Stream Id\":12,\"Task Id\":5},\"ph\":\"X\"},"           \
	"{\"name\":\"Memcpy\",\"pid\":1003611,\"tid\":1,\"ts\":" at "50,\"dur\":20,\"args\":"      \
	"{\"stream id\":12,\"task id\":5},\"ph\":\"X\"},"                                          \
	"{\"name\":\"Default/AllReduce-op5_0\",\"pid\":1003611,\"tid\":70000,\"ts\":" at "50,"     \
	"\"dur\":20,\"ph\":\"X\"}]"

/* One file per iteration, all of one device; steps are no tasks. */
static void test_iterations(void **state)
{
	struct launch_join launches;
	struct device_usage *usage;
	struct model *model;
	char command[256];
	int error;

	snprintf(command, sizeof(command), "mkdir -p %s/PROF_1_2023/device_3/timeline", folder);
	assert_int_equal(system(command), 0);
	write_text("PROF_1_2023/device_3/timeline/msprof_3_2_1.json", ITERATION("1", "566358640"));
	write_text("PROF_1_2023/device_3/timeline/msprof_3_2_2.json", ITERATION("2", "566358650"));
	/* The same tasks again. */
	write_text("PROF_1_2023/device_3/timeline/task_time_3_2_1.json",
		   ITERATION("1", "566358640"));
	model = take("PROF_1_2023", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 3);
	assert_int_equal(model->devices.row[0].clock, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW);
	usage = usage_of(model, &launches);
	assert_int_equal(usage->tasks, 6);
	assert_int_equal(usage->compute_ns, 2 * 10125);
	assert_int_equal(usage->communication_ns, 2 * 20000);
	assert_int_equal(usage->copy_ns, 0);
	assert_int_equal(model->device_steps.count, 2);
	assert_int_equal(model->device_steps.row[1].number, 2);
	assert_int_equal(model->device_steps.row[1].model_id, 2);
	assert_int_equal(model->device_steps.row[1].fp_start_ns, 56635865002500);
	assert_int_equal(model->device_steps.row[1].bp_end_ns, 56635865040000);
	assert_int_equal(model->device_steps.row[1].end_ns, 56635865090500);
	assert_int_equal(model->device_steps.row[1].reduce_count, 1);
	assert_int_equal(model->device_reduces.row[1].start_ns, 56635865050000);
	devices_free(usage, 1);
	model_free(model);
}

static void test_memory(void **state)
{
	const struct memory_record *record;
	struct model *model;
	int error;

	write_text("memory_record.csv",
		   "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),"
		   "Total Active(MB),Stream Ptr,Device Type\n"
		   "PTA,1700000000000000.250\t,1.5,2.0,1,187,NPU:3\n"
		   "APP,1700000000000001,N/A,0.001,N/A,N/A,NPU:3\n"
		   "PTA,N/A,1,1,1,1,NPU:3\n");
	model = take("memory_record.csv", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->memory_records.count, 2);
	record = &model->memory_records.row[0];
	assert_int_equal(record->ts_ns, 1700000000000000250);
	assert_int_equal(record->allocated, 3 << 19);
	assert_int_equal(record->reserved, 2 << 20);
	assert_int_equal(record->device, 3);
	assert_string_equal(model_text(model, record->component), "PTA");
	assert_int_equal(record[1].flags, MODEL_MEMORY_RESERVED);
	assert_int_equal(record[1].reserved, 1049);
	model_free(model);
	write_text("operator_memory.csv",
		   "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Device Type\n"
		   "aten::empty,2.5,1700000000000000,1700000000000010,10.5,NPU:0\n"
		   "aten::empty,1,1700000000000005,N/A,N/A,NPU:0\n");
	model = take("operator_memory.csv", &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->memory_records.count, 3);
	record = &model->memory_records.row[0];
	assert_int_equal(record->bytes, 2560);
	assert_int_equal(record[1].bytes, -2560);
	assert_int_equal(record[1].ts_ns, 1700000000000010500);
	assert_int_equal(record[2].bytes, 1024);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_database),      cmocka_unit_test(test_database_anchor),
		cmocka_unit_test(test_tables),	      cmocka_unit_test(test_timeline),
		cmocka_unit_test(test_directories),   cmocka_unit_test(test_iterations),
		cmocka_unit_test(test_step_traces),   cmocka_unit_test(test_counters),
		cmocka_unit_test(test_communication), cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
