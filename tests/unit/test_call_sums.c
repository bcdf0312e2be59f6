/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of a device file's scopes, and of ioctls: which calls count, which are nested in which, and the order of rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/calls/ioctl.h"
#include "analyzer/analyse/calls/scopes.h"
#include "tests/unit/small_model.h"

static uint32_t add_function(struct model *model, const char *name, uint8_t scope)
{
	uint32_t row = small_function(model, "torch", name, PROFBPF__FUNCTION__KIND__MARKER);

	model->functions.row[row].scope = scope;
	return row;
}

static const struct scope_usage *usage_of(const struct scope_results *results, uint32_t function, uint32_t process)
{
	for (uint32_t i = 0; i < results->count; i++)
		if (results->row[i].function == function && results->row[i].process == process)
			return &results->row[i];
	return NULL;
}

static void check(const struct scope_usage *row, uint64_t count, uint64_t total_ns, uint64_t self_ns, uint64_t min_ns,
		  uint64_t max_ns)
{
	assert_non_null(row);
	assert_int_equal(row->count, count);
	assert_int_equal(row->total_ns, total_ns);
	assert_int_equal(row->self_ns, self_ns);
	assert_int_equal(row->min_ns, min_ns);
	assert_int_equal(row->max_ns, max_ns);
}

struct scene {
	struct model *model;
	uint32_t first, second, main, helper, other;
	uint32_t add, mm, step, launch;
};

static void begin(struct scene *scene)
{
	*scene = (struct scene){ .model = small_model(0, 10000) };
	scene->first = small_process(scene->model, 100, "first", true);
	scene->second = small_process(scene->model, 200, "second", true);
	scene->main = small_thread(scene->model, scene->first, 100, "main");
	scene->helper = small_thread(scene->model, scene->first, 101, "helper");
	scene->other = small_thread(scene->model, scene->second, 200, "other");
	scene->add = add_function(scene->model, "aten::add", SCOPE_OPERATOR);
	scene->mm = add_function(scene->model, "aten::mm", SCOPE_OPERATOR);
	scene->step = add_function(scene->model, "ProfilerStep#1", SCOPE_RANGE);
	scene->launch = add_function(scene->model, "cudaLaunchKernel", SCOPE_NONE);
}

static void scopes(void **state)
{
	const struct analysis_options options = { 0 };
	struct scope_results results;
	struct scene scene;

	begin(&scene);
	small_call(scene.model, scene.main, scene.step, 100, 1000);
	small_call(scene.model, scene.main, scene.add, 100, 200);
	small_call(scene.model, scene.main, scene.launch, 150, 160);
	small_call(scene.model, scene.main, scene.mm, 200, 300); /* begins after the part */
	small_call(scene.model, scene.main, scene.mm, 210, 250); /* nested in a scope of the same name */
	small_call(scene.model, scene.main, scene.add, 220, 230);
	small_call(scene.model, scene.main, scene.add, 500, 500);
	small_call(scene.model, scene.helper, scene.add, 100, 150);
	small_call(scene.model, scene.other, scene.add, 100, 150);
	small_index(scene.model);
	assert_int_equal(scopes_analyse(scene.model, &options, &results), 0);
	assert_int_equal(results.count, 3);
	check(usage_of(&results, scene.add, scene.first), 4, 160, 150, 0, 100);
	check(usage_of(&results, scene.add, scene.second), 1, 50, 50, 50, 50);
	check(usage_of(&results, scene.mm, scene.first), 2, 100, 90, 40, 100);
	assert_null(usage_of(&results, scene.step, scene.first));
	assert_null(usage_of(&results, scene.launch, scene.first));
	for (uint32_t i = 0; i + 1 < results.count; i++)
		assert_true(results.row[i].total_ns > results.row[i + 1].total_ns);
	scopes_free(&results);
	model_free(scene.model);
}

/* Scopes that begin in the part count as a whole; rows of equal time are in order of function, then process. */
static void scopes_of_a_part(void **state)
{
	struct analysis_options options = { .from_ns = 200, .to_ns = 400 };
	uint32_t pids[] = { 200 };
	struct scope_results results;
	struct scene scene;

	begin(&scene);
	small_call(scene.model, scene.main, scene.mm, 100, 250);
	small_call(scene.model, scene.main, scene.mm, 300, 500);
	small_call(scene.model, scene.main, scene.add, 400, 500);
	small_call(scene.model, scene.helper, scene.add, 200, 400);
	small_call(scene.model, scene.other, scene.add, 200, 300);
	small_call(scene.model, scene.other, scene.add, 399, 499);
	small_index(scene.model);
	assert_int_equal(scopes_analyse(scene.model, &options, &results), 0);
	assert_int_equal(results.count, 3);
	check(&results.row[0], 1, 200, 200, 200, 200);
	check(&results.row[1], 2, 200, 200, 100, 100);
	check(&results.row[2], 1, 200, 100, 200, 200); /* the scope nested in it may begin later */
	assert_int_equal(results.row[0].function, scene.add);
	assert_int_equal(results.row[0].process, scene.first);
	assert_int_equal(results.row[1].process, scene.second);
	assert_int_equal(results.row[2].function, scene.mm);
	scopes_free(&results);
	options.pids = pids;
	options.pid_count = 1;
	assert_int_equal(scopes_analyse(scene.model, &options, &results), 0);
	assert_int_equal(results.count, 1);
	scopes_free(&results);
	model_free(scene.model);
	assert_null(scope_name(SCOPE_NONE));
	assert_null(scope_name(SCOPES));
	assert_string_equal(scope_name(SCOPE_DATA), "data loader");
}

