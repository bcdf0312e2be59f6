/* SPDX-License-Identifier: Apache-2.0 */
/* Files of ROCm's profilers, built by the test: rocprofv3 as JSON, CSV and SQLite, rocprof v1. */
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
#include "tests/unit/import_text.h"

/* Agents before and after a CPU; a kernel, a collective, a copy to the host; calls after the kernels. */
#define JSON                                                                                       \
	"{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":42,\"command\":[\"python\"]},\n"        \
	"\"agents\":[{\"id\":{\"handle\":9},\"type\":1,\"name\":\"EPYC\"},\n"                      \
	"{\"id\":{\"handle\":10},\"type\":2,\"name\":\"gfx942\",\"product_name\":\"MI300X\"},\n"   \
	"{\"id\":{\"handle\":11},\"type\":2,\"name\":\"gfx942\",\"product_name\":\"MI300X\"}],\n"  \
	"\"strings\":{\"buffer_records\":[{\"kind\":\"NONE\",\"operations\":[]},\n"                \
	"{\"kind\":\"HIP\",\"operations\":[\"hipFree\",\"hipLaunchKernel\"]},\n"                   \
	"{\"kind\":\"COPY\",\"operations\":[\"COPY_NONE\",\"DEVICE_TO_HOST\"]}]},\n"               \
	"\"kernel_symbols\":[{\"kernel_id\":7,\"kernel_name\":\"_Z4gemm.kd\"},\n"                  \
	"{\"kernel_id\":8,\"kernel_name\":\"n\",\"formatted_kernel_name\":\"ncclDevKernel(x)\"}]," \
	"\n"                                                                                       \
	"\"buffer_records\":{\"kernel_dispatch\":[\n"                                              \
	"{\"thread_id\":43,\"correlation_id\":{\"internal\":5,\"external\":0},"                    \
	"\"start_timestamp\":1100,\"end_timestamp\":1200,\"dispatch_info\":{\"agent_id\":"         \
	"{\"handle\":11},\"queue_id\":{\"handle\":2},\"kernel_id\":7,\"workgroup_size\":{\"x\":1}" \
	"}},"                                                                                      \
	"\n{\"thread_id\":43,\"correlation_id\":{\"internal\":6},\"start_timestamp\":1150,"        \
	"\"end_timestamp\":1300,\"dispatch_info\":{\"agent_id\":{\"handle\":11},"                  \
	"\"queue_id\":{\"handle\":3},\"kernel_id\":8}},\n"                                         \
	"{\"start_timestamp\":0,\"end_timestamp\":7,\"dispatch_info\":{\"kernel_id\":7}}],\n"      \
	"\"memory_copy\":[{\"kind\":2,\"operation\":1,\"start_timestamp\":1400,"                   \
	"\"end_timestamp\":1450,\"src_agent_id\":{\"handle\":11},\"dst_agent_id\":{\"handle\":9}," \
	"\"bytes\":4096}],\n"                                                                      \
	"\"hip_api\":[{\"kind\":1,\"operation\":1,\"thread_id\":43,\"correlation_id\":"            \
	"{\"internal\":5},\"start_timestamp\":1000,\"end_timestamp\":1010}]}}]}\n"

