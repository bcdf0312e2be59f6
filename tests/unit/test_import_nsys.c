/* SPDX-License-Identifier: Apache-2.0 */
/* Nsight Systems databases of several schemas, built by the test. */
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
#include "analyzer/join/clock/device_clock.h"
#include "analyzer/join/launch/launches.h"
#include "analyzer/join/thread/timelines.h"

#define PID 42
#define GLOBAL(tid) "((42 << 24) | " #tid ")"
#define EPOCH 1700000000000000000

/* The tables that every schema has. */
#define NAMES                                                                      \
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"             \
	"INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'gemm')," \
	" (3, 'cuMemcpyHtoD_v2'), (4, 'poll'), (5, 'trainer');"                    \
	"CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"        \
	"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"

#define CALLS                                                                             \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId," \
	" nameId, returnValue);"                                                          \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"                                  \
	" (1000, 1500, " GLOBAL(43) ", 7, 1, 0), (3000, 3900, " GLOBAL(43) ", 8, 3, 700);"

#define KERNELS                                                                    \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId," \
	" correlationId, globalPid, demangledName);"                               \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"                            \
	" (2000, 2500, 0, 13, 7, " GLOBAL(0) ", 2), (2600, 2500, 0, 13, 9, 0, 2);"

#define COPIES                                                                     \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId," \
	" correlationId, globalPid, bytes);"                                       \
	"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"                            \
	" (3500, 3800, 0, 14, 8, " GLOBAL(0) ", 4096);"

#define SCHEDULE                                                                                \
	"CREATE TABLE SCHED_EVENTS (start, cpu, isSchedIn, globalTid, threadState);"            \
	"INSERT INTO SCHED_EVENTS VALUES (900, 3, 1, " GLOBAL(                                  \
		43) ", 0),"                                                                     \
		    " (1600, 3, 0, " GLOBAL(43) ", 0), (2900, 3, 1, " GLOBAL(                   \
			    43) ", 0),"                                                         \
				" (4000, 3, 0, " GLOBAL(                                        \
					43) ", 5);"                                             \
					    "CREATE TABLE OSRT_API (start, end, globalTid, "    \
					    "nameId);"                                          \
					    "INSERT INTO OSRT_API VALUES (1550, 2950, " GLOBAL( \
						    43) ", 4);"                                 \
							"CREATE TABLE ThreadNames (nameId, "    \
							"globalTid);"                           \
							"INSERT INTO ThreadNames VALUES "       \
							"(5, " GLOBAL(43) "), (5, 99999999);"