static void add_ioctl(struct scene *scene, uint32_t thread, uint32_t driver, uint32_t cmd, uint64_t start_ns, uint64_t end_ns,
		      int32_t ret, uint8_t flags)
{
	struct ioctl_call row = { .thread = thread,
				  .driver = driver,
				  .cmd = cmd,
				  .start_ns = start_ns,
				  .end_ns = end_ns,
				  .ret = ret,
				  .flags = flags };

	assert_true(MODEL_PUSH(&scene->model->ioctls, row));
}

static void ioctls(void **state)
{
	const struct analysis_options options = { .from_ns = 100, .to_ns = 1000 };
	struct ioctl_results results;
	const struct ioctl_usage *row;
	struct scene scene;

	begin(&scene);
	add_ioctl(&scene, scene.main, 0, 7, 99, 500, 0, 0); /* before the part */
	add_ioctl(&scene, scene.main, 0, 7, 100, 150, 0, 0);
	add_ioctl(&scene, scene.helper, 0, 7, 200, 280, -5, 0);
	add_ioctl(&scene, scene.main, 0, 7, 300, 330, -5, MODEL_IOCTL_UNSEEN);
	add_ioctl(&scene, scene.main, 0, 7, 400, 410, -5, MODEL_IOCTL_BEFORE);
	add_ioctl(&scene, scene.main, 0, 7, 500, 900, 0, MODEL_CALL_OPEN);
	add_ioctl(&scene, scene.main, 0, 7, 600, 620, 0, MODEL_CALL_OPEN | MODEL_IOCTL_BEFORE);
	add_ioctl(&scene, scene.main, 0, 8, 999, 1099, 3, 0);
	add_ioctl(&scene, scene.main, 0, 8, 1000, 1100, 3, 0); /* after the part */
	add_ioctl(&scene, scene.main, 0, 9, 300, 350, 0, 0);
	add_ioctl(&scene, scene.main, 0, 9, 400, 450, 0, 0);
	add_ioctl(&scene, scene.main, 1, 7, 300, 400, 0, 0);
	add_ioctl(&scene, scene.other, 0, 7, 300, 400, 0, 0);
	small_index(scene.model);
	assert_int_equal(ioctl_analyse(scene.model, &options, &results), 0);
	/* In order of time; equal rows in order of count, then command, then process. */
	assert_int_equal(results.row_count, 5);
	row = &results.rows[0];
	assert_int_equal(row->cmd, 7);
	assert_int_equal(row->count, 6);
	assert_int_equal(row->open, 2);
	assert_int_equal(row->open_ns, 420);
	assert_int_equal(row->before, 2);
	assert_int_equal(row->before_ns, 10);
	assert_int_equal(row->returned, 3);
	assert_int_equal(row->errors, 2);
	assert_int_equal(row->total_ns, 160);
	assert_int_equal(row->max_ns, 80);
	assert_int_equal(ioctl_mean_ns(row), 53);
	assert_int_equal(results.rows[1].cmd, 9);
	assert_int_equal(results.rows[2].cmd, 7);
	assert_int_equal(results.rows[2].process, scene.first);
	assert_int_equal(results.rows[2].driver, 1);
	assert_int_equal(results.rows[3].cmd, 7);
	assert_int_equal(results.rows[3].process, scene.second);
	assert_int_equal(results.rows[4].cmd, 8);
	assert_int_equal(results.rows[4].errors, 0);
	ioctl_free(&results);
	model_free(scene.model);
}

/* In the kernel's notation as far as a number follows it. */
static void commands(void **state)
{
	static const struct {
		uint32_t cmd;
		const char *text;
	} CASES[] = {
		{ 0x5401, "0x5401" },	       { 0xffff, "0xffff" },
		{ 0x20005401, "0x20005401" },  { 0x40044601, "_IOW('F', 1, 4)" },
		{ 0x80104602, "_IOR('F', 2, 16)" }, { 0xc0104602, "_IOWR('F', 2, 16)" },
		{ 0xc0100102, "_IOWR(0x01, 2, 16)" }, { 0x80004602, "0x80004602" },
		{ 0x00044602, "0x44602" },
	};
	struct scene scene;
	char text[64];

	begin(&scene);
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		assert_string_equal(ioctl_command_name(scene.model, 0, CASES[i].cmd, text, sizeof(text)), CASES[i].text);
	model_free(scene.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes),
		cmocka_unit_test(scopes_of_a_part),
		cmocka_unit_test(ioctls),
		cmocka_unit_test(commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
