/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by name, type and core; searches, limits and orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/fuzzy.h"
#include "analyzer/analyse/device/operator_groups.h"
#include "analyzer/analyse/device/operators.h"
#include "analyzer/cli/command_line.h"
#include "tests/unit/small_model.h"

#define KERNEL PROFBPF__DEVICE_TASKS__KIND__KERNEL
#define COPY PROFBPF__DEVICE_TASKS__KIND__COPY
#define COMMUNICATION PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION

static void fuzzy_search(void **state)
{
	assert_true(text_fuzzy("BatchMatMulV2", "mat_mul"));
	assert_true(text_fuzzy("Default/bmm/Mat-Mul_3", "matmul"));
	assert_true(text_fuzzy("void cutlass::gemm<float>", "float gemm"));
	assert_true(text_fuzzy("anything", ""));
	assert_true(text_fuzzy("anything", NULL));
	assert_true(text_fuzzy("", " "));
	assert_true(text_fuzzy("x", "_"));
	assert_true(text_fuzzy("aab", "ab"));
	assert_false(text_fuzzy("MatMul", "mat add"));
	assert_false(text_fuzzy("MatMu", "matmul"));
	assert_false(text_fuzzy("", "x"));
	assert_true(text_in_list("MatMulV2", "Add,matmul*"));
	assert_true(text_in_list("copy", "copy"));
	assert_true(text_in_list("copy", NULL));
	assert_false(text_in_list("copy", "copyx,cop"));
	assert_false(text_in_list("copy", ""));
}

static struct device_task *add(struct model *model, const char *name, const char *type,
			       const char *core, uint64_t ns, uint8_t kind)
{
	static uint64_t now_ns = 1000;
	struct device_task *task = small_task(model, 0, now_ns, now_ns + ns);

	now_ns += ns + 10;
	task->name = model_string(model, name);
	task->type = model_string(model, type);
	task->core = model_string(model, core);
	task->kind = kind;
	return task;
}

static void add_inputs(struct model *model, struct device_task *task, const char *types)
{
	struct task_detail detail = { .input_types = model_string(model, types) };

	assert_true(MODEL_PUSH(&model->task_details, detail));
	task->detail = model->task_details.count;
}

/* 1,000 ns: MatMul 600 in three tasks, Cast 100, a collective 200, a copy 100. */
static struct model *make_model(void)
{
	struct model *model = small_model(0, 1000000);

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add_inputs(model, add(model, "net/MatMul-op1", "MatMul", "AI_CORE", 100, KERNEL),
		   "FLOAT16;FLOAT16");
	add_inputs(model, add(model, "net/MatMul-op1", "MatMul", "AI_CORE", 200, KERNEL),
		   "FLOAT;FLOAT");
	add(model, "net/MatMul-op2", "MatMul", "MIX_AIC", 300, KERNEL);
	add(model, "net/Cast-op3", "Cast", "AI_CPU", 100, KERNEL);
	add(model, "hcom_allReduce", "", "", 200, COMMUNICATION);
	add(model, "MemcpyAsync", "", "", 100, COPY);
	return model;
}

static struct operator_usage *list(struct model *model, struct operator_options of, uint32_t *count)
{
	struct analysis_options options = { .operators = of };
	struct operator_list rows;

	assert_int_equal(operators_analyse(model, &options, &rows), 0);
	*count = rows.count;
	free(rows.metrics.row);
	return rows.rows;
}

static void by_type_and_core(void **state)
{
	struct model *model = make_model();
	struct operator_usage *rows;
	uint32_t count;

	rows = list(model, (struct operator_options){ .by = OPERATOR_BY_TYPE }, &count);
	/* MatMul on two kinds of AI cores is one row; tasks without a type are grouped by kind. */
	assert_int_equal(count, 4);
	assert_string_equal(operator_type(model, &rows[0]), "MatMul");
	assert_int_equal(rows[0].count, 3);
	assert_int_equal(rows[0].total_ns, 600);
	assert_int_equal(rows[0].min_ns, 100);
	assert_int_equal(rows[0].max_ns, 300);
	assert_true(rows[0].percent > 59.99 && rows[0].percent < 60.01);
	assert_string_equal(operator_type(model, &rows[1]), "communication");
	free(rows);
	rows = list(model, (struct operator_options){ .by = OPERATOR_BY_CORE }, &count);
	assert_int_equal(count, 4);
	assert_string_equal(operator_core_name(rows[0].core), "AICORE");
	assert_string_equal(operator_core_name(rows[1].core), "communication");
	assert_string_equal(operator_core_name(rows[2].core), "AICPU");
	assert_string_equal(operator_core_name(rows[3].core), "copy");
	free(rows);
	model_free(model);
}

