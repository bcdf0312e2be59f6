/* SPDX-License-Identifier: Apache-2.0 */
/* Files of MindSpore's data profiler, with their known faults, and damaged ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "analyzer/frameworks/framework.h"
#include "analyzer/import/importer.h"

#define MS 1000000ull

struct folder {
	char path[32];
	struct model *model;
};

static const char *const NAMES[] = { "pipeline_profiling_0.json",
				     "minddata_cpu_utilization_0.json",
				     "dataset_iterator_profiling_0.txt",
				     "device_queue_profiling_0.txt",
				     "minddata_aicpu_0.txt",
				     "minddata_getnext_profiling_0.txt" };

static void put(const struct folder *f, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Map (1) to EpochCtrl (0); four instants a second apart. */
#define PIPELINE                                                                                 \
	"{\"op_info\":[{\"children\":[1],\"metrics\":null,\"num_workers\":1,\"op_id\":0,"        \
	"\"op_type\":\"EpochCtrlOp\"},{\"metrics\":{\"output_queue\":{\"length\":8,"             \
	"\"size\":[0,8,4,8]}},\"num_workers\":2,\"op_id\":1,\"op_type\":\"MapOp\"}],"            \
	"\"sampling_interval\":1000}"

/* As MindSpore 2.10 writes them: idle time doubled, user and system time halved. */
#define CPU                                                                                      \
	"{\"cpu_processor_num\":2,\"device_info\":{\"context_switch_count\":[0,0,10,0,20,0,30,"  \
	"0],\"idle_utilization\":[0,0,20,0,60,0,0,0],\"io_utilization\":[0,0,0,0,0,0,0,0],"      \
	"\"runnable_process\":[1,1,2,2,3,3,4,4],\"sys_utilization\":[0,0,20,0],"                 \
	"\"user_utilization\":[0,0,60,0]},\"op_info\":[{\"metrics\":{\"sys_utilization\":[0,0,"  \
	"0,0],\"user_utilization\":[0,0,0,0]},\"op_id\":0},{\"metrics\":{\"sys_utilization\":["  \
	"0,5,0,0],\"user_utilization\":[0,20,100,150]},\"op_id\":1},{\"metrics\":null,"          \
	"\"op_id\":-1}],\"process_info\":{\"sys_utilization\":[1,1,1],\"user_utilization\":[2,"  \
	"2,2]},\"sampling_interval\":1000,\"time_stamp\":[1000,2000,3000,4000]}"

#define BATCHES                                                                                  \
	"0 1 1 0 1500\n0 2 1 100 1500\n0 0 1 100 1500\n1 8 1 0 1500\n"                           \
	"0 1 2 0 1900\n0 2 2 50 1900\n0 0 2 50 1900\n1 8 2 3 1900\n"

static int set_up(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	snprintf(f->path, sizeof(f->path), "/tmp/minddata.XXXXXX");
	assert_non_null(mkdtemp(f->path));
	f->model = model_new();
	assert_non_null(f->model);
	put(f, NAMES[0], PIPELINE);
	put(f, NAMES[1], CPU);
	put(f, NAMES[2], BATCHES);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct folder *f = *state;
	char path[128];

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", f->path, NAMES[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(f->path), 0);
	model_free(f->model);
	free(f);
	return 0;
}

static int take(struct folder *f, char *error, size_t size)
{
	int err = import_device_file(f->model, f->path, true, error, size);

	return err ? err : import_finish(f->model, true);
}

static void operators(void **state)
{
	struct folder *f = *state;
	struct pipelines pipelines;
	struct pipeline *pipeline;
	char error[256];

	assert_int_equal(take(f, error, sizeof(error)), 0);
	assert_int_equal(frameworks_build(f->model, &pipelines), 0);
	assert_int_equal(pipelines.list.count, 1);
	pipeline = &pipelines.list.row[0];
	assert_true(pipeline->sampled);
	assert_string_equal(pipeline->framework, "MindData");
	assert_int_equal(pipeline->operators.count, 2);
	assert_string_equal(model_text(f->model, pipeline->operators.row[1].name), "Map(ID:1)");
	assert_int_equal(pipeline->operators.row[1].workers, 2);
	assert_true(pipeline->operators.row[0].in_trainer);
	assert_int_equal(pipeline->edges.count, 1);
	assert_int_equal(pipeline->edges.row[0].from, 1);
	assert_int_equal(pipeline->queues.count, 1);
	assert_int_equal(pipeline->queues.row[0].capacity, 8);
	assert_int_equal(pipeline->queue_events.count, 4);
	assert_int_equal(pipeline->queue_events.row[2].size, 4);
	assert_int_equal(pipeline->queue_events.row[2].end_ns, 3000 * MS);
	assert_int_equal(pipeline->fetches.count, 2);
	assert_int_equal(pipeline->fetches.row[0].start_ns, 1400 * MS);
	assert_int_equal(pipeline->fetches.row[1].end_ns, 1900 * MS);
	/* The first value has no interval before it. */
	assert_int_equal(pipeline->cpu.count, 6);
	assert_int_equal(pipeline->cpu.row[3].op, 1);
	assert_int_equal(pipeline->cpu.row[3].start_ns, 1000 * MS);
	assert_int_equal(pipeline->cpu.row[3].user_ns, 200 * MS);
	assert_int_equal(pipeline->cpu.row[3].system_ns, 50 * MS);
	assert_int_equal(pipeline->cpu.row[5].user_ns, 1500 * MS);
	pipelines_free(&pipelines);
}

