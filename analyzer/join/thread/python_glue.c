/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/thread/python_glue.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Names without the compiler's suffixes: ".part.0", ".lto_priv.1", ".cold". */
static const char *const GLUE[] = {
	/* Calls */
	"PyObject_Call",
	"PyObject_CallFunction",
	"PyObject_CallFunctionObjArgs",
	"PyObject_CallMethod",
	"PyObject_CallMethodObjArgs",
	"PyObject_CallNoArgs",
	"PyObject_CallObject",
	"PyObject_CallOneArg",
	"PyObject_Vectorcall",
	"PyObject_VectorcallDict",
	"PyObject_VectorcallMethod",
	"PyVectorcall_Call",
	"_PyFunction_FastCallDict",
	"_PyFunction_FastCallKeywords",
	"_PyFunction_Vectorcall",
	"_PyObject_Call",
	"_PyObject_CallFunctionVa",
	"_PyObject_CallFunction_SizeT",
	"_PyObject_CallMethodIdObjArgs",
	"_PyObject_CallMethod_SizeT",
	"_PyObject_Call_Prepend",
	"_PyObject_FastCall",
	"_PyObject_FastCallDict",
	"_PyObject_FastCallDictTstate",
	"_PyObject_FastCallKeywords",
	"_PyObject_MakeTpCall",
	"_PyObject_Vectorcall",
	"_PyObject_VectorcallDictTstate",
	"_PyObject_VectorcallTstate",
	"_PyVectorcall_Call",
	"call_function",
	"callmethod",
	"do_call_core",
	"function_code_fastcall",
	"method_call",
	"method_vectorcall",
	"object_vacall",
	"slot_tp_call",
	"slot_tp_init",
	"type_call",
	"vectorcall_method",
	/*
	 * The entry to the evaluation loop. A frame of the loop itself is a Python function that could not be read; it
	 * stays.
	 */
	"PyEval_EvalCode",
	"PyEval_EvalCodeEx",
	"PyEval_EvalFrame",
	"PyEval_EvalFrameEx",
	"_PyEval_EvalCode",
	"_PyEval_EvalCodeWithName",
	"_PyEval_EvalFrame",
	"_PyEval_Vector",
	/* Generators and coroutines: frames of Python functions lie between them */
	"_PyGen_Send",
	"gen_iternext",
	"gen_send",
	"gen_send_ex",
	"gen_send_ex2",
};

static bool is_glue_name(const char *name)
{
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(GLUE) / sizeof(GLUE[0]); i++)
		if (strncmp(GLUE[i], name, length) == 0 && GLUE[i][length] == '\0')
			return true;
	return false;
}

/*
 * Matches "python3.11", "libpython3.12.so.1.0", "libpython3.so", but no module such as
 * "_datetime.cpython-311-x86_64-linux-gnu.so".
 */
static bool is_interpreter(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (strncmp(name, "lib", 3) == 0)
		name += 3;
	return strncmp(name, "python", 6) == 0 && (!name[6] || isdigit((unsigned char)name[6]));
}

static bool is_glue(const struct model *model, const struct code_frame *frame, bool between)
{
	if (frame->kind != PROFBPF__STACKS__KIND__USER || frame->file == INDEX_NONE ||
	    !is_interpreter(model_text(model, model->code_files.row[frame->file].path)))
		return false;
	return frame->name ? is_glue_name(model_text(model, frame->name)) : between;
}

/* Folds frames up to the outermost Python function. The innermost frame, which was running, stays. */
static void fold(struct model *model, struct code_stack *stack)
{
	uint32_t *frames = model->stack_frames.row + stack->first, kept = 0, last = INDEX_NONE;

	for (uint32_t i = 0; i < stack->depth; i++)
		if (model->code_frames.row[frames[i]].kind == PROFBPF__STACKS__KIND__PYTHON)
			last = i;
	if (last == INDEX_NONE)
		return;
	for (uint32_t i = 0, inside = 0; i < stack->depth; i++) {
		const struct code_frame *frame = &model->code_frames.row[frames[i]];

		inside |= frame->kind == PROFBPF__STACKS__KIND__PYTHON;
		if (i == 0 || i > last || !is_glue(model, frame, inside))
			frames[kept++] = frames[i];
	}
	stack->depth = kept;
}

void python_glue_fold(struct model *model)
{
	for (uint32_t i = 0; i < model->code_stacks.count; i++)
		fold(model, &model->code_stacks.row[i]);
}
