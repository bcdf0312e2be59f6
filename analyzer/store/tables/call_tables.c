/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: calls of runtimes and of device drivers. */
#include "analyzer/analyse/calls/api.h"
#include "analyzer/analyse/calls/api_statistic.h"
#include "analyzer/analyse/calls/ioctl.h"
#include "analyzer/analyse/calls/launched.h"
#include "analyzer/analyse/calls/scopes.h"
#include "analyzer/store/define_table.h"
#include "lib/trace/function_kinds.h"

#define FUNCTION_COLUMNS(COLUMN)                                                           \
	COLUMN(function, ROW, "function", "this row", cell_u64(at->index))                 \
	COLUMN(runtime, TEXT, "runtime", "the runtime of the function: cuda, acl, opencl", \
	       cell_string(model, row->runtime))                                           \
	COLUMN(family, TEXT, "family", "runtimes whose layers belong together",            \
	       cell_string(model, row->family))                                            \
	COLUMN(name, TEXT, "function", "the readable name (demangled)", cell_string(model, \
	       row->name))                                                                 \
	COLUMN(symbol, TEXT, "symbol", "as in the file's symbol table",                    \
	       cell_string(model, row->symbol))                                            \
	COLUMN(file, TEXT, "file", "path of its file, as the program sees it",             \
	       cell_string(model, row->file))                                              \
	COLUMN(kind, TEXT, "kind", "launch, copy, sync, alloc and so on",                  \
	       cell_text(function_kind_name(row->kind)))                                   \
	COLUMN(layer, NUMBER, "layer", "0 is the outermost of its family", cell_u64(row->layer))

static bool next_function(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, at->of->model->functions)) {
		const struct function *row = at->row;

		if (row->name)
			return true;
	}
	return false;
}

DEFINE_TABLE(functions, struct function, FUNCTION_COLUMNS, next_function,
	     "a traced function of a runtime, in one file", .keyed = true,
	     .sections = SECTION_TRACE);

#define CALL_COLUMNS(COLUMN)                                                                               \
	COLUMN(call, ROW, "call", "this row", cell_u64(at->index))                                         \
	COLUMN(thread, ROW, "thread", "the calling thread: a row of threads",                              \
	       cell_u64(row->thread))                                                                      \
	COLUMN(function, ROW, "function", "a row of functions", cell_u64(row->function))                   \
	COLUMN(start_ns, INSTANT, "start", "when it was entered", cell_u64(row->start_ns))                 \
	COLUMN(end_ns, INSTANT, "end", "when it returned, or the last instant at which it is "             \
				       "known to run",                                                     \
	       cell_known(!(row->flags & MODEL_CALL_END_UNKNOWN), row->end_ns))                            \
	COLUMN(depth, NUMBER, "depth", "number of traced calls around it", cell_u64(row->depth))           \
	COLUMN(open, FLAG, "open", "had it not returned when the thread or recording ended?",              \
	       cell_flag(row->flags &MODEL_CALL_OPEN))                                                     \
	COLUMN(left_call, FLAG, "left", "was it left by an exception, longjmp or unwinding?",              \
	       cell_flag(row->flags &MODEL_CALL_LEFT))                                                     \
	COLUMN(end_unknown, FLAG, "end unknown", "was only its entry recorded?",                           \
	       cell_flag(row->flags &MODEL_CALL_ENTRY))                                                    \
	COLUMN(error, FLAG, "error", "did it return an error?",                                            \
	       cell_flag(row->flags &MODEL_CALL_ERROR))                                                    \
	COLUMN(inner_call, FLAG, "inner", "is it inside a call of the same family?",                       \
	       cell_flag(row->flags &MODEL_CALL_INNER))                                                    \
	COLUMN(returned, NUMBER, "returned", "the low 32 bits of what it returned",                        \
	       cell_known(!(row->flags & (MODEL_CALL_NOT_RETURNED | MODEL_CALL_VALUE_UNKNOWN)), row->ret)) \
	COLUMN(text, TEXT, "text", "its text argument, or the name of what it launched",                   \
	       cell_string(model, row->text))                                                              \
	COLUMN(argument1, NUMBER, "argument 1", "first kept argument", cell_u64(row->args[0]))             \
	COLUMN(argument2, NUMBER, "argument 2", "second kept argument", cell_u64(row->args[1]))            \
	COLUMN(argument3, NUMBER, "argument 3", "third kept argument", cell_u64(row->args[2]))             \
	COLUMN(task, ROW, "task", "the first task that it launched: a row of tasks",                       \
	       cell_index(row->task))