/* Busy for 80, 40 and 100 % of two CPUs; three quarters of it user time, where the file has it. */
/* The JSON may be compressed; a damaged file is reported. */
static void packed(void **state)
{
	struct folder *f = *state;
	char path[128], error[256] = "";
	gzFile out;

	snprintf(path, sizeof(path), "%s/%s", f->path, NAMES[0]);
	out = gzopen(path, "wb");
	assert_true(out && gzputs(out, PIPELINE) > 0);
	assert_int_equal(gzclose(out), Z_OK);
	assert_int_equal(take(f, error, sizeof(error)), 0);
	assert_int_equal(f->model->imported_operators.count, 2);

	assert_int_equal(truncate(path, 40), 0);
	assert_int_equal(take(f, error, sizeof(error)), -EBADMSG);
	assert_non_null(strstr(error, NAMES[0]));
}

static double fact(const struct model *model, const char *name)
{
	for (uint32_t i = 0; i < model->device_facts.count; i++) {
		const struct device_fact *row = &model->device_facts.row[i];

		if (strcmp(model_text(model, row->topic), "GetNext of rank 0") == 0 &&
		    strcmp(model_text(model, row->name), name) == 0)
			return row->value;
	}
	return -1;
}

/* The device's times of its reads: rows of other operators in that file are no reads; on GPUs times are nanoseconds. */
static void reads_of_the_device(void **state)
{
	struct folder *f = *state;
	const struct imported_read *row;
	char error[256] = "";

	put(f, NAMES[5], "GetNext 1000 5000 0\nGetNext 6000 8000 2\n");
	assert_int_equal(take(f, error, sizeof(error)), 0);
	assert_int_equal(f->model->imported_reads.count, 2);
	assert_int_equal(f->model->imported_reads.row[0].end_ns, 5000);
	assert_true(fact(f->model, "time of a read, mean") == 3);
	assert_true(fact(f->model, "reads that found the queue empty") == 1);
	model_free(f->model);
	f->model = model_new();
	put(f, NAMES[4],
	    "InitData 1 2 3\nGetNext_dequeue_wait 154907895305 154907895306 3\n"
	    "GetNext_dequeue_wait 154907895614.250 154907895617.250\nGetNext_dequeue_wait 9 8 1\n");
	assert_int_equal(take(f, error, sizeof(error)), 0);
	assert_int_equal(f->model->imported_reads.count, 2);
	row = f->model->imported_reads.row;
	assert_int_equal(row[0].start_ns, 154907895305000);
	assert_int_equal(row[0].size, 3);
	assert_int_equal(row[1].start_ns, 154907895614250);
	assert_int_equal(row[1].size, INDEX_NONE);
	assert_true(fact(f->model, "reads") == 2);
	assert_true(fact(f->model, "time of a read, mean") == 2);
	assert_true(fact(f->model, "reads that found the queue empty") == 0);
}

static void host_is_repaired(void **state)
{
	struct folder *f = *state;
	const struct cpu_stat *row;
	char error[256];

	assert_int_equal(take(f, error, sizeof(error)), 0);
	assert_int_equal(f->model->cpu_stats.count, 4);
	row = f->model->cpu_stats.row;
	assert_int_equal(row[1].idle_ns, 400 * MS);
	assert_int_equal(row[2].idle_ns - row[1].idle_ns, 1200 * MS);
	assert_int_equal(row[3].idle_ns, row[2].idle_ns);
	assert_int_equal(row[1].user_ns, 1200 * MS);
	assert_int_equal(row[3].user_ns - row[2].user_ns, 1500 * MS);
	assert_int_equal(row[3].system_ns - row[2].system_ns, 500 * MS);
	assert_int_equal(f->model->host_stats.row[3].context_switches, 60);
	assert_int_equal(f->model->host_stats.row[2].runnable, 3);
	assert_int_equal(f->model->findings.count, 1);
	assert_non_null(strstr(model_text(f->model, f->model->findings.row[0].what), "put right"));
}