static void test_json(void **state)
{
	struct model *model;
	int error;

	model = import_text("1_results.json", JSON, strlen(JSON), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	/* The second GPU; the CPU is not a device. */
	assert_int_equal(model->devices.row[0].id, 1);
	assert_string_equal(model_text(model, model->devices.row[0].name), "MI300X");
	assert_int_equal(model->devices.row[0].clock, PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME);
	assert_int_equal(model->tasks.count, 3);
	assert_string_equal(model_text(model, model->tasks.row[0].name), "_Z4gemm");
	assert_int_equal(model->tasks.row[0].stream, 2);
	assert_int_equal(model->tasks.row[0].enqueue_ns, 1000);
	assert_int_equal(model->tasks.row[1].kind, PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION);
	assert_int_equal(model->tasks.row[2].kind, PROFBPF__DEVICE_TASKS__KIND__COPY);
	assert_int_equal(model->tasks.row[2].bytes, 4096);
	assert_string_equal(model_text(model, model->tasks.row[2].name), "DEVICE_TO_HOST");
	assert_int_equal(model->calls.count, 1);
	assert_string_equal(model_text(model,
				       model->functions.row[model->calls.row[0].function].name),
			    "hipLaunchKernel");
	assert_int_equal(model->calls.row[0].task, 0);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	import_same("1_results.json", JSON, strlen(JSON), true);
}

#define KERNELS                                                                                \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Kernel_Name\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"                                              \
	"\"KERNEL_DISPATCH\",\"Agent 4\",1,43,\"void add<float>(float*, int)\",5,1100,1200\n"  \
	"\"KERNEL_DISPATCH\",\"Agent 4\",2,43,\"__amd_rocclr_copyBuffer\",6,1300,1350\n"

/* The agents' file and two tables beside the trace of kernels have lines that say by whom they are read; no damage. */
static void expect_listed(const struct model *model)
{
	uint32_t agents = 0, tables = 0;

	for (uint32_t i = 0; i < model->findings.count; i++) {
		const char *what = model_text(model, model->findings.row[i].what);

		agents += strstr(what, "files of settings, clocks or names") ? model->findings.row[i].count : 0;
		tables += strstr(what, "tables read with the trace of kernels") ? model->findings.row[i].count : 0;
	}
	assert_int_equal(agents, 1);
	assert_int_equal(tables, 2);
}

/* The tables of a run are found beside its kernels' table; so is the run in a directory. */
static void test_tables(void **state)
{
	char folder[] = "/tmp/test_import_rocm.XXXXXX", command[64], words[512];
	struct model *model = model_new();

	assert_non_null(mkdtemp(folder));
	import_write_text(folder, "42_kernel_trace.csv", KERNELS);
	import_write_text(
		folder, "42_agent_info.csv",
		"\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Name\",\"Product_Name\"\n"
		"0,0,\"CPU\",\"EPYC\",\"EPYC\"\n4,4,\"GPU\",\"gfx90a\",\"MI250X\"\n");
	import_write_text(
		folder, "42_memory_copy_trace.csv",
		"\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
		"\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		"\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",\"Agent 4\",\"Agent 0\",0,"
		"1400,1500\n");
	import_write_text(folder, "42_hip_api_trace.csv",
			  "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
			  "\"Start_Timestamp\",\"End_Timestamp\"\n"
			  "\"HIP_RUNTIME_API\",\"hipLaunchKernel\",42,43,5,1000,1010\n");
	assert_int_equal(import_device_file(model, folder, true, words, sizeof(words)), 0);
	assert_int_equal(import_finish(model, true), 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 0);
	assert_string_equal(model_text(model, model->devices.row[0].name), "MI250X");
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(model->calls.count, 1);
	assert_int_equal(model->processes.row[model->devices.row[0].process].pid, 42);
	expect_listed(model);
	assert_int_equal(model->findings.count, 2);
	model_free(model);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	import_same("x_kernel_trace.csv", KERNELS, strlen(KERNELS), true);
}

static void test_v1(void **state)
{
	static const char text[] =
		"Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,DispatchNs,BeginNs,EndNs,"
		"CompleteNs\n\n"
		"0,\"matrixTranspose(float*, float*, int) [clone .kd]\",1,0,0,2837,2838,900,1000,"
		"1100,1150\n";
	struct model *model;
	int error;

	model = import_text("results.csv", text, strlen(text), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->devices.row[0].id, 1);
	assert_int_equal(model->devices.row[0].clock, PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	assert_int_equal(model->tasks.row[0].end_ns - model->tasks.row[0].start_ns, 100);
	assert_int_equal(model->tasks.row[0].enqueue_ns, 900);
	assert_int_equal(model->threads.row[model->tasks.row[0].thread].tid, 2838);
	model_free(model);
	import_same("results.csv", text, strlen(text), true);
}

#define COMMON(guid)                                                                            \
	"CREATE TABLE \"rocpd_string" guid "\" (id INTEGER, string TEXT);"                      \
	"INSERT INTO \"rocpd_string" guid                                                       \
	"\" VALUES (1, 'hipLaunchKernel'), (2, 'COPY_TO_DEVICE'),"                              \
	"(3, 'my range');"                                                                      \
	"CREATE TABLE \"rocpd_event" guid "\" (id INTEGER, stack_id INTEGER);"                  \
	"INSERT INTO \"rocpd_event" guid "\" VALUES (1, 100), (2, 100), (3, 200);"              \
	"CREATE TABLE \"rocpd_info_process" guid "\" (id INTEGER, pid INTEGER);"                \
	"INSERT INTO \"rocpd_info_process" guid "\" VALUES (1, 42);"                            \
	"CREATE TABLE \"rocpd_info_thread" guid "\" (id INTEGER, tid INTEGER);"                 \
	"INSERT INTO \"rocpd_info_thread" guid "\" VALUES (1, 43);"                             \
	"CREATE TABLE \"rocpd_info_agent" guid "\" (id INTEGER, type TEXT, type_index INTEGER," \
	" name TEXT);"                                                                          \
	"INSERT INTO \"rocpd_info_agent" guid                                                   \
	"\" VALUES (1, 'CPU', 0, 'EPYC'), (2, 'GPU', 0, 'MI');"                                 \
	"CREATE TABLE \"rocpd_info_kernel_symbol" guid "\" (id INTEGER, display_name TEXT);"    \
	"INSERT INTO \"rocpd_info_kernel_symbol" guid "\" VALUES (1, 'vecAdd');"

#define RUN_3(guid)                                                                                \
	COMMON(guid)                                                                               \
	"CREATE TABLE \"rocpd_region" guid "\" (id, pid, tid, start, \"end\", name_id, event_id);" \
	"INSERT INTO \"rocpd_region" guid "\" VALUES (1, 1, 1, 1000, 1020, 1, 1),"                 \
	" (2, 1, 1, 900, 2000, 3, 3);"                                                             \
	"CREATE TABLE \"rocpd_kernel_dispatch" guid                                                \
	"\" (id, pid, tid, agent_id, kernel_id, queue_id,"                                         \
	" stream_id, start, \"end\", event_id);"                                                   \
	"INSERT INTO \"rocpd_kernel_dispatch" guid                                                 \
	"\" VALUES (1, 1, 1, 2, 1, 5, 0, 1100, 1200, 2);"                                          \
	"CREATE TABLE \"rocpd_memory_copy" guid "\" (id, pid, tid, start, \"end\", name_id, "      \
	"dst_agent_id, src_agent_id, size, queue_id, stream_id, event_id);"                        \
	"INSERT INTO \"rocpd_memory_copy" guid                                                     \
	"\" VALUES (1, 1, 1, 1300, 1400, 2, 2, 1, 64, NULL, "                                      \
	"NULL, 3);"

/* Since schema 4 instants and places are separate tables. */
#define RUN_4(guid)                                                                           \
	COMMON(guid)                                                                          \
	"CREATE TABLE \"rocpd_timestamp" guid "\" (id, value);"                               \
	"INSERT INTO \"rocpd_timestamp" guid                                                  \
	"\" VALUES (1, 1100), (2, 1200), (3, 1000), (4, 1020);"                               \
	"CREATE TABLE \"rocpd_track" guid "\" (id, pid, tid, agent_id, queue_id, stream_id);" \
	"INSERT INTO \"rocpd_track" guid "\" VALUES (1, 1, 1, 2, 5, 0), (2, 1, 1, 0, 0, 0);"  \
	"CREATE TABLE \"rocpd_region" guid                                                    \
	"\" (id, track_id, start_id, end_id, name_id, event_id);"                             \
	"INSERT INTO \"rocpd_region" guid "\" VALUES (1, 2, 3, 4, 1, 1);"                     \
	"CREATE TABLE \"rocpd_kernel_dispatch" guid                                           \
	"\" (id, track_id, kernel_id, start_id, end_id,"                                      \
	" event_id);"                                                                         \
	"INSERT INTO \"rocpd_kernel_dispatch" guid "\" VALUES (1, 1, 1, 1, 2, 2);"

static struct model *take_database(const char *statements)
{
	char folder[] = "/tmp/test_import_rocm.XXXXXX", path[64], words[512];
	struct model *model = model_new();
	char *error = NULL;
	sqlite3 *db;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/42_results.db", folder);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, statements, NULL, NULL, &error);
	assert_null(error);
	sqlite3_close(db);
	assert_int_equal(import_device_file(model, path, true, words, sizeof(words)), 0);
	assert_int_equal(import_finish(model, true), 0);
	unlink(path);
	rmdir(folder);
	return model;
}

static void check_kernel(const struct model *model, const struct device_task *task)
{
	assert_int_equal(task->start_ns, 1100);
	assert_int_equal(task->end_ns, 1200);
	assert_int_equal(task->stream, 5);
	assert_int_equal(task->enqueue_ns, 1000);
	assert_string_equal(model_text(model, task->name), "vecAdd");
	assert_int_equal(model->threads.row[task->thread].tid, 43);
}

static void test_database(void **state)
{
	struct model *model = take_database(RUN_3("_aa-1"));

	assert_int_equal(model->tasks.count, 2);
	/* A range of the program is not a call. */
	assert_int_equal(model->calls.count, 1);
	assert_int_equal(model->devices.count, 1);
	assert_string_equal(model_text(model, model->devices.row[0].name), "MI");
	check_kernel(model, &model->tasks.row[0]);
	assert_int_equal(model->tasks.row[1].kind, PROFBPF__DEVICE_TASKS__KIND__COPY);
	assert_int_equal(model->tasks.row[1].bytes, 64);
	assert_int_equal(model->findings.count, 0);
	model_free(model);
}

/* Two merged runs, of either schema; and a table name that would be an SQL statement. */
static void test_database_runs(void **state)
{
	struct model *model = take_database(RUN_3("_aa") RUN_4("_bb") "CREATE TABLE "
								      "\"rocpd_region_x y\" (id);");
	uint32_t kernels = 0;

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		if (model->tasks.row[i].kind != PROFBPF__DEVICE_TASKS__KIND__KERNEL)
			continue;
		check_kernel(model, &model->tasks.row[i]);
		kernels++;
	}
	assert_int_equal(kernels, 2);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
}

/* Each row a thousand times more with the same id: one row for each dispatch, not for each combination. */
#define AGAIN(table)                                            \
	"INSERT INTO \"" table "_aa\" SELECT a.* FROM \"" table \
	"_aa\" a, (WITH RECURSIVE n(i) AS "                     \
	"(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n);"

static void test_database_ids_repeat(void **state)
{
	struct model *model = take_database(
		RUN_3("_aa") AGAIN("rocpd_string") AGAIN("rocpd_event") AGAIN("rocpd_info_process")
			AGAIN("rocpd_info_thread") AGAIN("rocpd_info_kernel_symbol"));

	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->calls.count, 1);
	check_kernel(model, &model->tasks.row[0]);
	model_free(model);
}