static bool next_call(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, at->of->model->calls)) {
		const struct call *row = at->row;

		if (table_wants_thread(at, row->thread) && table_wants_instant(at, row->start_ns))
			return true;
	}
	return false;
}

static void calls_of_thread(const struct table_data *of, uint64_t thread, uint64_t *first,
			    uint64_t *end)
{
	uint32_t row = 0, count = 0;

	if (thread < of->model->threads.count)
		count = model_thread_calls(of->model, (uint32_t)thread, &row);
	*first = row;
	*end = (uint64_t)row + count;
}

DEFINE_TABLE(calls, struct call, CALL_COLUMNS, next_call, "a call of a traced function",
	     .keyed = true, .range = calls_of_thread, .range_column = 1, .start_column = 3,
	     .sections = SECTION_TRACE, .rows = LOAD_CALLS | LOAD_TASKS);

#define API_COLUMNS(COLUMN)                                                                        \
	COLUMN(function, ROW, "function", "a row of functions", cell_u64(row->function))           \
	COLUMN(process, ROW, "process", "the calling process: a row of processes",                 \
	       cell_index(row->process))                                                           \
	COLUMN(count, COUNT, "calls", "all calls, also open and short ones", cell_u64(row->count)) \
	COLUMN(open, COUNT, "open", "calls that had not returned at the end", cell_u64(row->open)) \
	COLUMN(left_calls, COUNT, "left",                                                          \
	       "calls that were left by an exception, longjmp or unwinding", cell_u64(row->left))  \
	COLUMN(end_unknown, COUNT, "end unknown", "calls of which only the entry was recorded",    \
	       cell_u64(row->end_unknown))                                                         \
	COLUMN(errors, COUNT, "errors", "calls that returned an error", cell_u64(row->errors))     \
	COLUMN(inner_calls, COUNT, "inside others",                                                \
	       "calls inside another call of the same family", cell_u64(row->inner))               \
	COLUMN(total_ns, NS, "total", "time in calls that returned",                               \
	       cell_u64(row->durations.total_ns))                                                  \
	COLUMN(mean_ns, SHORT_NS, "mean", "their mean",                                            \
	       cell_known(row->durations.count, row->durations.mean_ns))                           \
	COLUMN(min_ns, SHORT_NS, "min", "the shortest",                                            \
	       cell_known(row->durations.has_min, row->durations.min_ns))                          \
	COLUMN(p50_ns, SHORT_NS, "p50", "their median",                                            \
	       cell_known(row->durations.has_p50, row->durations.p50_ns))                          \
	COLUMN(p99_ns, SHORT_NS, "p99", "their 99th percentile",                                   \
	       cell_known(row->durations.has_p99, row->durations.p99_ns))                          \
	COLUMN(max_ns, SHORT_NS, "max", "the longest",                                             \
	       cell_known(row->durations.has_max, row->durations.max_ns))

static bool next_api(struct table_cursor *at)
{
	const struct api_results *api = at->of->results->api;

	return api && cursor_rows(at, api->rows, api->row_count, sizeof(*api->rows));
}

DEFINE_TABLE(api, struct api_usage, API_COLUMNS, next_api, "calls of one function by one process",
	     .sections = SECTION_API);