/* As `analyzer export` writes them: one value fewer than instants, nothing doubled. */
static void right_files(void **state)
{
	struct folder *f = *state;
	char error[256];

	put(f, NAMES[1],
	    "{\"cpu_processor_num\":1,\"device_info\":{\"idle_utilization\":[25.5,50],"
	    "\"user_utilization\":[70,40],\"sys_utilization\":[4.5,10]},\"op_info\":["
	    "{\"metrics\":{\"user_utilization\":[10,20],\"sys_utilization\":[0.5,0]},\"op_id\":1}],"
	    "\"time_stamp\":[1000,2000,3000]}");
	assert_int_equal(take(f, error, sizeof(error)), 0);
	assert_int_equal(f->model->findings.count, 0);
	assert_int_equal(f->model->cpu_stats.row[1].user_ns, 700 * MS);
	assert_int_equal(f->model->cpu_stats.row[1].system_ns, 45 * MS);
	assert_int_equal(f->model->cpu_stats.row[2].idle_ns, 755 * MS);
	assert_int_equal(f->model->imported_cpu.count, 2);
	assert_int_equal(f->model->imported_cpu.row[0].user_ns, 100 * MS);
	assert_int_equal(f->model->imported_cpu.row[1].end_ns, 3000 * MS);
}

static void device_queue(void **state)
{
	struct folder *f = *state;
	struct pipelines pipelines;
	char error[256];

	put(f, NAMES[3], "0 1 1 20 1500\n0 2 1 120 1500\n0 0 1 100 1500\n1 8 1 0 1500\n");
	assert_int_equal(take(f, error, sizeof(error)), 0);
	assert_int_equal(frameworks_build(f->model, &pipelines), 0);
	assert_int_equal(pipelines.list.row[0].queues.count, 2);
	assert_true(pipelines.list.row[0].queues.row[1].to_device);
	assert_int_equal(pipelines.list.row[0].fetches.count, 1);
	assert_int_equal(pipelines.list.row[0].fetches.row[0].start_ns, 1380 * MS);
	pipelines_free(&pipelines);
}

/* Any fault of a file is reported, or the part is left out. */
static void damaged(void **state)
{
	static const struct {
		int file;
		const char *text;
		int expected;
	} CASES[] = {
		{ 0, "", -EBADMSG },
		{ 0, "[]", -EBADMSG },
		{ 0, "{\"op_info\":{}}", -EBADMSG },
		{ 0, "{\"op_info\":[]}", -EBADMSG },
		{ 0, "{\"op_info\":[1,null,\"x\",{\"op_id\":\"7\"},{\"op_id\":-5}]}", 0 },
		{ 0, "{\"op_info\":[{\"op_id\":1,\"children\":[1,2,99,\"x\"]},{\"op_id\":2,\"children\":[1]"
		     "}],\"sampling_interval\":1}", 0 },
		{ 0, "{\"op_info\":[{\"op_id\":0,\"num_workers\":1e99,\"metrics\":{\"output_queue\":{"
		     "\"length\":-4,\"size\":[-1,1e300,null]}}}],\"sampling_interval\":1000}", 0 },
		{ 1, "{", -EBADMSG },
		{ 1, "{\"time_stamp\":[5,4,3]}", 0 },
		{ 1, "{\"time_stamp\":[1,1e300],\"cpu_processor_num\":1e18}", 0 },
		{ 1, "{\"time_stamp\":[1,2,3],\"cpu_processor_num\":2,\"op_info\":[3,{\"op_id\":1,"
		     "\"metrics\":{\"user_utilization\":[-1,1e300,\"x\"]}}],\"device_info\":[]}", 0 },
		{ 2, "x\n0 0\n0 0 1 -5 7\n0 0 99999999999999999999 1 1\n0 0 2 1e308 7\n", 0 },
		{ 2, "", 0 },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct pipelines pipelines = { { 0 } };
		struct folder *f;
		char error[256] = "";
		int err;

		set_up((void **)&f);
		put(f, NAMES[CASES[i].file], CASES[i].text);
		err = take(f, error, sizeof(error));
		assert_int_equal(err, CASES[i].expected);
		assert_true(!err || *error);
		if (!err)
			assert_int_equal(frameworks_build(f->model, &pipelines), 0);
		pipelines_free(&pipelines);
		tear_down((void **)&f);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(operators, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_of_the_device, set_up, tear_down),
		cmocka_unit_test_setup_teardown(host_is_repaired, set_up, tear_down),
		cmocka_unit_test_setup_teardown(right_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(device_queue, set_up, tear_down),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
