/* SPDX-License-Identifier: Apache-2.0 */
/* Groups with quotas: their figures in the session and in parts of it, and which group around a group limits it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/host/cgroup_limits.h"
#include "tests/unit/small_model.h"

struct scene {
	struct model *model;
	uint32_t process;
};

static uint32_t add_group(struct scene *scene, const char *path)
{
	struct cgroup row = { .path = model_string(scene->model, path) };

	assert_true(MODEL_PUSH(&scene->model->cgroups, row));
	return scene->model->cgroups.count - 1;
}

static void add_stat(struct scene *scene, uint32_t group, uint64_t ts_ns, uint64_t usage_ns, uint32_t flags)
{
	struct cgroup_stat row = { .ts_ns = ts_ns,
				   .cgroup = group,
				   .flags = flags,
				   .quota_ns = 50,
				   .period_ns = 100,
				   .periods = usage_ns / 10,
				   .usage_ns = usage_ns };

	assert_true(MODEL_PUSH(&scene->model->cgroup_stats, row));
}

static void add_place(struct scene *scene, uint32_t process, uint64_t ts_ns, uint32_t group)
{
	struct process_stat row = { .ts_ns = ts_ns, .process = process, .cgroup = group };

	assert_true(MODEL_PUSH(&scene->model->process_stats, row));
}

static void begin(struct scene *scene)
{
	*scene = (struct scene){ .model = small_model(1000, 2000) };
	scene->model->info.session_start_ns = 1000;
	scene->model->info.session_end_ns = 2000;
	scene->process = small_process(scene->model, 100, "job", true);
}

/* Two groups with readings; the first and the last reading are taken close to the session's ends. */
static void windows(void **state)
{
	static const struct {
		uint64_t from_ns, to_ns; /* 0 = none */
		uint64_t usage_ns;
		uint32_t intervals;
	} CASES[] = {
		{ 0, 0, 90, 3 },      { 1000, 2000, 90, 3 }, { 1001, 2000, 90, 2 }, { 1200, 1500, 30, 1 },
		{ 1100, 1300, 20, 1 }, { 1201, 1500, 30, 0 }, { 1199, 1500, 31, 1 }, { 1200, 1501, 30, 2 },
		{ 1600, 1700, 10, 0 }, { 1350, 1450, 10, 0 },
	};
	struct cgroup_results results;
	struct scene scene;
	uint32_t one, two;

	begin(&scene);
	two = add_group(&scene, "/two");
	one = add_group(&scene, "/one");
	add_stat(&scene, two, 1010, 5, MODEL_CGROUP_USAGE);
	add_stat(&scene, one, 1000, 10, MODEL_CGROUP_USAGE | MODEL_CGROUP_QUOTA);
	add_stat(&scene, one, 1200, 30, MODEL_CGROUP_USAGE | MODEL_CGROUP_QUOTA);
	add_stat(&scene, one, 1500, 60, MODEL_CGROUP_USAGE);
	add_stat(&scene, one, 1900, 100, MODEL_CGROUP_USAGE | MODEL_CGROUP_QUOTA);
	add_place(&scene, scene.process, 1100, two);
	add_place(&scene, scene.process, 1200, one);
	add_place(&scene, scene.process, 1300, INDEX_NONE);
	assert_int_equal(cgroup_last(scene.model, scene.process), one);
	assert_int_equal(cgroup_last(scene.model, scene.process + 1), INDEX_NONE);
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct analysis_options options = { .from_ns = CASES[i].from_ns, .to_ns = CASES[i].to_ns };

		assert_int_equal(cgroups_analyse(scene.model, &options, &results), 0);
		assert_int_equal(results.count, 2);
		assert_int_equal(results.row[0].cgroup, one); /* in the order of paths */
		assert_int_equal(results.row[0].processes, 1);
		assert_int_equal(results.row[1].processes, 0);
		assert_int_equal(results.row[0].flags, MODEL_CGROUP_USAGE);
		if (results.row[0].all.usage_ns != CASES[i].usage_ns ||
		    results.row[0].interval_count != CASES[i].intervals)
			fail_msg("case %zu: %llu, %u", i, (unsigned long long)results.row[0].all.usage_ns,
				 results.row[0].interval_count);
		assert_int_equal(results.row[1].all.usage_ns, 0);
		assert_int_equal(results.row[1].interval_count, 0);
		cgroups_free_results(&results);
	}
	model_free(scene.model);
}

/* The smallest quota of a group and its ancestors; a folder's name that is a prefix of another one is no ancestor. */
static void limits(void **state)
{
	struct scene scene;
	uint32_t jobs, one, inner, other;
	uint64_t quota_ns, period_ns;

	begin(&scene);
	jobs = add_group(&scene, "/jobs");
	one = add_group(&scene, "/jobs/one");
	inner = add_group(&scene, "/jobs/one/inner");
	other = add_group(&scene, "/jobs/on");
	for (uint32_t i = jobs; i <= other; i++) {
		add_stat(&scene, i, 1000, 10, MODEL_CGROUP_QUOTA);
		add_stat(&scene, i, 1200, 10, MODEL_CGROUP_QUOTA);
	}
	/* The last reading counts; of equal quotas, the first one. */
	assert_int_equal(cgroup_limit(scene.model, inner), jobs);
	scene.model->cgroup_stats.row[2 * jobs + 1].quota_ns = 49;
	assert_int_equal(cgroup_limit(scene.model, inner), jobs);
	scene.model->cgroup_stats.row[2 * one + 1].quota_ns = 96;
	scene.model->cgroup_stats.row[2 * one + 1].period_ns = 200;
	assert_int_equal(cgroup_limit(scene.model, inner), one); /* 48 % */
	scene.model->cgroup_stats.row[2 * other + 1].quota_ns = 1;
	assert_int_equal(cgroup_limit(scene.model, inner), one);
	assert_true(cgroup_quota(scene.model, one, &quota_ns, &period_ns));
	assert_int_equal(quota_ns, 96);
	assert_int_equal(period_ns, 200);
	scene.model->cgroup_stats.row[2 * one + 1].quota_ns = 0;
	assert_false(cgroup_quota(scene.model, one, &quota_ns, &period_ns));
	assert_int_equal(cgroup_limit(scene.model, inner), jobs);
	for (uint32_t i = 0; i < scene.model->cgroup_stats.count; i++)
		scene.model->cgroup_stats.row[i].flags = 0;
	assert_false(cgroup_quota(scene.model, jobs, &quota_ns, &period_ns));
	assert_int_equal(cgroup_limit(scene.model, inner), inner);
	model_free(scene.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
