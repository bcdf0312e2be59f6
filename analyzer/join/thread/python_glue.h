/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_glue.h - stacks of CPython without what it calls functions by.
 *
 * Between a function of Python and the one that called it lie functions of the interpreter's own: _PyFunction_Vectorcall,
 * _PyObject_MakeTpCall, ... They say nothing that the two functions do not say, and there are several to each.
 * Those that are known by name (CPython 3.7 to 3.14), and those of the interpreter's file that have no name, are
 * taken out where there are functions of Python on both sides, and those with a name where one calls C code; everything
 * else stays, as what C code calls back by.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_PYTHON_GLUE_H
#define PROFBPF_ANALYZER_JOIN_THREAD_PYTHON_GLUE_H

#include "analyzer/model/model.h"

/* python_glue_fold - take them out of code_stacks; after symbols_resolve() */
void python_glue_fold(struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_PYTHON_GLUE_H */
