/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: threads' states and waits. */
#include "analyzer/analyse/host/block_io.h"
#include "analyzer/analyse/host/faults.h"
#include "analyzer/store/define_table.h"
#include "proto/trace.pb-c.h"

static const char *state_name(uint8_t state)
{
	static const char *const names[] = { "unknown", "running", "runnable",
					     "asleep",	"disk",	   "stopped" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

static bool on_cpu(const struct span *row)
{
	return row->state == STATE_RUNNING || row->state == STATE_RUNNABLE;
}

#define STATE_COLUMNS(COLUMN)                                                                   \
	COLUMN(thread, ROW, "thread", "the thread: a row of threads", cell_u64(at->index))      \
	COLUMN(start_ns, INSTANT, "start", "begin of the state", cell_u64(row->start_ns))       \
	COLUMN(end_ns, INSTANT, "end", "end of the state", cell_u64(row->end_ns))               \
	COLUMN(state, TEXT, "state",                                                            \
	       "running, runnable (ready), asleep, disk (uninterruptible), stopped or unknown", \
	       cell_text(state_name(row->state)))                                               \
	COLUMN(cpu, NUMBER, "CPU", "the CPU on which it ran, or would have run",                \
	       cell_known(on_cpu(row), row->cpu))                                               \
	COLUMN(syscall, NUMBER, "system call", "number of the one that it slept in",            \
	       cell_known(!on_cpu(row) && row->syscall >= 0, (uint64_t)row->syscall))           \
	COLUMN(other, ROW, "other",                                                             \
	       "runnable: the thread that had the CPU; asleep: the one that woke it; a row of " \
	       "threads",                                                                       \
	       cell_index(row->other))

/* A state that began before the part and reaches into it belongs to it, too. */
static bool lasted_in_part(const struct table_cursor *at, const struct span *row)
{
	const struct table_data *of = at->of;

	return !of->options->part ||
	       (row->end_ns > of->results->from_ns && row->start_ns < of->results->to_ns);
}

static bool next_state(struct table_cursor *at)
{
	const struct model *model = at->of->model;

	CURSOR_OUTER(at, model->timelines.count)
	{
		const struct timeline *timeline = &model->timelines.row[at->i];

		while (at->of->threads[at->i] &&
		       cursor_part(at, timeline, model->spans.row, timeline->first, timeline->count,
				   sizeof(*model->spans.row))) {
			if (lasted_in_part(at, at->row))
				return true;
		}
	}
	return false;
}

DEFINE_TABLE(states, struct span, STATE_COLUMNS, next_state,
	     "what a thread did between two instants; a thread's rows have no holes",
	     .keyed = true, .start_column = 1,
	     .sections = SECTION_TRACE, .rows = LOAD_SCHEDULE);

#define INTERRUPT_COLUMNS(COLUMN)                                                          \
	COLUMN(thread, ROW, "thread", "the interrupted thread: a row of threads",          \
	       cell_u64(row->thread))                                                      \
	COLUMN(cpu, NUMBER, "CPU", "the CPU", cell_u64(row->cpu))                          \
	COLUMN(start_ns, INSTANT, "start", "begin of the interrupt", cell_u64(row->ts_ns)) \
	COLUMN(end_ns, INSTANT, "end", "its end", cell_u64(row->ts_ns + row->dur_ns))      \
	COLUMN(hard, FLAG, "hard", "was a device's interrupt handled?",                    \
	       cell_flag(row->flags &PROFBPF__WAKES__FLAG__HARDIRQ))                       \
	COLUMN(soft, FLAG, "soft", "was a soft interrupt handled?",                        \
	       cell_flag(row->flags &PROFBPF__WAKES__FLAG__SOFTIRQ))                       \
	COLUMN(timer, FLAG, "timer", "was a timer handled?",                               \
	       cell_flag(row->flags &PROFBPF__WAKES__FLAG__TIMER))                         \
	COLUMN(name, TEXT, "interrupt", "name of the interrupt, if known: NET_RX, "        \
					"virtio0-input.0",                                 \
	       cell_string(model, row->name))

static bool next_interrupt(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, at->of->model->interrupts)) {
		const struct interrupt *row = at->row;

		if (table_wants_thread(at, row->thread) && table_wants_instant(at, row->ts_ns))
			return true;
	}
	return false;
}

DEFINE_TABLE(interrupts, struct interrupt, INTERRUPT_COLUMNS, next_interrupt,
	     "an interrupt that took the CPU from a traced thread; one may be inside another",
	     .start_column = 2, .sections = SECTION_TRACE, .rows = LOAD_SCHEDULE);

#define BLOCK_COLUMNS(COLUMN)                                                                      \
	COLUMN(device, TEXT, "disk", "the block device",                                           \
	       cell_string(model, model->drivers.row[row->driver].device))                         \
	COLUMN(process, ROW, "process", "the requesting process: a row of processes",              \
	       cell_index(row->process))                                                           \
	COLUMN(operation, TEXT, "operation", "read, write, flush, discard or other",               \
	       cell_text(block_operation_name(row->operation)))                                    \
	COLUMN(count, COUNT, "requests", "requests", cell_u64(row->latency.count))                 \
	COLUMN(bytes, BYTES, "bytes", "bytes that they moved", cell_u64(row->bytes))               \
	COLUMN(failed, COUNT, "failed", "requests that failed", cell_u64(row->failed))             \
	COLUMN(queued_ns, NS, "queued", "time before they went to the disk",                       \
	       cell_u64(row->wait_ns))                                                             \
	COLUMN(slept_ns, NS, "slept for", "time that threads slept for them",                      \
	       cell_u64(row->slept_ns))                                                            \
	COLUMN(total_ns, NS, "total", "time from request to end", cell_u64(row->latency.total_ns)) \
	COLUMN(max_ns, SHORT_NS, "max", "the longest one",                                         \
	       cell_known(row->latency.has_max, row->latency.max_ns))

static bool next_block(struct table_cursor *at)
{
	const struct block_results *block = at->of->results->block;

	return block && cursor_rows(at, block->rows, block->row_count, sizeof(*block->rows));
}

DEFINE_TABLE(block_io, struct block_usage, BLOCK_COLUMNS, next_block,
	     "requests of a process to a disk, by operation",
	     .sections = SECTION_IO);

#define FAULT_COLUMNS(COLUMN)                                                           \
	COLUMN(process, ROW, "process", "the process: a row of processes",              \
	       cell_index(row->process))                                                \
	COLUMN(file, TEXT, "file", "file of the pages; NULL: no file, or unknown",      \
	       cell_string(model, row->file))                                           \
	COLUMN(count, COUNT, "faults", "page faults for which the page had to be read", \
	       cell_u64(row->count))                                                    \
	COLUMN(slept, COUNT, "slept for", "faults for which the thread slept",          \
	       cell_u64(row->slept))                                                    \
	COLUMN(total_ns, NS, "total", "time slept for them", cell_u64(row->total_ns))   \
	COLUMN(max_ns, SHORT_NS, "max", "the longest one", cell_u64(row->max_ns))

static bool next_fault(struct table_cursor *at)
{
	const struct fault_results *faults = at->of->results->faults;

	return faults && cursor_rows(at, faults->rows, faults->row_count, sizeof(*faults->rows));
}

DEFINE_TABLE(major_faults, struct fault_usage, FAULT_COLUMNS, next_fault,
	     "major page faults of a process in a file",
	     .sections = SECTION_IO);