/*
 * Checks the memory records: 4 KiB of a GPU and 512 bytes of the host are allocated, the former freed and its address
 * allocated again; scratch memory of a queue; frees of address 0 and of an earlier allocation. The caller has finished
 * @model.
 */
static void check_memory(const struct model *model, uint32_t findings)
{
	static const struct {
		uint64_t ns;
		int64_t bytes;
		uint32_t flags;
		const char *level;
	} EXPECTED[] = {
		{ 1100, 4096, MODEL_MEMORY_CHANGE, "REAL" },
		{ 1150, 512, MODEL_MEMORY_CHANGE | MODEL_MEMORY_HOST, "REAL" },
		{ 1180, 1000, MODEL_MEMORY_CHANGE, "SCRATCH" },
		{ 1200, -4096, MODEL_MEMORY_CHANGE, "REAL" },
		{ 1310, 64, MODEL_MEMORY_CHANGE, "VIRTUAL" },
		{ 1400, -1000, MODEL_MEMORY_CHANGE, "SCRATCH" },
	};
	const size_t count = sizeof(EXPECTED) / sizeof(EXPECTED[0]);

	assert_int_equal(model->memory_records.count, count);
	for (size_t i = 0; i < count; i++) {
		const struct memory_record *record = &model->memory_records.row[i];

		assert_int_equal(record->ts_ns, EXPECTED[i].ns);
		assert_int_equal(record->bytes, EXPECTED[i].bytes);
		assert_int_equal(record->flags, EXPECTED[i].flags);
		assert_string_equal(model_text(model, record->component), EXPECTED[i].level);
		assert_int_equal(record->device, 0);
	}
	assert_int_equal(model->findings.count, findings);
}

