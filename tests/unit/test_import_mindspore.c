/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of MindSpore's profiler before 2.4, built by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/import/importer.h"
#include "tests/unit/import_text.h"

#define TIMELINE                                             \
	"op_name, stream_id, start_time(ms), duration(ms)\n" \
	"Default/Conv2D-op1,519,154907895.95956,0.0031\n"    \
	"Default/MatMul-op2,519,154907896.00001,0.04664\n"   \
	"Default/MatMul-op2,519,N/A,0.04664\n"

/* Operators and AI CPU beside the timeline of the same device; two devices in a rank's folder. */
/* Writes the files of MindSpore's profiler for two devices. */
static void write_profiler(const char *folder)
{
	import_write_text(folder, "output_timeline_data_1.txt", TIMELINE);
	import_write_text(folder, "output_timeline_data_2.txt", TIMELINE);
	/* The same tasks once more, for display. */
	import_write_text(
		folder, "ascend_timeline_display_1.json",
		"[{\"name\":\"x\",\"ph\":\"X\",\"tid\":1,\"ts\":0,\"dur\":1,\"pid\":1,\"args\":{"
		"\"fullname\":\"x\"}}]");
	import_write_text(
		folder, "framework_raw_1.csv",
		"task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,"
		"subgraph,op_info,graph_id\r\n"
		"4,519,2,Default/MatMul-op2,a,b,MatMul,Default,\"{\"\"input_0\"\": "
		"{\"\"format\"\": "
		"\"\"NC1HWC0\"\", \"\"data_type\"\": \"\"FLOAT16\"\", \"\"shape\"\": [32, 16]}, "
		"\"\"input_1\"\": {\"\"format\"\": \"\"ND\"\", \"\"data_type\"\": \"\"FLOAT16\"\", "
		"\"\"shape\"\": \"\"16\"\"}, \"\"output_0\"\": {\"\"shape\"\": [32]}}\",1\r\n");
	import_write_text(folder, "aicpu_intermediate_1.csv",
			  "serial_number,kernel_type,total_time,dispatch_time,execution_time,run_"
			  "start,run_end\n"
			  "1,GetNext,0.888,0.132,0.22,154907895189,154907895707\n");
	/* With the column names of 2.0. */
	import_write_text(folder, "aicpu_intermediate_2.csv",
			  "serial_number,op_type,total_time,dispatch_time,execution_time,run_"
			  "start,run_end\n1,InitData,0.888,0.132,0.22,154907895189,154907895707\n");
	import_write_text(
		folder, "step_trace_raw_1_detail_time.csv",
		"step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,"
		"fp_and_bp,tail\n1,15490789606875,15490791977780,1,15490789606875,15490791973683,"
		"0,1,4097\n-,0,0,0,0,0,1243211,0,0\n");
}

static void check_tasks(const struct model *model)
{
	const struct device_task *task;
	const struct task_detail *detail;

	assert_int_equal(model->tasks.count, 6);
	task = &model->tasks.row[5];
	assert_string_equal(model_text(model, task->name), "InitData");
	assert_string_equal(model_text(model, task->core), "AI_CPU");
	task = &model->tasks.row[1];
	assert_int_equal(task->start_ns, 154907896000010);
	assert_int_equal(task->end_ns - task->start_ns, 46640);
	assert_string_equal(model_text(model, task->type), "MatMul");
	assert_string_equal(model_text(model, task->core), "AI_CORE");
	detail = &model->task_details.row[task->detail - 1];
	assert_int_equal(detail->task_id, 4);
	assert_int_equal(detail->blocks, 2);
	assert_string_equal(model_text(model, detail->input_shapes), "32,16;16");
	assert_string_equal(model_text(model, detail->input_formats), "NC1HWC0;ND");
	assert_string_equal(model_text(model, detail->output_shapes), "32");
	task = &model->tasks.row[2];
	assert_string_equal(model_text(model, task->name), "GetNext");
	assert_string_equal(model_text(model, task->core), "AI_CPU");
	assert_int_equal(task->start_ns, 154907895189000);
	assert_int_equal(task->end_ns, 154907895707000);
}

static void test_directory(void **state)
{
	char root[] = "/tmp/test_import_ms.XXXXXX", folder[64], command[96], words[512];
	struct model *model = model_new();

	assert_non_null(mkdtemp(root));
	snprintf(folder, sizeof(folder), "%s/rank_0", root);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(folder, sizeof(folder), "%s/rank_0/profiler", root);
	assert_int_equal(mkdir(folder, 0700), 0);
	write_profiler(folder);
	assert_int_equal(import_device_file(model, root, true, words, sizeof(words)), 0);
	assert_int_equal(import_finish(model, true), 0);
	assert_int_equal(model->devices.count, 2);
	assert_int_equal(model->devices.row[0].id, 1);
	assert_int_equal(model->devices.row[1].id, 2);
	assert_string_equal(model_text(model, model->devices.row[0].source), "mindspore");
	check_tasks(model);
	assert_int_equal(model->device_steps.count, 1);
	assert_int_equal(model->device_steps.row[0].device, 0);
	/* The rows without a time, one in each file. */
	assert_int_equal(model->findings.row[0].count, 1);
	model_free(model);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
	import_same("output_timeline_data_1.txt", TIMELINE, strlen(TIMELINE), true);
}

