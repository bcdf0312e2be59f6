/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by step: the step of each task, the operator's time in it, and operators with changing shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/operator_steps.h"
#include "tests/unit/small_model.h"

#define STEPS 3

static void add(struct model *model, const char *name, uint64_t start_ns, uint64_t ns,
		const char *shapes)
{
	struct device_task *task = small_task(model, 0, start_ns, start_ns + ns);
	struct task_detail detail = { .input_shapes = model_string(model, shapes) };

	task->name = model_string(model, name);
	task->type = model_string(model, "MatMul");
	assert_true(MODEL_PUSH(&model->task_details, detail));
	task->detail = model->task_details.count;
}

/*
 * Steps 4 to 6 of 1,000 ns; fc1 takes 100, 200, 300 ns, twice in the last step; fc2 takes 50 ns in all but the first.
 */
static struct model *make_model(struct device_step_results *steps, struct device_step_trace *trace,
				struct device_step_row *rows)
{
	struct model *model = small_model(0, 100000);

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(model, "fc1", 500, 100, "1,1"); /* before all steps */
	for (uint64_t i = 0; i < STEPS; i++) {
		rows[i] = (struct device_step_row){ .number = 4 + i,
						    .start_ns = 1000 + 1000 * i,
						    .end_ns = 2000 + 1000 * i };
		add(model, "fc1", 1000 + 1000 * i, 100 + 100 * i, i ? "8,8" : "4,4");
		if (i)
			add(model, "fc2", 1500 + 1000 * i, 50, "2,2");
	}
	add(model, "fc1", 3600, 30, "9,9");
	add(model, "fc2", 4000, 10, "2,2"); /* after all steps */
	small_index(model);
	*trace = (struct device_step_trace){ .rows = rows, .count = STEPS };
	*steps = (struct device_step_results){ .traces = trace, .count = 1 };
	return model;
}

static void types_and_instances(void **state)
{
	static const struct analysis_options options;
	struct operator_step_results results;
	struct device_step_row rows[STEPS];
	const struct operator_series *series;
	struct device_step_trace trace;
	struct device_step_results steps;
	struct model *model = make_model(&steps, &trace, rows);

	assert_int_equal(operator_steps_analyse(model, &options, &steps, &results), 0);
	assert_int_equal(results.count, 3);
	series = results.series;
	assert_true(series[0].of_type && !series[1].of_type);
	assert_string_equal(model_text(model, series[0].type), "MatMul");
	assert_int_equal(series[0].total_ns, 730);
	assert_int_equal(series[0].count, STEPS);
	assert_int_equal(series[0].min_ns, 100);
	assert_int_equal(series[0].max_ns, 380);
	assert_string_equal(model_text(model, series[1].name), "fc1");
	assert_int_equal(series[1].total_ns, 630);
	assert_true(series[1].mean_ns == 210);
	assert_true(series[1].shaped);
	assert_int_equal(series[1].changes, 2);
	assert_int_equal(results.steps[series[1].first].step, 4);
	assert_int_equal(results.steps[series[1].first + 2].count, 2);
	assert_int_equal(results.steps[series[1].first + 2].max_ns, 300);
	assert_int_equal(results.steps[series[1].first + 2].input_shapes, OPERATOR_SEVERAL);
	assert_string_equal(model_text(model, series[2].name), "fc2");
	assert_int_equal(series[2].count, 2);
	assert_int_equal(series[2].changes, 0);
	assert_int_equal(results.steps[series[2].first].step, 5);
	operator_steps_free(&results);
	model_free(model);
}

/* Shapes count only for an operator that has some; its type has many. */
static void without_shapes(void **state)
{
	static const struct analysis_options options;
	struct device_step_row row = { .number = 1, .start_ns = 1000, .end_ns = 2000 };
	struct device_step_trace trace = { .rows = &row, .count = 1 };
	struct device_step_results steps = { .traces = &trace, .count = 1 };
	struct operator_step_results results;
	struct model *model = small_model(0, 100000);

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(model, "fc1", 1000, 100, "1,1");
	add(model, "norm", 1100, 50, "");
	small_index(model);
	assert_int_equal(operator_steps_analyse(model, &options, &steps, &results), 0);
	assert_int_equal(results.count, 3);
	assert_true(results.series[0].of_type && !results.series[0].shaped);
	assert_string_equal(model_text(model, results.series[1].name), "fc1");
	assert_true(results.series[1].shaped);
	assert_string_equal(model_text(model, results.series[2].name), "norm");
	assert_false(results.series[2].shaped);
	operator_steps_free(&results);
	model_free(model);
}

static void filters(void **state)
{
	static const struct analysis_options options = { .operators.name = "fc2" };
	struct operator_step_results results;
	struct device_step_row rows[STEPS];
	struct device_step_trace trace;
	struct device_step_results steps;
	struct model *model = make_model(&steps, &trace, rows);

	assert_int_equal(operator_steps_analyse(model, &options, &steps, &results), 0);
	assert_int_equal(results.count, 2);
	assert_int_equal(results.series[0].total_ns, 100);
	operator_steps_free(&results);
	steps.count = 0;
	assert_int_equal(operator_steps_analyse(model, &options, &steps, &results), 0);
	assert_int_equal(results.count, 0);
	operator_steps_free(&results);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_and_instances),
		cmocka_unit_test(without_shapes),
		cmocka_unit_test(filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