#define MEMORY_JSON                                                                               \
	"{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":42},\n"                                 \
	"\"agents\":[{\"id\":{\"handle\":9},\"type\":1,\"name\":\"EPYC\"},\n"                     \
	"{\"id\":{\"handle\":10},\"type\":2,\"name\":\"gfx942\"}],\n"                            \
	"\"strings\":{\"buffer_records\":[{\"kind\":\"MEMORY_ALLOCATION\",\"operations\":[\"NONE\"," \
	"\"MEMORY_ALLOCATION_ALLOCATE\",\"MEMORY_ALLOCATION_VMEM_ALLOCATE\","                       \
	"\"MEMORY_ALLOCATION_FREE\"]},{\"kind\":\"SCRATCH_MEMORY\",\"operations\":[\"NONE\","       \
	"\"SCRATCH_MEMORY_ALLOC\",\"SCRATCH_MEMORY_ASYNC_RECLAIM\"]}]},\n"                          \
	"\"buffer_records\":{\"memory_allocation\":[\n"                                             \
	GET(1, "1050", "1060", "\"0x3000\"", 10, 0)                                                     \
	GET(1, "1090", "1100", "\"0x1000\"", 10, 4096)                                                 \
	GET(1, "1140", "1150", "{\"handle\":8192}", 9, 512)                                        \
	GET(3, "1200", "1210", "\"0x1000\"", 0, 0) GET(2, "1300", "1310", "\"0x1000\"", 10, 64)            \
	GET(3, "1500", "1510", "\"0x0\"", 0, 0) "{\"kind\":0,\"operation\":3,\"start_timestamp\":1600," \
	"\"end_timestamp\":1610,\"address\":\"0x777\"}],\n"                                         \
	"\"scratch_memory\":[{\"kind\":1,\"operation\":2,\"start_timestamp\":1400,\"end_timestamp\":"  \
	"1410,\"agent_id\":{\"handle\":10},\"queue_id\":{\"handle\":4096}},\n"                       \
	"{\"kind\":1,\"operation\":1,\"start_timestamp\":1170,\"end_timestamp\":1180,"             \
	"\"agent_id\":{\"handle\":10},\"queue_id\":{\"handle\":4096},\"allocation_size\":1000}]}}]}\n"