static void make_file(char *path, const char *statements)
{
	sqlite3 *db;

	strcpy(path, "/tmp/test_import_nsys.XXXXXX");
	close(mkstemp(path));
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static struct model *import_path(const char *path, int *error)
{
	struct model *model = model_new();
	char words[512];

	*error = import_device_file(model, path, true, words, sizeof(words));
	assert_int_equal(import_finish(model, true), 0);
	return model;
}

static struct model *import_made(const char *statements, int *error)
{
	struct model *model;
	char path[64];

	make_file(path, statements);
	model = import_path(path, error);
	unlink(path);
	return model;
}

static void test_whole(void **state)
{
	struct device_clock clocks[1];
	struct launch_join launches;
	struct model *model;
	const struct timeline *line;
	int error;

	model = import_made(NAMES CALLS KERNELS COPIES SCHEDULE, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(timelines_build(model), 0);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(launches_join(model, &launches), 0);
	/* The copy's call returned an error but launched the copy. */
	assert_int_equal(launches.by_correlation, 2);
	assert_int_equal(model->tasks.row[0].start_ns, EPOCH + 2000);
	assert_int_equal(model->tasks.row[1].bytes, 4096);
	assert_string_equal(model_text(model, model->functions.row[0].name), "cudaLaunchKernel");
	assert_string_equal(model_text(model, model->functions.row[1].name), "cuMemcpyHtoD_v2");
	assert_true(model->calls.row[1].flags & MODEL_CALL_ERROR);
	/* The thread ran, slept in poll, ran. */
	assert_string_equal(model_text(model, model->threads.row[0].name), "trainer");
	line = &model->timelines.row[0];
	assert_int_equal(line->count, 3);
	assert_int_equal(model->spans.row[line->first + 1].state, STATE_SLEEP);
	assert_int_equal(model->spans.row[line->first + 1].syscall, 7);
	assert_int_equal(model->spans.row[line->first + 1].end_ns, EPOCH + 2900);
	/* A kernel that ends before it starts. */
	assert_int_equal(model->findings.count, 1);
	model_free(model);
}

/* Tables are absent if nothing was recorded: no device data does not mean an idle device. */
static void test_no_tasks(void **state)
{
	struct model *model;
	int error;

	model = import_made(NAMES CALLS, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 0);
	assert_int_equal(model->calls.count, 2);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
}

/* Older schemas lack columns. */
static void test_old_schema(void **state)
{
	struct model *model;
	int error;

	model = import_made(NAMES "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId,"
				  " streamId, shortName);"
				  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 5, 0, 7, 2);",
			    &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 1);
	assert_string_equal(model_text(model, model->tasks.row[0].name), "gemm");
	model_free(model);
}

/* Two processes with different GPUs under number 0; launches of graphs; allocations. */
static void test_gpus(void **state)
{
	const struct memory_record *record;
	struct model *model;
	int error;

	model = import_made(
		NAMES "CREATE TABLE TARGET_INFO_GPU (id, name, memoryBandwidth);"
		      "INSERT INTO TARGET_INFO_GPU VALUES (0, 'A', 1555200000000), (1, 'B', NULL);"
		      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);"
		      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 42), (1, 0, 44), (-1, 1, 44),"
		      " (NULL, 2, 44);"
		      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, streamId,"
		      " correlationId, globalPid, graphId);"
		      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES"
		      " (2000, 2500, 0, 13, 7, " GLOBAL(0) ", 5), (2100, 2200, 0, 13, 7, (44 << 24), 5);"
		      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, address,"
		      " bytes, memKind, memoryOperationType);"
		      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES"
		      " (100, (44 << 24), 0, 4096, 512, 2, 0), (200, (44 << 24), 0, 4096, 512, 2, 1),"
		      " (150, (44 << 24), 0, 8192, 64, 1, 0), (160, 0, 0, 1, -1, 2, 0);" CALLS,
		&error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 2);
	assert_string_equal(model_text(model, model->devices.row[0].name), "A");
	assert_true(model->devices.row[0].peak_bandwidth == 1555200000000);
	assert_int_equal(model->devices.row[1].id, 1);
	assert_string_equal(model_text(model, model->devices.row[1].name), "B");
	assert_true(model->devices.row[1].peak_bandwidth == 0);
	assert_int_equal(model->tasks.count, 2);
	assert_string_equal(model_text(model, model->tasks.row[0].name), "[CUDA graph 5]");
	assert_int_equal(model->tasks.row[0].enqueue_ns, EPOCH + 1000);
	assert_int_equal(model->memory_records.count, 3);
	record = &model->memory_records.row[1];
	assert_int_equal(record->bytes, -512);
	assert_int_equal(record->ts_ns, EPOCH + 200);
	assert_int_equal(record->device, 1);
	assert_int_equal(record->flags, MODEL_MEMORY_CHANGE);
	assert_string_equal(model_text(model, record->component), "Device");
	assert_int_equal(model->memory_records.row[2].flags, MODEL_MEMORY_CHANGE | MODEL_MEMORY_HOST);
	/* A negative allocation; and the devices' busy time in graphs is unknown. */
	assert_int_equal(model->findings.count, 2);
	assert_true(model->devices.row[0].whole && model->devices.row[1].whole);
	model_free(model);
}

/* A view instead of a table is not evaluated: it might never end. */
static void test_hostile_view(void **state)
{
	struct model *model;
	int error;

	model = import_made(NAMES "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE"
				  " n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n)"
				  " SELECT start, start AS end, 0 AS deviceId, 0 AS streamId,"
				  " 2 AS demangledName FROM n;",
			    &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 0);
	model_free(model);
}

static void test_truncated(void **state)
{
	char path[64];
	long size;
	FILE *file;

	make_file(path, NAMES CALLS KERNELS COPIES SCHEDULE);
	file = fopen(path, "r+");
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	fclose(file);
	for (long left = size - 512; left > 0; left -= 512) {
		struct model *model;
		int error;

		assert_int_equal(truncate(path, left), 0);
		model = import_path(path, &error);
		assert_true(error || model->findings.count);
		model_free(model);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	   cmocka_unit_test(test_no_tasks),
		cmocka_unit_test(test_old_schema), cmocka_unit_test(test_hostile_view),
		cmocka_unit_test(test_gpus),	   cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