#define STATISTIC_COLUMNS(COLUMN)                                                                \
	COLUMN(level, TEXT, "level", "acl, runtime, hccl or model", cell_text(row->level))       \
	COLUMN(name, TEXT, "function", "the function", cell_string(model, row->name))            \
	COLUMN(process, ROW, "process", "the calling process: a row of processes; NULL: from a " \
					"device file",                                           \
	       cell_index(row->process))                                                         \
	COLUMN(file, ROW, "file", "the source: a row of device_files; NULL: it was traced",      \
	       cell_index(row->file))                                                            \
	COLUMN(count, COUNT, "calls", "calls", cell_u64(row->count))                             \
	COLUMN(total_ns, NS, "total", "time in them", cell_u64(row->total_ns))                   \
	COLUMN(min_ns, SHORT_NS, "min", "the shortest",                                          \
	       cell_known(row->min_ns != UINT64_MAX, row->min_ns))                               \
	COLUMN(max_ns, SHORT_NS, "max", "the longest",                                           \
	       cell_known(row->max_ns != UINT64_MAX, row->max_ns))                               \
	COLUMN(variance_us2, REAL, "variance", "variance of their durations, in square µs",      \
	       cell_known_real(row->variance >= 0, row->variance))

static bool next_statistic(struct table_cursor *at)
{
	const struct api_statistic_results *api = at->of->results->api_statistic;

	return api && cursor_rows(at, api->rows, api->count, sizeof(*api->rows));
}

DEFINE_TABLE(api_statistic, struct api_statistic_row, STATISTIC_COLUMNS, next_statistic,
	     "calls of CANN's functions as msprof's api_statistic has them",
	     .sections = SECTION_API);

#define LAUNCHED_COLUMNS(COLUMN)                                                               \
	COLUMN(runtime, TEXT, "runtime", "which runtime", cell_string(model, row->runtime))    \
	COLUMN(process, ROW, "process", "the launching process: a row of processes",           \
	       cell_index(row->process))                                                       \
	COLUMN(name, TEXT, "launched", "what was launched", cell_string(model, row->name))     \
	COLUMN(named_by, TEXT, "named by", "the source of its name",                           \
	       cell_text(call_named_text(row->named)))                                         \
	COLUMN(count, COUNT, "launches", "launches", cell_u64(row->count))                     \
	COLUMN(errors, COUNT, "errors", "calls that returned an error", cell_u64(row->errors)) \
	COLUMN(total_ns, NS, "calls", "time in the launching calls", cell_u64(row->total_ns))

static bool next_launched(struct table_cursor *at)
{
	const struct launched_results *launched = at->of->results->launched;

	return launched &&
	       cursor_rows(at, launched->rows, launched->row_count, sizeof(*launched->rows));
}

DEFINE_TABLE(launched, struct launched_usage, LAUNCHED_COLUMNS, next_launched,
	     "what a process launched, by name",
	     .sections = SECTION_API);

#define SCOPE_COLUMNS(COLUMN)                                                                  \
	COLUMN(kind, TEXT, "kind",                                                             \
	       "operator, module, python, library (Python's that is not the job's), range, "   \
	       "optimizer or data loader",                                                     \
	       cell_text(scope_name(model->functions.row[row->function].scope)))               \
	COLUMN(name, TEXT, "name", "as the file has it",                                       \
	       cell_string(model, model->functions.row[row->function].name))                   \
	COLUMN(function, ROW, "function", "a row of functions", cell_u64(row->function))       \
	COLUMN(process, ROW, "process", "whose: a row of processes", cell_index(row->process)) \
	COLUMN(count, COUNT, "count", "how often it was entered", cell_u64(row->count))        \
	COLUMN(total_ns, NS, "total", "time in it, once where it is inside itself",            \
	       cell_u64(row->total_ns))                                                        \
	COLUMN(self_ns, NS, "self", "the part of it outside of all else in the file",          \
	       cell_u64(row->self_ns))                                                         \
	COLUMN(min_ns, SHORT_NS, "min", "the shortest", cell_u64(row->min_ns))                 \
	COLUMN(max_ns, SHORT_NS, "max", "the longest", cell_u64(row->max_ns))

static bool next_scope(struct table_cursor *at)
{
	const struct scope_results *scopes = at->of->results->scopes;

	return scopes && cursor_rows(at, scopes->row, scopes->count, sizeof(*scopes->row));
}

DEFINE_TABLE(host_scopes, struct scope_usage, SCOPE_COLUMNS, next_scope,
	     "a function or range of the host, from the timeline of a device file", .sections = SECTION_API);