/* Sums, scopes and events of the host are no tasks; times begin at 0 and have rounding errors of binary fractions. */
#define DISPLAY                                                                                    \
	"[{\"name\":\"InitData\",\"ph\":\"X\",\"tid\":\"0\",\"ts\":0.0,\"dur\":159.9999964237213," \
	"\"pid\":9000},\n"                                                                         \
	"{\"name\":\"MatMul-op2\",\"ph\":\"X\",\"tid\":\"519\",\"ts\":200.5,\"dur\":3.1,\"pid\":"  \
	"1,"                                                                                       \
	"\"args\":{\"type\":\"MatMul\",\"fullname\":\"Default/MatMul-op2\"}},\n"                   \
	"{\"name\":\"AllReduce\",\"ph\":\"X\",\"tid\":520,\"ts\":210,\"dur\":10,\"pid\":10000},\n" \
	"{\"name\":\"host\",\"ph\":\"X\",\"tid\":1,\"ts\":210,\"dur\":10,\"pid\":11000},\n"        \
	"{\"name\":\"merged\",\"ph\":\"X\",\"tid\":7999,\"ts\":0,\"dur\":300,\"pid\":12000},\n"    \
	"{\"name\":\"Default\",\"ph\":\"X\",\"tid\":100001,\"ts\":0,\"dur\":300,\"pid\":1}]\n"

static void test_display(void **state)
{
	struct model *model;
	int error;

	model = import_text("ascend_timeline_display_5.json", DISPLAY, strlen(DISPLAY), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 5);
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(model->tasks.row[0].start_ns, 1);
	assert_int_equal(model->tasks.row[0].end_ns, 160001);
	assert_string_equal(model_text(model, model->tasks.row[1].name), "Default/MatMul-op2");
	assert_string_equal(model_text(model, model->tasks.row[1].type), "MatMul");
	assert_int_equal(model->tasks.row[2].kind, PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION);
	model_free(model);
	import_same("ascend_timeline_display_5.json", DISPLAY, strlen(DISPLAY), true);
}

