/* SPDX-License-Identifier: Apache-2.0 */
/* CPython's frames for calling functions are removed from stacks, and no other frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/join/thread/python_glue.h"
#include "tests/unit/small_model.h"

#define FRAMES_MAX 16

/* "py:NAME" is a Python function; "FILE:NAME" a native one; "FILE:" a native one without a name. */
static void push_frame(struct model *model, const char *text)
{
	const char *colon = strchr(text, ':');
	char path[64];
	struct code_frame frame = { .kind = PROFBPF__STACKS__KIND__USER, .file = INDEX_NONE };
	struct code_file file = { 0 };

	if (colon[1])
		frame.name = model_string(model, colon + 1);
	if (strncmp(text, "py:", 3) == 0) {
		frame.kind = PROFBPF__STACKS__KIND__PYTHON;
	} else {
		snprintf(path, sizeof(path), "/usr/lib/%.*s", (int)(colon - text), text);
		file.path = model_string(model, path);
		frame.file = model->code_files.count;
		assert_true(MODEL_PUSH(&model->code_files, file));
	}
	assert_true(MODEL_PUSH(&model->stack_frames, model->code_frames.count));
	assert_true(MODEL_PUSH(&model->code_frames, frame));
}

static void expect(const char *const *before, const char *const *after)
{
	struct model *model = small_model(0, 1000);
	struct code_stack stack = { 0 };
	uint32_t depth = 0;

	for (; before[stack.depth]; stack.depth++)
		push_frame(model, before[stack.depth]);
	assert_true(MODEL_PUSH(&model->code_stacks, stack));
	/* Folding again changes nothing. */
	python_glue_fold(model);
	python_glue_fold(model);
	for (; after[depth]; depth++) {
		const char *colon = strchr(after[depth], ':');
		uint32_t frame = model->stack_frames.row[depth];

		assert_in_range(depth, 0, model->code_stacks.row[0].depth);
		assert_string_equal(model_text(model, model->code_frames.row[frame].name), colon + 1);
	}
	assert_int_equal(model->code_stacks.row[0].depth, depth);
	model_free(model);
}

static void test_glue_between_functions_is_taken_out(void **state)
{
	static const char *const before[] = { "python3.11:list_sort", "python3.11:", "python3.11:PyObject_Vectorcall", "py:leaf", "python3.11:_PyEval_Vector",
					      "python3.11:_PyFunction_Vectorcall", "python3.11:",
					      "py:caller", "libpython3.12.so.1.0:method_vectorcall.part.0",
					      "py:main", "python3.11:PyEval_EvalCode", "python3.11:", NULL };
	static const char *const after[] = { "python3.11:list_sort", "python3.11:", "py:leaf", "py:caller", "py:main",
					     "python3.11:PyEval_EvalCode", "python3.11:", NULL };

	(void)state;
	expect(before, after);
}

static void test_everything_else_stays(void **state)
{
	static const char *const before[] = { "py:callback", "python3.11:_PyObject_Call", "libtorch.so:apply",
					      "libtorch.so:", "python3.11:list_sort", "python3.11:_PyEval_EvalFrameDefault",
					      "_datetime.cpython-311.so:", "pythonista:_PyObject_Call", "py:main", NULL };
	static const char *const after[] = { "py:callback", "libtorch.so:apply", "libtorch.so:", "python3.11:list_sort",
					     "python3.11:_PyEval_EvalFrameDefault", "_datetime.cpython-311.so:",
					     "pythonista:_PyObject_Call", "py:main", NULL };
	static const char *const runs[] = { "python3.11:_PyObject_Call", "py:main", NULL };
	static const char *const native[] = { "python3.11:_PyObject_Call", "python3.11:", NULL };

	(void)state;
	expect(before, after);
	expect(native, native);
	expect(runs, runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glue_between_functions_is_taken_out),
		cmocka_unit_test(test_everything_else_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