#define IOCTLS_COLUMNS(COLUMN)                                                                    \
	COLUMN(thread, ROW, "thread", "the calling thread: a row of threads",                     \
	       cell_u64(row->thread))                                                             \
	COLUMN(device, TEXT, "device", "the device file",                                         \
	       cell_string(model, model->drivers.row[row->driver].device))                        \
	COLUMN(driver, TEXT, "driver", "its driver",                                              \
	       cell_string(model, model->drivers.row[row->driver].driver))                        \
	COLUMN(command, TEXT, "command", "name of the command, or its number",                    \
	       cell_text(ioctl_command_name(model, row->driver, row->cmd, at->text[0],            \
					    sizeof(at->text[0]))))                                \
	COLUMN(number, NUMBER, "number", "number of the command", cell_u64(row->cmd))             \
	COLUMN(start_ns, INSTANT, "start", "when it began", cell_u64(row->start_ns))              \
	COLUMN(end_ns, INSTANT, "end", "when it ended, or the last instant at which it is known " \
				       "to run",                                                  \
	       cell_u64(row->end_ns))                                                             \
	COLUMN(open, FLAG, "open", "had it not returned when the thread or recording ended?",     \
	       cell_flag(row->flags &MODEL_CALL_OPEN))                                            \
	COLUMN(returned, STATUS, "returned", "what it returned",                                  \
	       cell_known_i64(!(row->flags & (MODEL_CALL_OPEN | MODEL_IOCTL_UNSEEN)), row->ret))  \
	COLUMN(began_before, FLAG, "began before", "was it running when recording began?",        \
	       cell_flag(row->flags &MODEL_IOCTL_BEFORE))

static bool next_ioctl(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, at->of->model->ioctls)) {
		const struct ioctl_call *row = at->row;

		if (table_wants_thread(at, row->thread) && table_wants_instant(at, row->start_ns))
			return true;
	}
	return false;
}

DEFINE_TABLE(ioctls, struct ioctl_call, IOCTLS_COLUMNS, next_ioctl,
	     "a command that a thread gave to a device driver",
	     .start_column = 5, .sections = SECTION_TRACE, .rows = LOAD_IOCTLS | LOAD_SCHEDULE);

#define IOCTL_COLUMNS(COLUMN)                                                                      \
	COLUMN(device, TEXT, "device", "the device file",                                          \
	       cell_string(model, model->drivers.row[row->driver].device))                         \
	COLUMN(driver, TEXT, "driver", "its driver",                                               \
	       cell_string(model, model->drivers.row[row->driver].driver))                         \
	COLUMN(command, TEXT, "command", "name of the command, or its number",                     \
	       cell_text(ioctl_command_name(model, row->driver, row->cmd, at->text[0],             \
					    sizeof(at->text[0]))))                                 \
	COLUMN(process, ROW, "process", "the calling process: a row of processes",                 \
	       cell_index(row->process))                                                           \
	COLUMN(count, COUNT, "calls", "calls", cell_u64(row->count))                               \
	COLUMN(open, COUNT, "open", "calls that had not returned at the end", cell_u64(row->open)) \
	COLUMN(errors, COUNT, "errors", "calls that failed", cell_u64(row->errors))                \
	COLUMN(total_ns, NS, "total", "time in them", cell_u64(row->total_ns))                     \
	COLUMN(max_ns, SHORT_NS, "max", "the longest", cell_known(row->returned, row->max_ns))     \
	COLUMN(began_before, COUNT, "begun before",                                                \
	       "calls that were running when recording began", cell_u64(row->before))

static bool next_ioctl_usage(struct table_cursor *at)
{
	const struct ioctl_results *ioctl = at->of->results->ioctl;

	return ioctl && cursor_rows(at, ioctl->rows, ioctl->row_count, sizeof(*ioctl->rows));
}

DEFINE_TABLE(ioctl, struct ioctl_usage, IOCTL_COLUMNS, next_ioctl_usage,
	     "one command of a process to a device, all calls together",
	     .sections = SECTION_IOCTL);