static void searches_and_limits(void **state)
{
	struct model *model = make_model();
	struct operator_usage *rows;
	uint32_t count;

	rows = list(model, (struct operator_options){ .name = "mat mul" }, &count);
	assert_int_equal(count, 2);
	assert_true(rows[0].percent > 29.99 && rows[0].percent < 30.01);
	free(rows);
	rows = list(model, (struct operator_options){ .dtype = "float16" }, &count);
	assert_int_equal(count, 1);
	assert_int_equal(rows[0].total_ns, 100);
	assert_true(rows[0].percent > 9.99 && rows[0].percent < 10.01);
	free(rows);
	rows = list(model, (struct operator_options){ .types = "ca?t,copy" }, &count);
	assert_int_equal(count, 2);
	free(rows);
	rows = list(model, (struct operator_options){ .types = "aicore" }, &count);
	assert_int_equal(count, 2);
	free(rows);
	rows = list(model, (struct operator_options){ .min_ns = 200, .max_ns = 200 }, &count);
	assert_int_equal(count, 1);
	assert_string_equal(model_text(model, rows[0].name), "hcom_allReduce");
	free(rows);
	rows = list(model, (struct operator_options){ .name = "no such" }, &count);
	assert_int_equal(count, 0);
	free(rows);
	model_free(model);
}

static void figures_and_orders(void **state)
{
	struct model *model = make_model();
	struct operator_options options = { .by = OPERATOR_BY_TYPE };
	struct operator_usage *rows;
	uint32_t count;

	assert_true(parse_operator_value("mean", &options));
	rows = list(model, options, &count);
	assert_int_equal(rows[0].value_ns, 200);
	assert_int_equal(rows[3].value_ns, 100);
	free(rows);
	assert_true(parse_operator_value("min", &options));
	rows = list(model, options, &count);
	assert_string_equal(operator_type(model, &rows[0]), "communication");
	free(rows);
	assert_true(parse_operator_order("+count", &options));
	rows = list(model, options, &count);
	assert_int_equal(rows[3].count, 3);
	free(rows);
	assert_true(parse_operator_order("type", &options));
	rows = list(model, options, &count);
	assert_string_equal(operator_type(model, &rows[0]), "copy");
	assert_string_equal(operator_type(model, &rows[3]), "Cast");
	free(rows);
	assert_true(parse_operator_by("core", &options));
	assert_int_equal(options.by, OPERATOR_BY_CORE);
	assert_false(parse_operator_order("size", &options));
	assert_false(parse_operator_value("median", &options));
	assert_false(parse_operator_by("", &options));
	model_free(model);
}

/* Adds a task with its details from the file. */
static void add_detailed(struct model *model, uint64_t ns, const char *shapes,
			 struct task_detail detail)
{
	struct device_task *task =
		add(model, "Default/net/fc/MatMul-op1", "MatMul", "AI_CORE", ns, KERNEL);

	detail.input_shapes = model_string(model, shapes);
	assert_true(MODEL_PUSH(&model->task_details, detail));
	task->detail = model->task_details.count;
}

static void add_counter(struct model *model, const char *name, double value)
{
	struct task_metric metric = { .name = model_string(model, name), .value = value };

	assert_true(MODEL_PUSH(&model->task_metrics, metric));
}

/* A million groups with two counters each must not take 64 rows of counters each. */
static void groups_are_small(void **state)
{
	const struct analysis_options everything = { 0 };
	struct model *model = small_model(0, 1000000);
	struct operator_groups groups;

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < 3; i++) {
		add_counter(model, "aic_mac_ratio", 0.5);
		add_counter(model, "aicore_time(us)", 4);
	}
	add_counter(model, "a third", 1);
	for (uint32_t i = 0; i < 2; i++)
		add_detailed(model, 100, i ? "2,3" : "4,5",
			     (struct task_detail){ .first_metric = i * 2, .metric_count = 2 });
	/* A later task of the group has one more. */
	add_detailed(model, 100, "2,3", (struct task_detail){ .first_metric = 4, .metric_count = 3 });
	small_index(model);
	assert_int_equal(operator_groups_find(model, &everything, &groups), 0);
	assert_int_equal(groups.count, 2);
	assert_int_equal(groups.row[0].metrics.count, 2);
	assert_int_equal(groups.row[0].metrics.capacity, 2);
	assert_int_equal(groups.row[1].metrics.count, 3);
	assert_int_equal(groups.row[1].metrics.row[1].tasks, 2);
	assert_int_equal(groups.row[1].metrics.row[2].tasks, 1);
	operator_groups_free(&groups);
	model_free(model);
}

#define near(a, b) assert_true((a) > (b) - 0.001 && (a) < (b) + 0.001)

