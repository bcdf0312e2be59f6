/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's scopes from a device file's timeline of the host: which scope counts, from when, and until when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/host/scope_line.h"
#include "tests/unit/small_model.h"

#define EVER UINT64_MAX

struct scene {
	struct model *model;
	uint32_t process, main, other;
	uint32_t python, library, add, mm, range, module, step, plain;
	struct scope_line *line;
};

static uint32_t add_function(struct scene *scene, const char *name, uint8_t scope)
{
	uint32_t row = small_function(scene->model, "torch", name, PROFBPF__FUNCTION__KIND__MARKER);

	scene->model->functions.row[row].scope = scope;
	return row;
}

static void begin(struct scene *scene)
{
	*scene = (struct scene){ .model = small_model(0, 1000) };
	scene->process = small_process(scene->model, 42, "python", true);
	scene->main = small_thread(scene->model, scene->process, 42, "main");
	scene->other = small_thread(scene->model, scene->process, 43, "other");
	scene->library = add_function(scene, "functional.py(3): relu", SCOPE_LIBRARY);
	scene->add = add_function(scene, "aten::add", SCOPE_OPERATOR);
	scene->mm = add_function(scene, "aten::mm", SCOPE_OPERATOR);
	scene->python = add_function(scene, "train.py(12): step", SCOPE_PYTHON);
	scene->range = add_function(scene, "epoch", SCOPE_RANGE);
	scene->module = add_function(scene, "nn.Module: Linear_0", SCOPE_MODULE);
	scene->step = add_function(scene, "ProfilerStep#3", SCOPE_RANGE);
	scene->plain = add_function(scene, "cudaLaunchKernel", SCOPE_NONE);
}

static void index_all(struct scene *scene)
{
	small_index(scene->model);
	scene->line = scope_line_new(scene->model);
	assert_non_null(scene->line);
}

static void end(struct scene *scene)
{
	scope_line_free(scene->line);
	model_free(scene->model);
}

static void is_in(const struct scene *scene, uint32_t thread, uint64_t at_ns, uint32_t function, uint64_t until_ns)
{
	uint64_t until;

	assert_int_equal(scope_line_at(scene->line, thread, at_ns, &until), function);
	assert_int_equal(until, until_ns);
}

/* From the instant at which it begins, up to that at which it ends; two scopes in a row. */
static void instants(void **state)
{
	struct scene scene;

	begin(&scene);
	small_call(scene.model, scene.main, scene.add, 100, 200);
	small_call(scene.model, scene.main, scene.mm, 200, 300);
	small_call(scene.model, scene.main, scene.mm, 300, 400);
	small_call(scene.model, scene.main, scene.plain, 500, 600);
	small_call(scene.model, scene.main, scene.add, 700, 700); /* without duration */
	index_all(&scene);
	is_in(&scene, scene.main, 0, INDEX_NONE, 100);
	is_in(&scene, scene.main, 99, INDEX_NONE, 100);
	is_in(&scene, scene.main, 100, scene.add, 200);
	is_in(&scene, scene.main, 199, scene.add, 200);
	is_in(&scene, scene.main, 200, scene.mm, 300);
	is_in(&scene, scene.main, 300, scene.mm, 400);
	is_in(&scene, scene.main, 399, scene.mm, 400);
	is_in(&scene, scene.main, 400, INDEX_NONE, EVER);
	is_in(&scene, scene.main, 550, INDEX_NONE, EVER);
	is_in(&scene, scene.other, 150, INDEX_NONE, EVER);
	is_in(&scene, INDEX_NONE, 150, INDEX_NONE, EVER);
	is_in(&scene, 2, 150, INDEX_NONE, EVER);
	end(&scene);
}

/*
 * Of the scopes around an instant the most informative one; of two operators the outer one, of other scopes the inner
 * one.
 */
static void nested(void **state)
{
	static const struct {
		size_t outer, inner;
		bool inner_counts;
	} CASES[] = {
		{ offsetof(struct scene, add), offsetof(struct scene, mm), false },
		{ offsetof(struct scene, library), offsetof(struct scene, add), true },
		{ offsetof(struct scene, library), offsetof(struct scene, library), true },
		{ offsetof(struct scene, add), offsetof(struct scene, library), false },
		{ offsetof(struct scene, add), offsetof(struct scene, python), true },
		{ offsetof(struct scene, python), offsetof(struct scene, add), false },
		{ offsetof(struct scene, module), offsetof(struct scene, range), false },
		{ offsetof(struct scene, range), offsetof(struct scene, module), true },
		{ offsetof(struct scene, range), offsetof(struct scene, range), true },
		{ offsetof(struct scene, module), offsetof(struct scene, step), false },
		{ offsetof(struct scene, step), offsetof(struct scene, library), true },
		{ offsetof(struct scene, module), offsetof(struct scene, plain), false },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct scene scene;
		uint32_t outer, inner, name;

		begin(&scene);
		outer = *(uint32_t *)((char *)&scene + CASES[i].outer);
		inner = *(uint32_t *)((char *)&scene + CASES[i].inner);
		name = outer == scene.step ? INDEX_NONE : outer;
		small_call(scene.model, scene.main, outer, 100, 400);
		small_call(scene.model, scene.main, inner, 200, 300);
		index_all(&scene);
		if (CASES[i].inner_counts && inner != outer) {
			is_in(&scene, scene.main, 150, name, 200);
			is_in(&scene, scene.main, 200, inner, 300);
			is_in(&scene, scene.main, 300, name, name == INDEX_NONE ? EVER : 400);
		} else {
			is_in(&scene, scene.main, 150, name, 400);
			is_in(&scene, scene.main, 250, name, 400);
		}
		is_in(&scene, scene.main, 400, INDEX_NONE, EVER);
		end(&scene);
	}
}

