/* SPDX-License-Identifier: Apache-2.0 */
/* Python processes: sampled functions, and waits for the interpreter's lock. */
#include <inttypes.h>
#include <string.h>

#include "analyzer/analyse/host/python.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define PYTHON (of->results->python)
#define FUNCTION(index) ((index) < PYTHON->function_count ? &PYTHON->functions[index] : NULL)

/* "load (train.py:19)" */
static struct cell function_cell(struct table_cursor *at, const struct python_function *f)
{
	const struct model *model = at->of->model;
	const char *path, *slash;
	char line[16] = "";

	if (!f)
		return cell_none();
	path = model_text(model, f->file);
	slash = strrchr(path, '/');
	if (f->line)
		snprintf(line, sizeof(line), ":%u", f->line);
	snprintf(at->text[0], sizeof(at->text[0]), "%s (%s%s)", model_text(model, f->name),
		 slash && slash[1] ? slash + 1 : path, line);
	return cell_text(at->text[0]);
}

/* "17 main" */
static struct cell thread_cell(struct table_cursor *at, uint32_t thread)
{
	const struct model *model = at->of->model;

	if (thread >= model->threads.count)
		return cell_none();
	snprintf(at->text[1], sizeof(at->text[1]), "%u %s", model->threads.row[thread].tid,
		 model_text(model, model->threads.row[thread].name));
	return cell_text(at->text[1]);
}

static bool lock_known(const struct table_data *of, uint32_t thread)
{
	const struct python_results *python = of->results->python;
	uint32_t process = of->model->threads.row[thread].process;

	for (uint32_t i = 0; i < python->process_count; i++) {
		if (python->processes[i].process == process)
			return python->processes[i].lock_known;
	}
	return false;
}

#define WAITED lock_known(of, row->thread)
#define HELD (row->holder < model->threads.count)

#define THREAD_COLUMNS(COLUMN)                                                                   \
	COLUMN(thread, ROW, "thread", "a row of threads", cell_u64(row->thread))                 \
	COLUMN(gil_wait_ns, NS, "GIL wait", "waits for the lock",                                \
	       cell_known(WAITED, row->wait_ns))                                                 \
	COLUMN(gil_waits, COUNT, "waits", "sleeps for the lock", cell_known(WAITED, row->waits)) \
	COLUMN(wait_ns, NS, "GIL wait", "waits for the lock", cell_known(WAITED, row->wait_ns))  \
	COLUMN(waits, COUNT, "waits", "sleeps for the lock", cell_known(WAITED, row->waits))     \
	COLUMN(longest_for, TEXT, "longest for", "thread that held the lock meanwhile",          \
	       thread_cell(at, row->holder))                                                     \
	COLUMN(holder, ROW, "holder", "the same: a row of threads", cell_index(row->holder))     \
	COLUMN(gil_holder_ns, NS, "held up", "for how long", cell_known(HELD, row->holder_ns))   \
	COLUMN(samples, COUNT, "looks", "number of samples", cell_u64(row->samples))             \
	COLUMN(samples_on_cpu, COUNT, "on CPU", "samples in which it ran",                       \
	       cell_known(PYTHON->states_known, row->running))                                   \
	COLUMN(samples_with_gil, COUNT, "with GIL", "samples in which it held the lock",         \
	       cell_u64(row->locked))                                                            \
	COLUMN(mostly_in, TEXT, "mostly in", "the function in most samples",                     \
	       function_cell(at, FUNCTION(row->function)))                                       \
	COLUMN(function, TEXT, "function", "its name",                                           \
	       FUNCTION(row->function) ? cell_string(model, FUNCTION(row->function)->name)       \
				       : cell_none())

DEFINE_NEXT(next_thread, at->of->results->python, threads, thread_count)
DEFINE_FIGURES(python_threads, struct python_thread, THREAD_COLUMNS, next_thread);

static const struct view_column THREAD_VIEW_COLUMNS[] = {
	{ "thread.tid" },
	{ "thread.name", .how = VIEW_EMPTY, .heading = "thread" },
	{ "gil_wait_ns", .how = VIEW_JSON },
	{ "gil_waits", .how = VIEW_JSON },
	{ "wait_ns", .how = VIEW_TEXT },
	{ "waits", .how = VIEW_TEXT },
	{ "longest_for", .how = VIEW_TEXT | VIEW_BLANK },
	{ "holder.tid", "gil_holder_tid", VIEW_JSON },
	{ "gil_holder_ns", .how = VIEW_JSON },
	{ "samples" },
	{ "samples_on_cpu" },
	{ "samples_with_gil", .how = VIEW_JSON },
	{ "mostly_in", .how = VIEW_TEXT | VIEW_BLANK | VIEW_SHRINK },
	{ "function", .how = VIEW_JSON },
	{ NULL },
};

#define FUNCTION_FIGURES(COLUMN) \
	COLUMN(place, TEXT, "function", "with its file", function_cell(at, row))

DEFINE_FIGURES(function_figures, struct python_function, FUNCTION_FIGURES, NULL);

