/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: processes and threads, and their resource usage. */
#include "analyzer/analyse/host/processes.h"
#include "analyzer/store/define_table.h"

#define PROCESS_COLUMNS(COLUMN)                                                              \
	COLUMN(process, ROW, "process", "this row", cell_u64(at->index))                     \
	COLUMN(pid, NUMBER, "pid", "its process id; NULL: its file has a name instead",      \
	       cell_known(!row->worded, row->pid))                                           \
	COLUMN(parent_pid, NUMBER, "parent", "process id of its parent",                     \
	       cell_not_0(row->parent_pid))                                                  \
	COLUMN(name, TEXT, "name", "name of its main thread", cell_string(model, row->name)) \
	COLUMN(cmdline, TEXT, "command line", "with its arguments",                          \
	       cell_string(model, row->cmdline))                                             \
	COLUMN(target, FLAG, "target", "was it traced?", cell_flag(row->target))             \
	COLUMN(start_ns, INSTANT, "start", "when it began", cell_not_0(row->start_ns))       \
	COLUMN(exit_ns, INSTANT, "exit", "when it ended; NULL: not in the recording",        \
	       cell_not_0(row->exit_ns))

static bool next_process(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->processes);
}

DEFINE_TABLE(processes, struct process, PROCESS_COLUMNS, next_process,
	     "a process, traced or running beside the traced ones", .keyed = true,
	     .sections = SECTION_TRACE);

/* Device files have the times on a CPU, but no wake-ups: time spent runnable counts as blocked. */
#define WOKEN_KNOWN (model->files.count > 0)
#define PROCESS_KNOWN (row->source != USAGE_UNKNOWN)

#define PROCESS_USAGE_COLUMNS(COLUMN)                                                              \
	COLUMN(process, ROW, "process", "its process: a row of processes", cell_u64(row->process)) \
	COLUMN(utilization_percent, PERCENT, "CPU", "CPU time as a share of one CPU",              \
	       cell_known_real(PROCESS_KNOWN, row->utilization))                                   \
	COLUMN(run_ns, NS, "run", "time on a CPU, sum over its threads",                           \
	       cell_known(PROCESS_KNOWN, row->run_ns))                                             \
	COLUMN(user_ns, NS, "user", "the part of run_ns in the program itself",                    \
	       cell_known(row->has_split, row->user_ns))                                           \
	COLUMN(system_ns, NS, "system", "the part of run_ns in the kernel",                        \
	       cell_known(row->has_split, row->system_ns))                                         \
	COLUMN(runnable_ns, NS, "runnable", "time ready and waiting for a CPU",                    \
	       cell_known(PROCESS_KNOWN && WOKEN_KNOWN, row->runnable_ns))                         \
	COLUMN(blocked_ns, NS, "blocked", "time asleep or stopped",                                \
	       cell_known(PROCESS_KNOWN, row->blocked_ns))                                         \
	COLUMN(io_ns, NS, "I/O", "the part of blocked_ns waiting for a disk",                      \
	       cell_known(row->has_io, row->io_ns))                                                \
	COLUMN(rss_bytes, BYTES, "memory", "resident memory, last reading",                        \
	       cell_known(row->has_rss, row->rss_bytes))                                           \
	COLUMN(peak_rss_bytes, BYTES, "peak memory", "most resident memory in its life",           \
	       cell_not_0(row->peak_rss_bytes))

static bool next_process_usage(struct table_cursor *at)
{
	const struct process_results *results = at->of->results->processes;

	return results && cursor_rows(at, results->processes, results->process_count,
				      sizeof(*results->processes));
}

DEFINE_TABLE(process_usage, struct process_usage, PROCESS_USAGE_COLUMNS, next_process_usage,
	     "what a process used in the analysed time",
	     .sections = SECTION_PROCESSES);

#define THREAD_COLUMNS(COLUMN)                                                                \
	COLUMN(thread, ROW, "thread", "this row", cell_u64(at->index))                        \
	COLUMN(tid, NUMBER, "tid", "its thread id; NULL: its file has a name instead",        \
	       cell_known(!row->worded, row->tid))                                            \
	COLUMN(process, ROW, "process", "its process: a row of processes",                    \
	       cell_index(row->process))                                                      \
	COLUMN(name, TEXT, "name", "its last known name", cell_string(model, row->name))      \
	COLUMN(target, FLAG, "target", "was it traced?", cell_flag(row->target))              \
	COLUMN(first_ns, INSTANT, "first seen", "first instant at which it is known to live", \
	       cell_u64(row->first_ns))                                                       \
	COLUMN(last_ns, INSTANT, "last seen", "last instant at which it is known to live",    \
	       cell_u64(row->last_ns))                                                        \
	COLUMN(exit_ns, INSTANT, "exit", "when it ended; NULL: not in the recording",         \
	       cell_not_0(row->exit_ns))

static bool next_thread(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, at->of->model->threads)) {
		if (at->of->threads[at->index])
			return true;
	}
	return false;
}

DEFINE_TABLE(threads, struct thread, THREAD_COLUMNS, next_thread,
	     "a thread; one whose id is used again is another row", .keyed = true,
	     .sections = SECTION_TRACE, .rows = LOAD_ALL);

#define THREAD_KNOWN (row->source != USAGE_UNKNOWN)

#define THREAD_USAGE_COLUMNS(COLUMN)                                                              \
	COLUMN(thread, ROW, "thread", "the thread: a row of threads", cell_u64(row->thread))      \
	COLUMN(run_ns, NS, "run", "time on a CPU", cell_known(THREAD_KNOWN, row->run_ns))         \
	COLUMN(runnable_ns, NS, "runnable", "time ready and waiting for a CPU",                   \
	       cell_known(THREAD_KNOWN && WOKEN_KNOWN, row->runnable_ns))                         \
	COLUMN(blocked_ns, NS, "blocked", "time asleep or stopped",                               \
	       cell_known(THREAD_KNOWN, row->blocked_ns))                                         \
	COLUMN(io_ns, NS, "I/O", "the part of blocked_ns waiting for a disk",                     \
	       cell_known(row->has_io, row->io_ns))                                               \
	COLUMN(voluntary_switches, COUNT, "voluntary", "number of times that it gave up its CPU " \
						       "to sleep",                                \
	       cell_known(row->has_counts, row->voluntary))                                       \
	COLUMN(involuntary_switches, COUNT, "involuntary", "number of times that it was "         \
							   "preempted",                           \
	       cell_known(row->has_counts, row->involuntary))                                     \
	COLUMN(migrations, COUNT, "migrations", "moves from one CPU to another",                  \
	       cell_known(row->has_migrations, row->migrations))

static bool next_thread_usage(struct table_cursor *at)
{
	const struct process_results *results = at->of->results->processes;

	while (results && cursor_rows(at, results->threads, results->thread_count,
				      sizeof(*results->threads))) {
		const struct thread_usage *row = at->row;

		if (at->of->threads[row->thread])
			return true;
	}
	return false;
}

DEFINE_TABLE(thread_usage, struct thread_usage, THREAD_USAGE_COLUMNS, next_thread_usage,
	     "what a thread used in the analysed time",
	     .sections = SECTION_PROCESSES);
