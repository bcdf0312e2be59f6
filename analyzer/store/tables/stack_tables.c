/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: samples by function. */
#include "analyzer/analyse/host/python.h"
#include "analyzer/analyse/host/stacks.h"
#include "analyzer/store/define_table.h"

#define STACK_COLUMNS(COLUMN)                                                                      \
	COLUMN(name, TEXT, "function", "the function", cell_string(model, row->name))              \
	COLUMN(file, TEXT, "file", "path of its file", cell_string(model, row->file))              \
	COLUMN(self_samples, COUNT, "self", "samples in the function itself", cell_u64(row->self)) \
	COLUMN(total_samples, COUNT, "total", "samples in it and in functions that it called",     \
	       cell_u64(row->total))

static bool next_stack_function(struct table_cursor *at)
{
	const struct stack_results *stacks = at->of->results->stacks;

	return stacks && cursor_rows(at, stacks->functions, stacks->function_count,
				     sizeof(*stacks->functions));
}

DEFINE_TABLE(stack_functions, struct stack_function, STACK_COLUMNS, next_stack_function,
	     "a function found in samples of CPU time",
	     .sections = SECTION_STACKS);

#define PYTHON_COLUMNS(COLUMN)                                                        \
	COLUMN(process, ROW, "process", "the process: a row of processes",            \
	       cell_index(row->process))                                              \
	COLUMN(name, TEXT, "function", "the function", cell_string(model, row->name)) \
	COLUMN(file, TEXT, "file", "its source file", cell_string(model, row->file))  \
	COLUMN(line, NUMBER, "line", "the line", cell_not_0(row->line))               \
	COLUMN(samples, COUNT, "samples", "samples in it", cell_u64(row->samples))    \
	COLUMN(samples_on_cpu, COUNT, "on a CPU", "samples while the thread ran",     \
	       cell_known(of->results->python->states_known, row->running))           \
	COLUMN(samples_with_gil, COUNT, "with the lock",                              \
	       "samples while the thread held the interpreter's lock (GIL)",          \
	       cell_u64(row->locked))

static bool next_python_function(struct table_cursor *at)
{
	const struct python_results *python = at->of->results->python;

	return python && cursor_rows(at, python->functions, python->function_count,
				     sizeof(*python->functions));
}

DEFINE_TABLE(python_functions, struct python_function, PYTHON_COLUMNS, next_python_function,
	     "a Python function found in samples",
	     .sections = SECTION_PYTHON);