#define GET(operation, start, end, address, agent, size)                                         \
	"{\"kind\":0,\"operation\":" #operation ",\"start_timestamp\":" start                      \
	",\"end_timestamp\":" end ",\"agent_id\":{\"handle\":" #agent "},\"address\":" address               \
	",\"allocation_size\":" #size "},\n"

static void test_memory_json(void **state)
{
	struct model *model;
	int error;

	model = import_text("1_results.json", MEMORY_JSON, strlen(MEMORY_JSON), &error);
	assert_int_equal(error, 0);
	/* No tasks; an allocation without a size; a free of memory allocated earlier. */
	check_memory(model, 3);
	model_free(model);
	import_same("1_results.json", MEMORY_JSON, strlen(MEMORY_JSON), true);
}

#define MEMORY_TABLE                                                                              \
	"\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"                                                  \
	"\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"0x0000000000001000\",7,1200,1210\n" \
	"\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 4\",4096,"                   \
	"\"0x0000000000001000\",5,1090,1100\n"                                                     \
	"\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 0\",512,"                    \
	"\"0x0000000000002000\",6,1140,1150\n"                                                     \
	"\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_VMEM_ALLOCATE\",\"Agent 4\",64,"                \
	"\"0x0000000000001000\",8,1300,1310\n"                                                     \
	"\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"0x0000000000000000\",9,1500,1510\n"

