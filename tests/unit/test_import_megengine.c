/* SPDX-License-Identifier: Apache-2.0 */
/* MegEngine's profiles, built by the test: of dynamic and static graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/import_text.h"

/* Kernels inside a scope, a copy; an operator on the host that launches one of them; names are at the end. */
#define DYNAMIC                                                                                      \
	"{\"traceEvents\":[{\"name\":\"gpu_usgae_ratio\",\"ph\":\"C\",\"pid\":42,\"tid\":0,\"ts\":0.0,"   \
	"\"args\":{\"value\":12.5}},\n"                                                              \
	"{\"name\":\"OpDispatch\",\"ph\":\"B\",\"pid\":42,\"tid\":1,\"ts\":1.0},\n"                  \
	"{\"name\":\"OpDispatch\",\"ph\":\"E\",\"pid\":42,\"tid\":1,\"ts\":2.0},\n"                  \
	"{\"name\":\"Module.forward\",\"ph\":\"B\",\"pid\":42,\"tid\":9,\"ts\":5.0},\n"              \
	"{\"name\":\"Conv\",\"ph\":\"B\",\"pid\":42,\"tid\":2,\"ts\":3.0},\n"                        \
	"{\"name\":\"Input 0\",\"ph\":\"B\",\"pid\":42,\"tid\":2,\"ts\":3.1,\"args\":{\"shape\":"      \
	"\"{2,3,32,32}\",\"dtype\":\"Float32\",\"nr_elements\":6144}},\n"                           \
	"{\"name\":\"Input 0\",\"ph\":\"E\",\"pid\":42,\"tid\":2,\"ts\":3.2},\n"                     \
	"{\"name\":\"Input 2\",\"ph\":\"B\",\"pid\":42,\"tid\":2,\"ts\":3.2,\"args\":{\"shape\":"      \
	"\"{8}\",\"dtype\":\"Int8\",\"nr_elements\":8}},\n"                                         \
	"{\"name\":\"Input 2\",\"ph\":\"E\",\"pid\":42,\"tid\":2,\"ts\":3.3},\n"                     \
	"{\"name\":\"gpu1:0_alloc_mem\",\"ph\":\"C\",\"pid\":42,\"tid\":2,\"ts\":3.4,"               \
	"\"args\":{\"value\":5225738240.0}},\n"                                                     \
	"{\"name\":\"42\",\"cat\":\"KernelLaunch\",\"ph\":\"s\",\"id\":0,\"pid\":42,\"tid\":2,\"ts\":3.5}," \
	"\n{\"name\":\"Conv\",\"cat\":\"Kernel\",\"ph\":\"B\",\"pid\":42,\"tid\":9,\"ts\":10.25},\n"  \
	"{\"name\":\"42\",\"cat\":\"KernelLaunch\",\"ph\":\"f\",\"bp\":\"e\",\"id\":0,\"pid\":42,"      \
	"\"tid\":9,\"ts\":10.25},\n"                                                                 \
	"{\"name\":\"Output 7\",\"ph\":\"B\",\"pid\":42,\"tid\":2,\"ts\":3.8,\"args\":{\"shape\":"     \
	"\"{2,8}\",\"dtype\":\"Float32\",\"nr_elements\":16}},\n"                                   \
	"{\"name\":\"Output 7\",\"ph\":\"E\",\"pid\":42,\"tid\":2,\"ts\":3.9},\n"                    \
	"{\"name\":\"Conv\",\"ph\":\"E\",\"pid\":42,\"tid\":2,\"ts\":4.0},\n"                        \
	"{\"name\":\"Conv\",\"cat\":\"Kernel\",\"ph\":\"E\",\"pid\":42,\"tid\":9,\"ts\":20.5},\n"     \
	"{\"name\":\"HostToDevice\",\"ph\":\"B\",\"pid\":42,\"tid\":9,\"ts\":21},\n"                 \
	"{\"name\":\"HostToDevice\",\"ph\":\"E\",\"pid\":42,\"tid\":9,\"ts\":22,\"args\":{\"shape\":"     \
	"\"{2,3}\",\"dtype\":\"Float32\",\"nr_elements\":6}},\n"                                    \
	"{\"name\":\"Module.forward\",\"ph\":\"E\",\"pid\":42,\"tid\":9,\"ts\":30.0},\n"             \
	"{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":42,\"tid\":2,\"args\":{\"name\":\"worker\"}},\n" \
	"{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":42,\"tid\":9,\"args\":{\"name\":\"gpu1:0\"}}],\n" \
	"\"metadata\":{\"localTime\":\"1700000000000000000\"}}\n"

static void test_dynamic(void **state)
{
	const struct task_detail *detail;
	struct model *model;
	int error;

	model = import_text("42.chrome_timeline.json", DYNAMIC, strlen(DYNAMIC), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 1);
	assert_string_equal(model_text(model, model->devices.row[0].name), "gpu1:0");
	assert_int_equal(model->devices.row[0].clock, PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
	/* Without the scope around them. */
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->tasks.row[0].start_ns, 1700000000000010250);
	assert_int_equal(model->tasks.row[0].end_ns, 1700000000000020500);
	assert_int_equal(model->tasks.row[0].enqueue_ns, 1700000000000003000);
	assert_int_equal(model->tasks.row[1].kind, PROFBPF__DEVICE_TASKS__KIND__COPY);
	assert_int_equal(model->tasks.row[1].bytes, 24);
	assert_string_equal(model_text(model, model_task_detail(model, &model->tasks.row[1])->input_shapes),
			    "2,3");
	detail = model_task_detail(model, &model->tasks.row[0]);
	assert_string_equal(model_text(model, detail->input_shapes), "2,3,32,32;8");
	assert_string_equal(model_text(model, detail->input_types), "Float32;Int8");
	assert_string_equal(model_text(model, detail->output_shapes), "2,8");
	assert_int_equal(model->memory_records.count, 1);
	assert_int_equal(model->memory_records.row[0].allocated, 5225738240);
	assert_int_equal(model->memory_records.row[0].device, 1);
	assert_int_equal(model->memory_records.row[0].flags, MODEL_MEMORY_ALLOCATED);
	assert_int_equal(model->memory_records.row[0].ts_ns, 1700000000000003400);
	/* Of the host's events only the launching ones. */
	assert_int_equal(model->calls.count, 1);
	assert_int_equal(model->tasks.row[0].call, 0);
	assert_int_equal(model->findings.count, 0);
	model_free(model);
	import_same("42.chrome_timeline.json", DYNAMIC, strlen(DYNAMIC), true);
}