static void test_gpu_display(void **state)
{
	static const char text[] =
		"[{\"name\":\"Default/InitDataSetQueue-op0\",\"ph\":\"X\",\"tid\":\"Ops\",\"ts\":"
		"1600695893269618.2,\"dur\":303.84,\"pid\":0},{\"name\":\"void "
		"k<float>(int)\",\"ph\":"
		"\"X\",\"tid\":\"17\",\"ts\":1600695897737724.8,\"dur\":5.792,\"pid\":0,\"args\":{"
		"\"type\":\"cuLaunchKernel\",\"op_full_name\":\"Default/op1\"}}]";
	struct model *model;
	int error;

	model = import_text("gpu_timeline_display_0.json", text, strlen(text), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->tasks.row[0].start_ns, 1600695897737724800);
	assert_int_equal(model->devices.row[0].clock, PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
	model_free(model);
}

/* Operators' figures are in a file beside the timeline, reductions in the steps' table. */
static void test_flops_and_reduces(void **state)
{
	char folder[] = "/tmp/test_import_ms.XXXXXX", command[96];
	const struct task_detail *detail;
	const struct device_step *step;
	struct model *model;

	assert_non_null(mkdtemp(folder));
	import_write_text(folder, "output_timeline_data_1.txt", TIMELINE);
	import_write_text(
		folder, "flops_1.txt",
		"full_kernel_name, MFLOPs(10^6 cube), GFLOPS(10^9 cube), FLOPS utilization(cube), "
		"MFLOPs(10^6 vector), GFLOPS(10^9 vector), FLOPS utilization(vec)\n"
		"Default/MatMul-op2, 333.5, 1, 12.5, 0.25, 1, 3\n"
		"Default/Conv2D-op1, 0, 0, 0, 2, 1, 3\nDefault/None-op9, N/A, 0, 0, N/A, 1, 3\n");
	import_write_text(
		folder, "step_trace_raw_1_detail_time.csv",
		"step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,"
		"fp_and_bp,tail,stream_10_parallel_0_start_point,stream_10_parallel_0_end_point,"
		"stream_10_parallel_0,stream_11_parallel_1_start_point,"
		"stream_11_parallel_1_end_point,stream_11_parallel_1\n"
		"1,100,900,800,200,700,100,500,200,300,400,100,350,380,30\n"
		"2,900,1900,800,1200,1700,100,500,200,1300,1250,100,,,\n");
	model = import_take(folder);
	detail = model_task_detail(model, &model->tasks.row[1]);
	assert_int_equal(detail->known, MODEL_DETAIL_FLOPS | MODEL_DETAIL_UTILIZATION);
	assert_int_equal((int64_t)detail->flops, 333750000);
	assert_int_equal((int64_t)(detail->utilization * 10), 125);
	detail = model_task_detail(model, &model->tasks.row[0]);
	assert_int_equal((int64_t)detail->flops, 2000000);
	assert_int_equal((int64_t)(detail->utilization * 10), 30);
	assert_int_equal(model->device_steps.count, 2);
	step = &model->device_steps.row[0];
	assert_int_equal(step->reduce_count, 2);
	assert_int_equal(model->device_reduces.row[step->first_reduce].stream, 10);
	assert_int_equal(model->device_reduces.row[step->first_reduce].start_ns, 3000);
	assert_int_equal(model->device_reduces.row[step->first_reduce + 1].stream, 11);
	assert_int_equal(model->device_reduces.row[step->first_reduce + 1].end_ns, 3800);
	/* A reduction that ends before it begins, and an absent one. */
	assert_int_equal(model->device_steps.row[1].reduce_count, 0);
	model_free(model);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* Two steps and their mean; an operation in both, by link and transport. */
#define COMMUNICATION                                                                            \
	"step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"          \
	"1,2.6,270.2,\"{}\",\"{\"\"stream_41_0_AllReduce-op4\"\": [\"\"1\"\", 0.25, 0.5, "       \
	"{\"\"1-0\"\": {\"\"SDMA\"\": [0.125, 4.096, 7]}, \"\"0-0\"\": {\"\"SDMA\"\": [0.0625, " \
	"2, 1], "                                                                                \
	"\"\"RDMA\"\": [1, 3, 1]}}]}\"\n"                                                        \
	"2,2.6,270.2,\"{}\",\"{\"\"stream_41_1_AllReduce-op4\"\": [\"\"2\"\", 0.25, 0.25, "      \
	"{\"\"1-0\"\": {\"\"SDMA\"\": [0.125, 4.096, 7]}}]}\"\n3,1,1,\"{}\",\"{\"\n"             \
	"-,2.6,270.2,\"{}\",\"{\"\"stream_41_0_AllReduce-op4\"\": [\"\"-\"\", 9, 9, {}]}\"\n"

static void test_communication(void **state)
{
	const struct communication_time *time;
	const struct link_use *link;
	struct model *model;
	int error;

	model = import_text("hccl_raw_3.csv", COMMUNICATION, strlen(COMMUNICATION), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.row[0].id, 3);
	assert_int_equal(model->communication_times.count, 1);
	time = &model->communication_times.row[0];
	assert_string_equal(model_text(model, time->operation), "AllReduce-op4");
	assert_int_equal(time->transit_ns, 500000);
	assert_int_equal(time->wait_ns, 750000);
	assert_true(time->elapsed_ns == UINT64_MAX);
	assert_int_equal(model->link_uses.count, 3);
	link = &model->link_uses.row[0];
	assert_string_equal(model_text(model, link->transport), "SDMA");
	assert_int_equal(link->source, 1);
	assert_int_equal(link->destination, 0);
	assert_int_equal(link->count, 2);
	assert_int_equal(link->ns, 250000);
	assert_int_equal(link->bytes, 8192);
	assert_string_equal(model_text(model, model->link_uses.row[2].transport), "RDMA");
	assert_int_equal(model->link_uses.row[2].bytes, 3000);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	import_same("hccl_raw_3.csv", COMMUNICATION, strlen(COMMUNICATION), true);
}

/* The data profiler's files are in the same folder as the device's figures: both are imported. */
static void test_both_profilers(void **state)
{
	char folder[] = "/tmp/test_import_ms.XXXXXX", command[96];
	struct model *model;

	assert_non_null(mkdtemp(folder));
	import_write_text(folder, "pipeline_profiling_1.json",
			  "{\"op_info\":[{\"op_id\":0,\"op_type\":\"BatchOp\",\"num_workers\":4,"
			  "\"metrics\":null,\"children\":null}]}");
	model = import_take(folder);
	assert_int_equal(model->imported_operators.count, 1);
	assert_int_equal(model->tasks.count, 0);
	model_free(model);
	import_write_text(folder, "output_timeline_data_1.txt", TIMELINE);
	model = import_take(folder);
	assert_int_equal(model->imported_operators.count, 1);
	assert_int_equal(model->tasks.count, 2);
	model_free(model);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directory),      cmocka_unit_test(test_display),
		cmocka_unit_test(test_gpu_display),    cmocka_unit_test(test_flops_and_reduces),
		cmocka_unit_test(test_both_profilers), cmocka_unit_test(test_communication),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