/*
 * Beside the kernels' table, and without it: then no file says which agent is the host. Scratch memory has no sizes
 * here.
 */
static void test_memory_tables(void **state)
{
	char folder[] = "/tmp/test_import_rocm.XXXXXX", command[64];
	struct memory_record record;
	struct model *model;
	int error;

	assert_non_null(mkdtemp(folder));
	import_write_text(folder, "42_kernel_trace.csv", KERNELS);
	import_write_text(folder, "42_agent_info.csv",
			  "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Name\"\n"
			  "0,0,\"CPU\",\"EPYC\"\n4,4,\"GPU\",\"gfx90a\"\n");
	import_write_text(folder, "42_memory_allocation_trace.csv", MEMORY_TABLE);
	import_write_text(folder, "42_scratch_memory_trace.csv",
			  "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_Flags\","
			  "\"Start_Timestamp\",\"End_Timestamp\"\n"
			  "\"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_ALLOC\",\"Agent 4\",7,43,0,1170,1180\n"
			  "\"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_FREE\",\"Agent 4\",7,43,0,1400,1410\n");
	model = import_take(folder);
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->memory_records.count, 4);
	record = model->memory_records.row[2];
	assert_int_equal(record.bytes, -4096);
	assert_int_equal(record.ts_ns, 1200);
	assert_int_equal(record.device, 0);
	assert_int_equal(model->processes.row[record.process].pid, 42);
	assert_int_equal(model->memory_records.row[1].flags, MODEL_MEMORY_CHANGE | MODEL_MEMORY_HOST);
	/* Scratch memory allocated and freed, without sizes, and the files beside the kernels'. */
	expect_listed(model);
	assert_int_equal(model->findings.count, 4);
	model_free(model);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	model = import_text("x_memory_allocation_trace.csv", MEMORY_TABLE, strlen(MEMORY_TABLE), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->memory_records.count, 4);
	assert_int_equal(model->memory_records.row[0].device, 4);
	model_free(model);
	import_same("x_memory_allocation_trace.csv", MEMORY_TABLE, strlen(MEMORY_TABLE), true);
}

/* A free has neither agent nor size; scratch memory belongs to a queue. */
static void test_memory_database(void **state)
{
	struct model *model = take_database(
		RUN_3("_aa") "CREATE TABLE \"rocpd_memory_allocate_aa\" (id, pid, tid, agent_id, type, level,"
			     " start, \"end\", address, size, queue_id, stream_id, event_id);"
			     "INSERT INTO \"rocpd_memory_allocate_aa\" VALUES"
			     " (1, 1, 1, NULL, 'FREE', 'REAL', 1200, 1210, 4096, 0, NULL, NULL, 1),"
			     " (2, 1, 1, 2, 'ALLOC', 'REAL', 1090, 1100, 4096, 4096, NULL, NULL, 1),"
			     " (3, 1, 1, 1, 'ALLOC', 'REAL', 1140, 1150, 8192, 512, NULL, NULL, 1),"
			     " (4, 1, 1, 2, 'ALLOC', 'VIRTUAL', 1300, 1310, 4096, 64, NULL, NULL, 1),"
			     " (5, 1, 1, 2, 'ALLOC', 'SCRATCH', 1170, 1180, NULL, 1000, 3, NULL, 1),"
			     " (6, 1, 1, 2, 'FREE', 'SCRATCH', 1400, 1410, NULL, 0, 3, NULL, 1),"
			     " (7, 1, 1, 2, 'REALLOC', 'REAL', 1500, 1510, 4096, 9, NULL, NULL, 1),"
			     " (8, 1, 1, NULL, 'FREE', 'REAL', 1250, 1260, 4096, 0, NULL, NULL, 1);");

	/* A REALLOC does not say what happens to the old memory; a double free. */
	check_memory(model, 2);
	model_free(model);
}