#define STATIC                                                                                   \
	"{\"graph_exec\":{\"operator\":{\"7\":{\"name\":\"conv1\",\"type\":\"ConvolutionForward\"," \
	"\"id\":\"7\",\"input\":[\"1\"],\"output\":[\"2\"]},\n"                                  \
	"\"8\":{\"name\":\"copy\",\"type\":\"Copy\",\"input\":[],\"output\":[]}},\"var\":{\"1\":"   \
	"{\"mem_plan\":{\"layout\":{\"dtype\":\"Float32\"}},\"comp_node\":"                    \
	"\"CompNode(\\\"gpu3:0\\\" from \\\"gpux:0\\\")\"}},\n"                                   \
	"\"mem_chunk\":{\"chk1\":{\"owner_var\":\"1\",\"size\":4096,\"dev_ptr\":94708449315072}," \
	"\"chk2\":{\"owner_var\":\"9\",\"size\":-1}}},\n"                                       \
	"\"profiler\":{\"device\":{\"7\":{\"CompNode(\\\"gpu0:0\\\" from \\\"gpux:0\\\")\":{\"start\":0.0,\"kern\":1e-06,"             \
	"\"end\":0.0001234567}},\n"                                                              \
	"\"8\":{\"gpu0:1\":{\"start\":0.0002,\"kern\":0.0002,\"end\":0.00025}},\n"              \
	"\"9\":{\"gpu0:1\":{\"start\":0.0002}}},\n"                                              \
	"\"host\":{\"7\":{\"a\":{\"start\":0.5,\"kern\":0.5,\"end\":0.500002},"            \
	"\"b\":{\"start\":0.5,\"kern\":0.5,\"end\":0.500004}},\"8\":{\"a\":{\"start\":1,"       \
	"\"end\":1.000002}},\"99\":{\"a\":{\"start\":1,\"end\":2}}},\"opr_footprint\":{\"7\":{\"computation\":1000,\"memory\":64,"              \
	"\"in_shapes\":[[1,3,224,224],[64]],\"out_shapes\":[[1,64]]}}}}\n"

static void test_static(void **state)
{
	const struct api_statistic *host;
	const struct task_detail *detail;
	struct model *model;
	int error;

	model = import_text("profiling.json", STATIC, strlen(STATIC), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->tasks.count, 2);
	assert_string_equal(model_text(model, model->tasks.row[0].name), "conv1");
	assert_string_equal(model_text(model, model->tasks.row[0].type), "ConvolutionForward");
	assert_int_equal(model->tasks.row[0].end_ns - model->tasks.row[0].start_ns, 123457);
	detail = &model->task_details.row[model->tasks.row[0].detail - 1];
	assert_string_equal(model_text(model, detail->input_shapes), "1,3,224,224;64");
	assert_string_equal(model_text(model, detail->output_shapes), "1,64");
	assert_string_equal(model_text(model, detail->input_types), "Float32");
	assert_int_equal(detail->output_types, 0);
	assert_int_equal(detail->known, MODEL_DETAIL_FLOPS | MODEL_DETAIL_MOVED);
	assert_true(detail->flops == 1000 && detail->moved_bytes == 64);
	/* The longest of the host's threads; the time that it waited for its turn on the device. */
	assert_int_equal(detail->metric_count, 2);
	assert_string_equal(model_text(model, model->task_metrics.row[detail->first_metric].name),
			    "host_time(us)");
	assert_true(model->task_metrics.row[detail->first_metric].value == 4);
	assert_true(model->task_metrics.row[detail->first_metric + 1].value == 1);
	assert_int_equal(model->api_statistics.count, 2);
	host = &model->api_statistics.row[0];
	assert_string_equal(model_text(model, host->name), "ConvolutionForward");
	assert_int_equal(host->count, 1);
	assert_int_equal(host->total_ns, 4000);
	assert_int_equal(host->min_ns, 4000);
	assert_true(host->variance == 0);
	/* A plan from before the graph ran. */
	assert_int_equal(model->memory_records.count, 1);
	assert_int_equal(model->memory_records.row[0].bytes, 4096);
	assert_int_equal(model->memory_records.row[0].device, 3);
	assert_int_equal(model->memory_records.row[0].address, 94708449315072);
	assert_string_equal(model_text(model, model->devices.row[0].name), "gpu0:0");
	assert_string_equal(model_text(model, model->devices.row[0].kind), "gpu");
	assert_int_equal(model_task_detail(model, &model->tasks.row[1])->known, 0);
	assert_int_equal(model->tasks.row[1].stream, 1);
	assert_int_equal(model->tasks.row[1].kind, PROFBPF__DEVICE_TASKS__KIND__COPY);
	/* An event without an end; memory of a negative size; a host time without an operator. */
	assert_int_equal(model->findings.count, 3);
	model_free(model);
	import_same("profiling.json", STATIC, strlen(STATIC), true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_static),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
