/* SPDX-License-Identifier: Apache-2.0 */
/* MegEngine's profiles, made here: of dynamic and of static graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/import_text.h"

/* Kernels inside a scope, a copy; an operator on the host that launches one of them; names come last. */
#define DYNAMIC                                                                                      \
	"{\"traceEvents\":[{\"name\":\"gpu_usgae_ratio\",\"ph\":\"C\",\"pid\":42,\"tid\":0,\"ts\":0.0,"   \
	"\"args\":{\"value\":12.5}},\n"                                                              \
	"{\"name\":\"OpDispatch\",\"ph\":\"B\",\"pid\":42,\"tid\":1,\"ts\":1.0},\n"                  \
	"{\"name\":\"OpDispatch\",\"ph\":\"E\",\"pid\":42,\"tid\":1,\"ts\":2.0},\n"                  \
	"{\"name\":\"Module.forward\",\"ph\":\"B\",\"pid\":42,\"tid\":9,\"ts\":5.0},\n"              \
	"{\"name\":\"Conv\",\"ph\":\"B\",\"pid\":42,\"tid\":2,\"ts\":3.0},\n"                        \
	"{\"name\":\"42\",\"cat\":\"KernelLaunch\",\"ph\":\"s\",\"id\":0,\"pid\":42,\"tid\":2,\"ts\":3.5}," \
	"\n{\"name\":\"Conv\",\"cat\":\"Kernel\",\"ph\":\"B\",\"pid\":42,\"tid\":9,\"ts\":10.25},\n"  \
	"{\"name\":\"42\",\"cat\":\"KernelLaunch\",\"ph\":\"f\",\"bp\":\"e\",\"id\":0,\"pid\":42,"      \
	"\"tid\":9,\"ts\":10.25},\n"                                                                 \
	"{\"name\":\"Conv\",\"ph\":\"E\",\"pid\":42,\"tid\":2,\"ts\":4.0},\n"                        \
	"{\"name\":\"Conv\",\"cat\":\"Kernel\",\"ph\":\"E\",\"pid\":42,\"tid\":9,\"ts\":20.5},\n"     \
	"{\"name\":\"HostToDevice\",\"ph\":\"B\",\"pid\":42,\"tid\":9,\"ts\":21},\n"                 \
	"{\"name\":\"HostToDevice\",\"ph\":\"E\",\"pid\":42,\"tid\":9,\"ts\":22},\n"                 \
	"{\"name\":\"Module.forward\",\"ph\":\"E\",\"pid\":42,\"tid\":9,\"ts\":30.0},\n"             \
	"{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":42,\"tid\":2,\"args\":{\"name\":\"worker\"}},\n" \
	"{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":42,\"tid\":9,\"args\":{\"name\":\"gpu1:0\"}}],\n" \
	"\"metadata\":{\"localTime\":\"1700000000000000000\"}}\n"

static void test_dynamic(void **state)
{
	struct model *model;
	int error;

	model = import_text("42.chrome_timeline.json", DYNAMIC, strlen(DYNAMIC), &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 1);
	assert_string_equal(model_text(model, model->devices.row[0].name), "gpu1:0");
	assert_int_equal(model->devices.row[0].clock, PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
	/* Not the scope around them. */
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->tasks.row[0].start_ns, 1700000000000010250);
	assert_int_equal(model->tasks.row[0].end_ns, 1700000000000020500);
	assert_int_equal(model->tasks.row[0].enqueue_ns, 1700000000000003000);
	assert_int_equal(model->tasks.row[1].kind, PROFBPF__DEVICE_TASKS__KIND__COPY);
	/* Of the host's only what launches. */
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
	"{\"mem_plan\":{\"layout\":{\"dtype\":\"Float32\"}}}}},\n"                              \
	"\"profiler\":{\"device\":{\"7\":{\"gpu0:0\":{\"start\":0.0,\"kern\":1e-06,"             \
	"\"end\":0.0001234567}},\n"                                                              \
	"\"8\":{\"gpu0:1\":{\"start\":0.0002,\"kern\":0.0002,\"end\":0.00025}},\n"              \
	"\"9\":{\"gpu0:1\":{\"start\":0.0002}}},\n"                                              \
	"\"host\":{},\"opr_footprint\":{\"7\":{\"computation\":1000,\"memory\":64,"              \
	"\"in_shapes\":[[1,3,224,224],[64]],\"out_shapes\":[[1,64]]}}}}\n"

static void test_static(void **state)
{
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
	assert_int_equal(model_task_detail(model, &model->tasks.row[1])->known, 0);
	assert_int_equal(model->tasks.row[1].stream, 1);
	assert_int_equal(model->tasks.row[1].kind, PROFBPF__DEVICE_TASKS__KIND__COPY);
	assert_int_equal(model->findings.count, 1);
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