/* Three tasks: two with figures of their work, all with shapes, two with counters. */
static struct model *detailed_model(void)
{
	struct model *model = small_model(0, 1000000);

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add_counter(model, "aic_mac_ratio", 0.5);
	add_counter(model, "aicore_time(us)", 4);
	add_counter(model, "aic_mac_ratio", 0.9);
	add_counter(model, "aicore_time(us)", 8);
	add_detailed(model, 100, "2,3",
		     (struct task_detail){ .known = MODEL_DETAIL_FLOPS | MODEL_DETAIL_MOVED,
					   .flops = 1000,
					   .moved_bytes = 50,
					   .metric_count = 2 });
	add_detailed(model, 300, "4,3",
		     (struct task_detail){ .known = MODEL_DETAIL_FLOPS,
					   .flops = 3000,
					   .first_metric = 2,
					   .metric_count = 2 });
	add_detailed(model, 100, "2,3", (struct task_detail){ 0 });
	return model;
}

static void work_and_shapes(void **state)
{
	struct model *model = detailed_model();
	struct analysis_options options = { 0 };
	const struct operator_figures *figures;
	struct operator_list list;
	double value;

	assert_int_equal(operators_analyse(model, &options, &list), 0);
	assert_int_equal(list.count, 1);
	figures = &list.rows[0].figures;
	assert_int_equal(figures->counted, 2);
	near(figures->flops, 4000);
	assert_true(operator_flops_rate(figures, &value));
	near(value, 4000 / 400e-9);
	assert_false(operator_flops_percent(model, 0, figures, &value));
	model->devices.row[0].peak_flops = 20e9;
	assert_true(operator_flops_percent(model, 0, figures, &value));
	near(value, 50);
	assert_true(operator_bandwidth(figures, &value));
	near(value, 50 / 100e-9);
	assert_false(operator_bandwidth_percent(model, 0, figures, &value));
	assert_int_equal(figures->detailed, 3);
	assert_int_equal(figures->variants, 2);
	assert_int_equal(figures->input_shapes, OPERATOR_SEVERAL);
	assert_int_equal(figures->metric_count, 2);
	/* Ratios are weighted by time: (0.5 * 100 + 0.9 * 300) / 400; times are not. */
	near(list.metrics.row[figures->first_metric].mean, 0.8);
	near(list.metrics.row[figures->first_metric + 1].mean, 6);
	operators_free(&list);
	model_free(model);
}

static void shapes_and_scopes(void **state)
{
	struct analysis_options options = { .operators.by = OPERATOR_BY_SHAPE };
	struct model *model = detailed_model();
	struct operator_list list;

	add(model, "Add", "Add", "AI_CORE", 50, KERNEL);
	assert_int_equal(operators_analyse(model, &options, &list), 0);
	assert_int_equal(list.count, 3);
	assert_string_equal(model_text(model, list.rows[0].figures.input_shapes), "4,3");
	assert_int_equal(list.rows[1].count, 2);
	assert_int_equal(list.rows[1].figures.variants, 1);
	assert_int_equal(list.rows[2].figures.detailed, 0);
	operators_free(&list);
	options.operators.by = OPERATOR_BY_SCOPE;
	assert_int_equal(operators_analyse(model, &options, &list), 0);
	assert_int_equal(list.count, 2);
	assert_string_equal(model_text(model, list.rows[0].name), "Default/net");
	assert_int_equal(list.rows[1].name, 0);
	operators_free(&list);
	options.operators.scope_depth = 7;
	options.operators.types = "matmul";
	assert_int_equal(operators_analyse(model, &options, &list), 0);
	assert_int_equal(list.count, 1);
	assert_string_equal(model_text(model, list.rows[0].name), "Default/net/fc");
	operators_free(&list);
	assert_int_equal(operator_scope("MatMul", 3), 0);
	assert_int_equal(operator_scope("a/b", 0), 0);
	model_free(model);
}

/* A type with several names, whose tasks alternate: each name has its own details, once. */
static void several_names(void **state)
{
	struct analysis_options options = { .operators.by = OPERATOR_BY_TYPE };
	struct model *model = detailed_model();
	const uint32_t name = model_string(model, "MatMul_2");
	const struct operator_figures *figures;
	struct operator_list list;

	for (uint32_t i = 0, count = model->tasks.count; i < count; i++) {
		struct device_task task = model->tasks.row[i];

		task.name = name;
		task.end_ns += 700;
		assert_true(MODEL_PUSH(&model->tasks, task));
	}
	assert_int_equal(operators_analyse(model, &options, &list), 0);
	assert_int_equal(list.count, 1);
	figures = &list.rows[0].figures;
	assert_int_equal(list.rows[0].count, 6);
	assert_int_equal(list.rows[0].total_ns, 500 + 500 + 3 * 700);
	assert_int_equal(list.rows[0].min_ns, 100);
	assert_int_equal(list.rows[0].max_ns, 1000);
	assert_int_equal(figures->counted, 4);
	assert_int_equal(figures->counted_ns, 400 + 1800);
	near(figures->flops, 8000);
	assert_int_equal(figures->detailed, 6);
	assert_int_equal(figures->variants, 2);
	assert_int_equal(figures->input_shapes, OPERATOR_SEVERAL);
	assert_int_equal(figures->metric_count, 2);
	near(list.metrics.row[figures->first_metric].mean,
	     (0.5 * (100 + 800) + 0.9 * (300 + 1000)) / 2200);
	assert_int_equal(list.metrics.row[figures->first_metric].tasks, 4);
	near(list.metrics.row[figures->first_metric + 1].mean, 6);
	operators_free(&list);
	options.operators = (struct operator_options){ .name = "matmul 2" };
	assert_int_equal(operators_analyse(model, &options, &list), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.rows[0].count, 3);
	near(list.rows[0].percent, 100.0 * 2600 / 3100);
	operators_free(&list);
	model_free(model);
}

