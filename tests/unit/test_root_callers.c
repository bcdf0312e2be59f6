/* SPDX-License-Identifier: Apache-2.0 */
/* Places of roots whose functions have no names, and the part of a place's time that is spinning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/idle/root_text.h"
#include "tests/unit/idle_scene.h"

/* A function without a name is named by the file, and by the nearest function with a name, rather not by the C library's. */
static void test_callers(void **state)
{
	enum { TIMES, LIBC, FILE_ONLY, VDSO, MADE, FRAMES };
	/* The stacks of three samples; what is said of the place, and what is to be made cheaper. */
	static const struct {
		uint32_t stack[3];
		uint32_t depth;
		const char *place, *work;
		bool generated;
	} tries[] = {
		{ { VDSO, LIBC, TIMES }, 3, "[vdso], called by run_batch", "run_batch", false },
		{ { VDSO, LIBC }, 2, "[vdso], called by clock_gettime", "clock_gettime", false },
		{ { FILE_ONLY, FILE_ONLY, TIMES }, 3, "libfoo.so, called by run_batch", "run_batch", false },
		{ { FILE_ONLY }, 1, "libfoo.so", "libfoo.so", false },
		{ { MADE, TIMES }, 2, "code without a name, called by run_batch", "its code", true },
		{ { MADE, MADE }, 2, "code without a name", "its code", true },
		{ { TIMES, MADE }, 2, "job run_batch", "job run_batch", true },
	};

	(void)state;
	for (size_t try = 0; try < sizeof(tries) / sizeof(*tries); try++) {
		struct scene scene = scene_make();
		struct model *model = scene.model;
		uint32_t frames[FRAMES];
		const struct idle_root *root;
		char text[300];

		frames[TIMES] = scene_frame(model, "run_batch", "/j/job");
		frames[LIBC] = scene_frame(model, "clock_gettime", "/lib/libc.so.6");
		frames[FILE_ONLY] = scene_frame(model, NULL, "/j/libfoo.so");
		frames[VDSO] = scene_frame(model, "[vdso]", NULL);
		frames[MADE] = scene_frame(model, NULL, NULL);
		for (uint32_t i = 0; i < tries[try].depth; i++)
			assert_true(MODEL_PUSH(&model->stack_frames, frames[tries[try].stack[i]]));
		assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 0, tries[try].depth })));
		for (uint64_t i = 0; i < 3; i++)
			assert_true(MODEL_PUSH(&model->stack_samples, ((struct stack_sample){
				.thread = scene.worker, .ts_ns = (110 + i) * US })));
		scene_main_waits(&scene, scene.worker);
		small_span(model, scene.worker, 0, 1000 * US, STATE_RUNNING);
		scene_compute_roots(&scene);
		root = scene_root(&scene, IDLE_USER_CODE, scene.worker);
		assert_int_equal(root->samples, 3);
		assert_int_equal(root->root.generated, tries[try].generated);
		root_place_text(model, NULL, &root->root, text, sizeof(text));
		assert_string_equal(text, tries[try].place);
		root_work_text(model, &root->root, text, sizeof(text));
		assert_string_equal(text, tries[try].work);
		scene_end(&scene);
	}
}

/* A caller is that of the place, not of another function without a name; its own samples are counted apart. */
static void test_callers_apart(void **state)
{
	enum { WORK, FOO, BAR, FRAMES };
	/* Numbers of samples in libfoo.so, in it called by run_batch, in libbar.so called by that, and in run_batch itself. */
	static const struct {
		uint32_t samples[4];
		const char *place;
	} tries[] = {
		{ { 6, 0, 5, 0 }, "libfoo.so" },
		{ { 0, 6, 0, 5 }, "libfoo.so, called by run_batch" },
		{ { 3, 3, 0, 0 }, "libfoo.so, called by run_batch" },
		{ { 4, 2, 0, 0 }, "libfoo.so" },
		{ { 0, 6, 3, 0 }, "libfoo.so, called by run_batch" },
	};

	(void)state;
	for (size_t try = 0; try < sizeof(tries) / sizeof(*tries); try++) {
		struct scene scene = scene_make();
		struct model *model = scene.model;
		uint32_t frames[FRAMES] = { scene_frame(model, "run_batch", "/j/job"), scene_frame(model, NULL, "/j/libfoo.so"),
					    scene_frame(model, NULL, "/j/libbar.so") };
		const uint32_t order[] = { frames[FOO], frames[WORK], frames[BAR], frames[WORK] };
		static const struct code_stack stacks[] = { { 0, 1 }, { 0, 2 }, { 2, 2 }, { 1, 1 } };
		uint64_t at = 110;
		char text[300];

		for (size_t i = 0; i < 4; i++) {
			assert_true(MODEL_PUSH(&model->stack_frames, order[i]));
			assert_true(MODEL_PUSH(&model->code_stacks, stacks[i]));
		}
		for (uint32_t stack = 0; stack < 4; stack++)
			for (uint32_t i = 0; i < tries[try].samples[stack]; i++)
				assert_true(MODEL_PUSH(&model->stack_samples,
						       ((struct stack_sample){ .thread = scene.worker, .ts_ns = at++ * US,
									       .stack = stack })));
		scene_main_waits(&scene, scene.worker);
		small_span(model, scene.worker, 0, 1000 * US, STATE_RUNNING);
		scene_compute_roots(&scene);
		root_place_text(model, NULL, &scene_root(&scene, IDLE_USER_CODE, scene.worker)->root, text, sizeof(text));
		assert_string_equal(text, tries[try].place);
		scene_end(&scene);
	}
}

/* The part of a wait that is spinning, by the CPU samples alone, also where the place is by Python's. */
static void test_spins(void **state)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	struct code_frame python = { .name = model_string(model, "train"), .file = INDEX_NONE,
				     .kind = PROFBPF__STACKS__KIND__PYTHON };
	const struct idle_root *root;

	(void)state;
	scene_frame(model, "gomp_barrier_wait_end", "/l/libgomp.so.1");
	assert_true(MODEL_PUSH(&model->code_frames, python));
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(MODEL_PUSH(&model->stack_frames, i));
		assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ i, 1 })));
	}
	for (uint64_t i = 0; i < 10; i++)
		assert_true(MODEL_PUSH(&model->stack_samples,
				       ((struct stack_sample){ .thread = scene.worker, .ts_ns = (110 + i) * US,
							       .stack = i >= 8 })));
	scene_main_waits(&scene, scene.worker);
	small_span(model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_USER_CODE, scene.worker);
	assert_string_equal(root->word, IDLE_WORD_SPINS);
	assert_int_equal(root->samples, 2);
	assert_int_equal(root->spins_ns, root->ns / 10 * 8);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_callers_apart),
		cmocka_unit_test(test_spins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