static const struct view_column FUNCTION_COLUMNS[] = {
	{ "name", .how = VIEW_JSON | VIEW_EMPTY },
	{ "file", .how = VIEW_JSON },
	{ "line", .how = VIEW_JSON },
	{ "samples", .heading = "looks" },
	{ "samples_on_cpu", .heading = "on CPU" },
	{ "samples_with_gil", .heading = "with GIL" },
	{ "process.pid", .how = VIEW_TEXT },
	{ "place", .how = VIEW_TEXT | VIEW_SHRINK },
	{ NULL },
};

static bool is_thread_of(const struct table_cursor *at, const struct table_cursor *outer)
{
	const struct python_thread *row = at->row;
	const struct python_process *process = outer ? outer->row : NULL;

	return !process || at->of->model->threads.row[row->thread].process == process->process;
}

static bool is_function_of(const struct table_cursor *at, const struct table_cursor *outer)
{
	const struct python_function *row = at->row;
	const struct python_process *process = outer ? outer->row : NULL;

	return !process || row->process == process->process;
}

static const struct view THREADS = {
	"threads",	   "threads", &python_threads, THREAD_VIEW_COLUMNS, .where = is_thread_of,
	.within = view_all
};

static const struct view FUNCTIONS = { "functions",
				       "functions",
				       &table_python_functions,
				       FUNCTION_COLUMNS,
				       .figures = &function_figures,
				       .where = is_function_of,
				       .within = view_all };

static struct cell version_cell(struct table_cursor *at, uint32_t version)
{
	snprintf(at->text[0], sizeof(at->text[0]), "%u.%u", version >> 8, version & 255);
	return cell_text(at->text[0]);
}

/* Returns NULL if the build is supported. */
static const char *unknown_build(const struct python_process *row)
{
	switch (row->build) {
	case PROFBPF__PYTHONS__BUILD__KNOWN: return NULL;
	case PROFBPF__PYTHONS__BUILD__FREE_THREADED: return "free_threaded";
	default: return "unknown";
	}
}

#define PROCESS_COLUMNS(COLUMN)                                                       \
	COLUMN(pid, NUMBER, "pid", "its process id",                                  \
	       cell_u64(model->processes.row[row->process].pid))                      \
	COLUMN(version, TEXT, "version", "of Python", version_cell(at, row->version)) \
	COLUMN(build, TEXT, "build", "that cannot be read",                           \
	       cell_text(unknown_build(row)))                                         \
	COLUMN(samples, COUNT, "looks", "number of samples", cell_u64(row->samples))  \
	COLUMN(gil_waits, COUNT, "waits", "sleeps for the lock",                      \
	       cell_known(row->lock_known, row->waits))                               \
	COLUMN(gil_wait_ns, NS, "GIL wait", "how long these were",                    \
	       cell_known(row->lock_known, row->wait_ns))

DEFINE_NEXT(next_process, at->of->results->python, processes, process_count)
DEFINE_FIGURES(python_processes, struct python_process, PROCESS_COLUMNS, next_process);

static const struct view PROCESSES = {
	"python",	 NULL, &python_processes, NULL, .inside = { &THREADS, &FUNCTIONS },
	.optional = true
};

static void print_processes(const struct report *report)
{
	const struct python_results *python = report->results->python;
	uint32_t shown = rows_shown(report->options, python->process_count);
	FILE *out = report->out;

	for (uint32_t i = 0; i < shown; i++) {
		const struct python_process *p = &python->processes[i];

		if (unknown_build(p)) {
			fprintf(out, "process %u runs Python %u.%u, %s: its functions and the "
				     "waits for its lock (GIL) are not recorded\n",
				report->model->processes.row[p->process].pid, p->version >> 8,
				p->version & 255,
				p->build == PROFBPF__PYTHONS__BUILD__FREE_THREADED
					? "a free-threaded build, which cannot be read"
					: "a build that is not supported");
			continue;
		}
		fprintf(out, "process %u runs Python %u.%u: sampled %" PRIu64 " times",
			report->model->processes.row[p->process].pid, p->version >> 8,
			p->version & 255, p->samples);
		if (p->lock_known)
			fprintf(out,
				"; its threads waited %.3f ms for the interpreter's lock (GIL), in "
				"%" PRIu64 " sleeps",
				(double)p->wait_ns / 1e6, p->waits);
		fputc('\n', out);
	}
	text_more(out, "processes", python->process_count, shown);
}

static int python_text(const struct report *report)
{
	const struct python_results *python = report->results->python;
	int err;

	if (!python || !python->process_count)
		return 0;
	print_heading(report->out, report->options, "Python");
	print_processes(report);
	if (!python->thread_count)
		return 0;
	err = view_text(report, &THREADS);
	fputs("\nFunctions of threads, running or asleep, sampled about 20 times a second\n",
	      report->out);
	return err ? err : view_text(report, &FUNCTIONS);
}

const struct section section_python = { python_text, NULL, VIEWS(&PROCESSES) };