/* Unknown values come last. */
static void order_by_figures(void **state)
{
	struct analysis_options options = { .operators.by = OPERATOR_BY_SHAPE };
	struct model *model = detailed_model();
	struct operator_list list;

	assert_true(parse_operator_order("bytes", &options.operators));
	assert_int_equal(operators_analyse(model, &options, &list), 0);
	assert_string_equal(model_text(model, list.rows[0].figures.input_shapes), "2,3");
	operators_free(&list);
	assert_true(parse_operator_order("flops", &options.operators));
	assert_int_equal(operators_analyse(model, &options, &list), 0);
	assert_string_equal(model_text(model, list.rows[0].figures.input_shapes), "4,3");
	operators_free(&list);
	assert_true(parse_operator_order("bandwidth", &options.operators));
	assert_true(parse_operator_order("rate", &options.operators));
	assert_true(parse_operator_order("utilization", &options.operators));
	model_free(model);
}

/* Rows of equal figures come in one order, whatever the figure and its direction. */
static void order_among_equals(void **state)
{
	struct analysis_options options = { .operators.by = OPERATOR_BY_SHAPE };
	struct model *model = small_model(0, 1000000);
	static const char *const shapes[] = { "2,3", "4,3", "5,3", "6,3" };
	struct operator_list list;

	(void)state;
	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < 4; i++)
		model_string(model, shapes[i]);
	for (uint32_t i = 0; i < 4; i++)
		add_detailed(model, 100, shapes[3 - i], (struct task_detail){ 0 });
	/* Of another core and kind. */
	add(model, "copy", "", "DSA", 100, COPY);
	for (int ascending = 0; ascending < 2; ascending++) {
		options.operators.ascending = ascending;
		assert_int_equal(operators_analyse(model, &options, &list), 0);
		assert_int_equal(list.count, 5);
		for (uint32_t i = 0; i < 4; i++)
			assert_string_equal(model_text(model, list.rows[i].figures.input_shapes), shapes[i]);
		assert_string_equal(model_text(model, list.rows[4].name), "copy");
		operators_free(&list);
	}
	model_free(model);
}

/* The largest one in any order; none among selected rows, which may lack it, and by a figure that is no sum. */
static void largest(void **state)
{
	struct analysis_options options = { .operators.by = OPERATOR_BY_NAME };
	static const struct operator_options of_some[] = { { .by = OPERATOR_BY_NAME, .name = "copy" },
							   { .by = OPERATOR_BY_NAME, .min_ns = 1 },
							   { .by = OPERATOR_BY_NAME, .value = OPERATOR_MEAN } };
	struct model *model = small_model(0, 1000000);
	struct operator_list list;

	(void)state;
	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(model, "copy", "", "DSA", 100, COPY);
	add(model, "gemm", "", "DSA", 300, COPY);
	for (int ascending = 0; ascending < 2; ascending++) {
		options.operators.ascending = ascending;
		assert_int_equal(operators_analyse(model, &options, &list), 0);
		assert_string_equal(model_text(model, operators_largest(&list)->name), "gemm");
		operators_free(&list);
	}
	for (size_t i = 0; i < sizeof(of_some) / sizeof(*of_some); i++) {
		options.operators = of_some[i];
		assert_int_equal(operators_analyse(model, &options, &list), 0);
		assert_true(list.count > 0);
		assert_null(operators_largest(&list));
		operators_free(&list);
	}
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fuzzy_search),
		cmocka_unit_test(by_type_and_core),
		cmocka_unit_test(searches_and_limits),
		cmocka_unit_test(figures_and_orders),
		cmocka_unit_test(groups_are_small),
		cmocka_unit_test(work_and_shapes),
		cmocka_unit_test(shapes_and_scopes),
		cmocka_unit_test(several_names),
		cmocka_unit_test(order_by_figures),
		cmocka_unit_test(largest),
		cmocka_unit_test(order_among_equals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
