/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of probes: of each call and of the calls nested in it, and of all calls that began in a part of the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/calls/probe_cost.h"
#include "tests/unit/small_model.h"

struct scene {
	struct model *model;
	uint32_t process, main, other, outer, inner;
};

/* Probes of outer cost 10 ns inside and 30 in total, those of inner 1 and 3, and a string 100 more. */
static void begin(struct scene *scene)
{
	struct function *rows;

	*scene = (struct scene){ .model = small_model(0, 10000) };
	scene->process = small_process(scene->model, 100, "job", true);
	scene->main = small_thread(scene->model, scene->process, 100, "main");
	scene->other = small_thread(scene->model, small_process(scene->model, 200, "other", true), 200, "other");
	scene->outer = small_function(scene->model, "x", "outer", PROFBPF__FUNCTION__KIND__OTHER);
	scene->inner = small_function(scene->model, "x", "inner", PROFBPF__FUNCTION__KIND__OTHER);
	small_function(scene->model, "x", "unknown", PROFBPF__FUNCTION__KIND__OTHER);
	rows = scene->model->functions.row;
	rows[scene->outer].probe_inside_ns = 10;
	rows[scene->outer].probe_whole_ns = 30;
	rows[scene->inner].probe_inside_ns = 1;
	rows[scene->inner].probe_whole_ns = 3;
	rows[scene->inner].probe_string_ns = 100;
	scene->model->info.probe_cost_count = 1;
}

static struct probe_cost_results analyse(struct scene *scene, const struct analysis_options *options)
{
	struct probe_cost_results results;

	small_index(scene->model);
	assert_int_equal(probe_cost_analyse(scene->model, options, &results), 0);
	return results;
}

/* A call is nested in one on the same thread that began before it and has not ended when it begins. */
static void inside(void **state)
{
	static const uint64_t COSTS[] = { 10 + 3 + 103 + (30 + 3), 1, 101, 10 + 3, 1, 1, 10, 1 };
	struct scene scene;
	struct probe_cost_results results;

	begin(&scene);
	small_call(scene.model, scene.main, scene.outer, 100, 900);
	small_call(scene.model, scene.main, scene.inner, 100, 200);
	small_call(scene.model, scene.main, scene.inner, 200, 300);
	small_call(scene.model, scene.main, scene.outer, 400, 600);
	small_call(scene.model, scene.main, scene.inner, 599, 600);
	small_call(scene.model, scene.main, scene.inner, 900, 950); /* after the outermost call's end */
	small_call(scene.model, scene.main, scene.outer, 1000, 2000);
	small_call(scene.model, scene.other, scene.inner, 1100, 1200);
	scene.model->calls.row[2].text = model_string(scene.model, "gemm");
	scene.model->calls.row[2].named = NAMED_ARGUMENT;
	scene.model->calls.row[4].text = model_string(scene.model, "gemm");
	scene.model->calls.row[4].named = NAMED_FUNCTION; /* the string is not an argument */
	results = analyse(&scene, &(struct analysis_options){ .subtract_probe_cost = true });
	assert_true(results.known && results.subtracted);
	assert_int_equal(results.calls, 8);
	assert_int_equal(results.total_ns, 3 * 30 + 5 * 3 + 100);
	for (uint32_t i = 0; i < sizeof(COSTS) / sizeof(COSTS[0]); i++)
		assert_int_equal(scene.model->call_costs.row[i], COSTS[i]);
	/* For calls that are only counted; never below zero. */
	assert_int_equal(probe_cost_short_ns(scene.model, scene.outer, 3, 31), 1);
	assert_int_equal(probe_cost_short_ns(scene.model, scene.outer, 3, 30), 0);
	assert_int_equal(probe_cost_short_ns(scene.model, scene.outer, 3, 29), 0);
	assert_int_equal(probe_cost_short_ns(scene.model, scene.outer, UINT64_MAX, 29), 0);
	model_free(scene.model);
}

/* Calls that begin in the part, including its first instant; short and counted calls only for the whole. */
static void parts(void **state)
{
	struct short_calls few = { .count = 5 };
	uint32_t pids[] = { 100 };
	struct probe_cost_results results;
	struct scene scene;

	begin(&scene);
	few.function = scene.inner;
	few.process = scene.process;
	assert_true(MODEL_PUSH(&scene.model->short_calls, few));
	few.process = 1;
	assert_true(MODEL_PUSH(&scene.model->short_calls, few));
	scene.model->functions.row[scene.outer].counted_calls = 7;
	scene.model->functions.row[scene.inner].counted_calls = 2;
	scene.model->functions.row[scene.inner].counted_texts = 1;
	scene.model->functions.row[scene.inner + 1].counted_calls = 1000; /* its probe's cost is unknown */
	small_call(scene.model, scene.main, scene.outer, 100, 200);
	small_call(scene.model, scene.main, scene.outer, 500, 600);
	small_call(scene.model, scene.main, scene.inner + 1, 550, 560);
	small_call(scene.model, scene.other, scene.inner, 500, 600);
	results = analyse(&scene, &(struct analysis_options){ 0 });
	assert_false(results.subtracted);
	assert_int_equal(scene.model->call_costs.count, 0);
	assert_int_equal(probe_cost_short_ns(scene.model, scene.outer, 3, 29), 29);
	assert_int_equal(results.calls, 3 + 10 + 9);
	assert_int_equal(results.total_ns, 2 * 30 + 3 + 10 * 3 + 7 * 30 + 2 * 3 + 100);
	results = analyse(&scene, &(struct analysis_options){ .pids = pids, .pid_count = 1 });
	assert_int_equal(results.calls, 2 + 5 + 9);
	results = analyse(&scene, &(struct analysis_options){ .from_ns = 100, .to_ns = 500 });
	assert_int_equal(results.calls, 1);
	assert_int_equal(results.total_ns, 30);
	results = analyse(&scene, &(struct analysis_options){ .from_ns = 101, .to_ns = 501 });
	assert_int_equal(results.calls, 2);
	assert_int_equal(results.total_ns, 33);
	scene.model->info.probe_cost_count = 0;
	results = analyse(&scene, &(struct analysis_options){ .subtract_probe_cost = true });
	assert_true(!results.known && !results.subtracted && !results.calls);
	model_free(scene.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inside),
		cmocka_unit_test(parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