/* Three counters of two kernels, out of order, one value not a number: two tasks. */
static void test_counters(void **state)
{
	static const char text[] =
		"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
		"\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		"2,2,\"Agent 4\",1,42,43,\"add\",\"SQ_WAVES\",nan,900,1000\n"
		"1,1,\"Agent 4\",1,42,43,\"gemm\",\"SQ_WAVES\",16.0,1000,1100\n"
		"1,1,\"Agent 4\",1,42,43,\"gemm\",\"GRBM_COUNT\",250.5,1000,1100\n";
	const struct task_detail *detail;
	struct model *model;
	float sum = 0;
	int error;

	model = import_text("42_counter_collection.csv", text, strlen(text), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 2);
	assert_string_equal(model_text(model, model->tasks.row[1].name), "gemm");
	detail = model_task_detail(model, &model->tasks.row[1]);
	assert_non_null(detail);
	assert_int_equal(detail->metric_count, 2);
	for (uint32_t i = 0; i < 2; i++)
		sum += model->task_metrics.row[detail->first_metric + i].value;
	assert_true(sum == 266.5f);
	assert_null(model_task_detail(model, &model->tasks.row[0]));
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	import_same("42_counter_collection.csv", text, strlen(text), true);
}

/* rocprofv2, and timestamps.csv of rocprofiler-compute. */
static void test_v2(void **state)
{
	static const char text[] =
		"Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"
		"Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,"
		"Start_Timestamp,End_Timestamp,Correlation_ID\n"
		"0,3,1,2837,2838,1048576,256,0,0,8,0,16,64,\"vecCopy(double*, int) [clone .kd]\","
		"1000,1100,0\n"
		"1,3,1,2837,2838,1048576,256,0,0,8,0,16,64,\"vecCopy(double*, int) [clone .kd]\","
		"1200,1250,1\n";
	struct model *model;
	int error;

	model = import_text("timestamps.csv", text, strlen(text), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->devices.row[0].id, 3);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 150);
	assert_int_equal(model->processes.row[model->devices.row[0].process].pid, 2837);
	model_free(model);
	import_same("timestamps.csv", text, strlen(text), true);
}

/*
 * pmc_perf.csv of ROCm's Compute Profiler: one row per counter; means of runs; and a version that a spreadsheet
 * program rewrote.
 */
static void test_compute_profiler(void **state)
{
	struct model *model = import_words(
		"pmc_perf.csv",
		"GPU_ID,Dispatch_ID,Grid_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,Counter_Value\n"
		"2,1,64,\"copy(int, int)\",13386742234691895,13386742234700548,12,SQ_WAVES,0.5\n"
		"2,1,64,\"copy(int, int)\",13386742234691895,13386742234700548,12,SQ_CYCLES,7\n"
		"2,1,64,\"copy(int, int)\",13386742234800000,13386742234800100,12,SQ_BUSY,1\n");

	(void)state;
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 8653 + 100);
	assert_int_equal(model_task_detail(model, &model->tasks.row[0])->metric_count, 2);
	assert_int_equal(model_task_detail(model, &model->tasks.row[1])->metric_count, 1);
	model_free(model);
	model = import_words("pmc_perf.csv",
			     "Dispatch_ID,GPU_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n"
			     "0,0,copy,1248227792617386.5,1248227792639148.2\n"
			     "1,0,copy,8.1097E+14,8.1097E+14\n");
	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 21761);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_v1),
		cmocka_unit_test(test_database),
		cmocka_unit_test(test_database_runs),
		cmocka_unit_test(test_database_ids_repeat),
		cmocka_unit_test(test_memory_json),
		cmocka_unit_test(test_memory_tables),
		cmocka_unit_test(test_memory_database),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_v2),
		cmocka_unit_test(test_compute_profiler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