/* Scopes that begin or end at the same instant; one that ends after the scope around it. */
static void borders(void **state)
{
	struct scene scene;

	begin(&scene);
	small_call(scene.model, scene.main, scene.range, 100, 400);
	small_call(scene.model, scene.main, scene.module, 100, 200);
	small_call(scene.model, scene.main, scene.module, 300, 400);
	small_call(scene.model, scene.main, scene.add, 400, 500);
	small_call(scene.model, scene.main, scene.range, 600, 700);
	small_call(scene.model, scene.main, scene.module, 650, 800);
	index_all(&scene);
	is_in(&scene, scene.main, 100, scene.module, 200);
	is_in(&scene, scene.main, 200, scene.range, 300);
	is_in(&scene, scene.main, 300, scene.module, 400);
	is_in(&scene, scene.main, 400, scene.add, 500);
	is_in(&scene, scene.main, 600, scene.range, 650);
	is_in(&scene, scene.main, 700, scene.module, 800);
	is_in(&scene, scene.main, 800, INDEX_NONE, EVER);
	end(&scene);
}

/* A scope that waits counts, whatever is around it or in it; words inside a name are no wait. */
static void waiting(void **state)
{
	static const struct {
		const char *name;
		uint8_t scope;
		bool waits;
	} NAMES[] = {
		{ "$api.py:3165 try_to_block", SCOPE_PYTHON, true },
		{ "$array.py:631 block_until_ready", SCOPE_PYTHON, true },
		{ "BlockHostUntilDone", SCOPE_RANGE, true },
		{ "Wait for usage holds", SCOPE_RANGE, true },
		{ "ThunkExecutor::Execute (wait for completion)", SCOPE_RANGE, true },
		{ "ThunkExecutor::Execute", SCOPE_RANGE, false },
		{ "$train.py:3 try_to_block_often", SCOPE_PYTHON, false },
		{ "block_until_ready", SCOPE_RANGE, false }, /* a name that the job gave */
		{ "BlockHostUntilDone", SCOPE_NONE, false },
	};

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		struct scene scene;
		uint32_t wait;

		begin(&scene);
		wait = add_function(&scene, NAMES[i].name, NAMES[i].scope);
		small_call(scene.model, scene.main, scene.module, 100, 400);
		small_call(scene.model, scene.main, wait, 200, 300);
		small_call(scene.model, scene.main, scene.range, 220, 240);
		index_all(&scene);
		assert_int_equal(scope_line_waits(scene.line, wait), NAMES[i].waits);
		assert_false(scope_line_waits(scene.line, scene.module));
		assert_false(scope_line_waits(scene.line, INDEX_NONE));
		is_in(&scene, scene.main, 150, scene.module, NAMES[i].waits ? 200 : 400);
		is_in(&scene, scene.main, 230, NAMES[i].waits ? wait : scene.module,
		      NAMES[i].waits ? 300 : 400);
		end(&scene);
	}
}

/* The thread with the longest time in scopes; of equal ones the first. */
static void main_thread(void **state)
{
	struct scene scene;

	begin(&scene);
	small_call(scene.model, scene.main, scene.add, 100, 200);
	small_call(scene.model, scene.other, scene.add, 100, 150);
	small_call(scene.model, scene.other, scene.add, 300, 350);
	index_all(&scene);
	assert_int_equal(scope_line_main(scene.line, scene.process), scene.main);
	assert_int_equal(scope_line_main(scene.line, INDEX_NONE), INDEX_NONE);
	scope_line_free(scene.line);
	small_call(scene.model, scene.other, scene.add, 400, 401);
	index_all(&scene);
	assert_int_equal(scope_line_main(scene.line, scene.process), scene.other);
	end(&scene);
	/* No thread was in a scope. */
	begin(&scene);
	index_all(&scene);
	assert_int_equal(scope_line_main(scene.line, scene.process), INDEX_NONE);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instants),
		cmocka_unit_test(nested),
		cmocka_unit_test(borders),
		cmocka_unit_test(waiting),
		cmocka_unit_test(main_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
