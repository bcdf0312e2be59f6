/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_glue.h - removes the interpreter's call machinery from stacks of CPython.
 *
 * Between a Python function and its caller lie functions of the interpreter: _PyFunction_Vectorcall,
 * _PyObject_MakeTpCall, ... There are several to each call, and they add no information. Those known by name (CPython
 * 3.7 to 3.14), and functions of the interpreter's file without a name, are removed between two Python functions;
 * those with a name also where a Python function calls C code. All other frames stay, such as those by which C code
 * calls back.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_PYTHON_GLUE_H
#define PROFBPF_ANALYZER_JOIN_THREAD_PYTHON_GLUE_H

#include "analyzer/model/model.h"

/* python_glue_fold - removes them from code_stacks; call it after symbols_resolve() */
void python_glue_fold(struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_PYTHON_GLUE_H */
