/* SPDX-License-Identifier: Apache-2.0 */
/* Loading devices and their tasks from .pbt files into the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/sample_trace.h"

static struct trace_builder *session(void)
{
	struct trace_builder *builder = trace_builder_new();

	trace_segment(builder,
		      &(struct trace_segment){ .start_ns = 1000, .session = 1, .boot = 1 });
	return builder;
}

static void times_of_device_tasks_survive(void **state)
{
	struct trace_builder *builder = session();
	struct model *model;

	trace_target(builder, 1000, 10, 10, "t");
	trace_device(builder,
		     &(struct trace_device){ .id = 3,
					     .tgid = 10,
					     .name = "gpu0",
					     .clock = PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC });
	trace_device_task(builder, &(struct trace_device_task_row){ .device = 3,
								    .queued_ns = 2000,
								    .submit_ns = 2010,
								    .start_ns = 2020,
								    .end_ns = 2090,
								    .stream = 77,
								    .name = "k",
								    .tid = 10,
								    .enqueue_ns = 1990 });
	trace_device_task(builder, &(struct trace_device_task_row){ .device = 3,
								    .queued_ns = 2500,
								    .name = "untimed",
								    .tid = 10,
								    .enqueue_ns = 2490 });
	model = load_trace(builder);
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->tasks.row[0].submit_ns, 2010);
	assert_int_equal(model->tasks.row[0].start_ns, 2020);
	assert_int_equal(model->tasks.row[0].end_ns, 2090);
	assert_int_equal(model->tasks.row[0].thread, 0);
	assert_int_equal(model->tasks.row[0].flags, 0);
	assert_int_equal(model->tasks.row[1].submit_ns, 0);
	assert_int_equal(model->tasks.row[1].start_ns, 0);
	assert_int_equal(model->tasks.row[1].end_ns, 0);
	assert_int_equal(model->tasks.row[1].flags, MODEL_TASK_UNTIMED);
	assert_int_equal(model->devices.row[0].process, 0);
	model_free(model);
}

/* A CPU device reads the host's clock; any other device that declares that clock has anchored a counter to it. */
static void counters_of_devices_are_anchored(void **state)
{
	static const char *const kinds[] = { "cpu", "gpu", "npu", "accelerator", "" };
	struct trace_builder *builder = session();
	struct model *model;

	trace_target(builder, 1000, 10, 10, "t");
	for (uint32_t i = 0; i < 5; i++)
		trace_device(builder,
			     &(struct trace_device){
				     .id = i + 1, .tgid = 10, .name = "device", .kind = kinds[i] });
	model = load_trace(builder);
	assert_int_equal(model->devices.count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(model->devices.row[i].anchored, i > 0);
	model_free(model);
}

static void symbols_of_device_tasks_become_readable(void **state)
{
	static const char *const names[][2] = {
		{ "_Z6scaledPfi", "scaled" },
		{ "_Z6scaledPfi", "scaled" },
		{ "void kernel<int>(float*)", "void kernel<int>(float*)" },
		{ "_Z", "_Z" },
	};
	struct trace_builder *builder = session();
	struct model *model;

	trace_target(builder, 1000, 10, 10, "t");
	trace_device(builder, &(struct trace_device){ .id = 3, .tgid = 10, .name = "gpu0" });
	for (int i = 0; i < 4; i++)
		trace_device_task(builder, &(struct trace_device_task_row){ .device = 3,
									    .queued_ns = 2000 + i,
									    .start_ns = 2010 + i,
									    .end_ns = 2020 + i,
									    .name = names[i][0],
									    .tid = 10 });
	model = load_trace(builder);
	assert_int_equal(model->tasks.count, 4);
	for (int i = 0; i < 4; i++)
		assert_string_equal(model_text(model, model->tasks.row[i].name), names[i][1]);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_device_tasks_survive),
		cmocka_unit_test(counters_of_devices_are_anchored),
		cmocka_unit_test(symbols_of_device_tasks_become_readable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
