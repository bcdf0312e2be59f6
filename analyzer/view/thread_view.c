/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/thread_view.h"

#include <errno.h>

#include "analyzer/analyse/host/processes.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"

#define SLEEPS_MAX 32 /* kinds of sleeps shown for a thread */

/* ---- Sleeps of threads */

static struct span span_of(const struct sleep_sum *row)
{
	return (struct span){ .object = row->object,
			      .syscall = row->syscall,
			      .state = row->state,
			      .flags = row->flags };
}

static const char *reason_of(const struct table_data *of, const struct sleep_sum *row)
{
	struct span span = span_of(row);

	return sleep_reason_name(
		sleep_reason_of(of->model, of->syscalls, &span, row->disk != INDEX_NONE));
}

static const struct sleep_object *object_of(const struct model *model, const struct sleep_sum *row)
{
	struct span span = span_of(row);

	return sleep_object(model, &span);
}

static struct cell object_text(struct table_cursor *at, const struct sleep_sum *row)
{
	const struct sleep_object *object = object_of(at->of->model, row);

	if (!object)
		return cell_none();
	return (struct cell){ .kind = CELL_TEXT,
			      .text = sleep_object_text(at->of->model, object, at->text[0], 256) };
}

static const char *woken_by(const struct model *model, const struct sleep_sum *row)
{
	if (row->waker < model->threads.count)
		return model_text(model, model->threads.row[row->waker].name);
	if (row->flags & SPAN_WOKEN_TIMER)
		return "timer";
	return row->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ) ? "interrupt" : NULL;
}

static bool is_major(const struct sleep_sum *row)
{
	struct span span = span_of(row);

	return sleep_is_major_fault(&span);
}

static struct cell any_text(const char *text)
{
	return text ? (struct cell){ .kind = CELL_TEXT, .text = text } : cell_none();
}

#define OBJECT object_of(model, row)
#define ON_DISK (row->disk < model->drivers.count)

#define SLEEP_COLUMNS(COLUMN)                                                                   \
	COLUMN(reason, TEXT, "reason", "what the sleep was for", cell_text(reason_of(of, row))) \
	COLUMN(syscall, TEXT, "system call", "in which",                                        \
	       cell_text(syscall_name(of->syscalls, row->syscall)))                             \
	COLUMN(object, TEXT, "object", "kind of what it waited for",                            \
	       OBJECT ? cell_text(sleep_kind_name(OBJECT->kind)) : cell_none())                 \
	COLUMN(name, TEXT, "name", "which one", object_text(at, row))                           \
	COLUMN(major, FLAG, "major", "a page fault that had to be fetched",                     \
	       cell_known(row->flags &SPAN_FAULT, is_major(row)))                               \
	COLUMN(disk, TEXT, "disk", "whose request it waited for",                               \
	       ON_DISK ? any_text(model_text(model, model->drivers.row[row->disk].device))      \
		       : cell_none())                                                           \
	COLUMN(disk_mean_ns, SHORT_NS, "request", "mean time of these requests",                \
	       cell_known(ON_DISK && row->count, row->count ? row->disk_ns / row->count : 0))   \
	COLUMN(timeout, FLAG, "timeout", "it was woken by one that it had set",                 \
	       cell_flag(row->flags &SPAN_TIMEOUT))                                             \
	COLUMN(uninterruptible, FLAG, "uninterruptible", "signals did not wake it",             \
	       cell_flag(row->state == STATE_DISK))                                             \
	COLUMN(count, COUNT, "sleeps", "how many", cell_u64(row->count))                        \
	COLUMN(total_ns, NS, "total", "how long", cell_u64(row->ns))                            \
	COLUMN(max_ns, SHORT_NS, "max", "the longest", cell_u64(row->max_ns))                   \
	COLUMN(woken_by, TEXT, "woken by", "thread, timer or interrupt",                        \
	       any_text(woken_by(model, row)))                                                  \
	COLUMN(waker, ROW, "waker", "a row of threads", cell_index(row->waker))                 \
	COLUMN(interrupt, TEXT, "interrupt", "its name",                                        \
	       row->waker < model->threads.count ? cell_none()                                  \
						 : cell_string(model, row->interrupt))

/* Iterates over the sleeps of the thread that view->within leaves in @outer. */
static bool next_sleep(struct table_cursor *at)
{
	const struct sleep_sums *sums = &((const struct thread_usage *)at->outer)->sleeps;

	return cursor_rows(at, sums->row, sums->count < SLEEPS_MAX ? sums->count : SLEEPS_MAX,
			   sizeof(*sums->row));
}

DEFINE_FIGURES(sleeps, struct sleep_sum, SLEEP_COLUMNS, next_sleep);

static void of_thread(struct table_cursor *at, const struct table_cursor *thread)
{
	at->outer = thread->row;
}

static const struct view_column SLEEPS_COLUMNS[] = {
	{ "reason" },
	{ "syscall" },
	{ "object" },
	{ "name" },
	{ "major" },
	{ "disk" },
	{ "disk_mean_ns" },
	{ "timeout" },
	{ "uninterruptible" },
	{ "count" },
	{ "total_ns" },
	{ "max_ns" },
	{ "woken_by" },
	{ "waker.tid", "woken_by_tid" },
	{ "waker.process.pid", "woken_by_pid" },
	{ "interrupt" },
	{ NULL },
};

static bool are_sleeps_known(const struct table_cursor *thread)
{
	const struct thread_usage *usage = thread->row;

	return usage->has_reasons && thread->of->model->threads.row[usage->thread].target;
}

static const struct view SLEEPS = {
	"sleeps", NULL, &sleeps, SLEEPS_COLUMNS, .within = of_thread, .known = are_sleeps_known
};

void write_reasons(struct json *json, const uint64_t *reason_ns, uint64_t throttled_ns)
{
	char name[32];

	json_u64(json, "throttled_ns", throttled_ns);
	json_map(json, "blocked_by");
	for (int reason = 0; reason < REASONS; reason++) {
		if (!reason_ns[reason])
			continue;
		snprintf(name, sizeof(name), "%s_ns", sleep_reason_name(reason));
		json_u64(json, name, reason_ns[reason]);
	}
	json_map_close(json);
}

/* ---- Threads */

static struct cell indented(struct table_cursor *at, const struct thread *thread, bool name)
{
	const char *text = model_text(at->of->model, thread->name);

	if (name)
		snprintf(at->text[0], sizeof(at->text[0]), "  %s", *text ? text : "unknown");
	else if (thread->worded)
		snprintf(at->text[0], sizeof(at->text[0]), "  unknown");
	else
		snprintf(at->text[0], sizeof(at->text[0]), "  %u", thread->tid);
	return cell_text(at->text[0]);
}

#define THREAD (&model->threads.row[row->thread])
#define WINDOW_NS (of->results->processes->window_ns)

#define THREAD_FIGURES(COLUMN)                                                                    \
	COLUMN(below, TEXT, "pid/tid", "its thread id below its process",                         \
	       indented(at, THREAD, false))                                                       \
	COLUMN(called, TEXT, "name", "its name below its process", indented(at, THREAD, true))    \
	COLUMN(utilization_percent, PERCENT, "CPU", "share of one CPU",                           \
	       cell_known_real(KNOWN &&WINDOW_NS, 100 * (double)row->run_ns / (double)WINDOW_NS)) \
	COLUMN(none, TEXT, "", "is known of processes only", cell_none())                         \
	COLUMN(source, TEXT, "source", "of its times: switches, or the kernel's accounts",        \
	       cell_text(!KNOWN				 ? NULL                                   \
			 : row->source == USAGE_TIMELINE ? "switches"                             \
							 : "accounts"))                           \
	COLUMN(alive_ns, NS, "alive", "time that it existed", cell_known(KNOWN, row->alive_ns))   \
	COLUMN(unknown_ns, NS, "unknown", "time in which records contradict",                     \
	       cell_known(KNOWN && row->unknown_ns, row->unknown_ns))                             \
	COLUMN(stolen_ns, NS, "stolen", "had a CPU that others used",                             \
	       cell_known(KNOWN && row->stolen_ns, row->stolen_ns))                               \
	COLUMN(interrupted_ns, NS, "interrupted", "on a CPU, in interrupts",                      \
	       cell_known(model->interrupts.count && THREAD->target, row->interrupted_ns))        \
	COLUMN(minor_faults, COUNT, "minor faults", "page faults",                                \
	       cell_known(row->has_migrations, row->minor_faults))                                \
	COLUMN(major_faults, COUNT, "major faults", "those that fetched the page",                \
	       cell_known(row->has_migrations, row->major_faults))                                \
	BYTES(COLUMN)

DEFINE_FIGURES(thread_figures, struct thread_usage, THREAD_FIGURES, NULL);

static const struct view_column THREAD_COLUMNS[] = {
	{ "below", .how = VIEW_TEXT },
	{ "called", .how = VIEW_TEXT },
	{ "utilization_percent", .how = VIEW_TEXT },
	{ "thread.tid", .how = VIEW_JSON },
	{ "thread.name", .how = VIEW_JSON | VIEW_EMPTY },
	{ "source", .how = VIEW_JSON },
	{ "alive_ns", .how = VIEW_JSON },
	{ "run_ns" },
	{ "none", .how = VIEW_TEXT | VIEW_BLANK },
	{ "none", .how = VIEW_TEXT | VIEW_BLANK },
	{ "runnable_ns" },
	{ "blocked_ns" },
	{ "io_ns" },
	{ "unknown_ns", .how = VIEW_JSON },
	{ "stolen_ns", .how = VIEW_JSON },
	{ "interrupted_ns", .how = VIEW_JSON },
	{ "voluntary_switches" },
	{ "involuntary_switches" },
	{ "migrations" },
	{ "minor_faults", .how = VIEW_JSON },
	{ "major_faults", .how = VIEW_JSON },
	{ "read_bytes", .how = VIEW_JSON },
	{ "write_bytes", .how = VIEW_JSON },
	{ "read_chars", .how = VIEW_JSON },
	{ "write_chars", .how = VIEW_JSON },
	{ NULL },
};

static void of_process(struct table_cursor *at, const struct table_cursor *process)
{
	const struct process_usage *usage = process->row;

	at->i = (uint64_t)(usage->threads - at->of->results->processes->threads);
	at->limit = at->i + usage->thread_count;
}

static void write_thread_reasons(const struct report *report, const struct table_cursor *at)
{
	const struct thread_usage *usage = at->row;

	if (usage->has_reasons)
		write_reasons(report->json, usage->reason_ns, usage->throttled_ns);
}

const struct view thread_view = { "threads",
				  "threads",
				  &table_thread_usage,
				  THREAD_COLUMNS,
				  .figures = &thread_figures,
				  .within = of_process,
				  .more = write_thread_reasons,
				  .inside = { &SLEEPS } };

/* A table of the targets' threads with a column for each reason for sleeping that occurs. */

static bool is_sleeper(const struct table_cursor *at, const struct table_cursor *outer)
{
	const struct thread_usage *row = at->row;

	return at->of->model->threads.row[row->thread].target && row->has_reasons &&
	       row->blocked_ns + row->throttled_ns > 0;
}

static const struct view SLEEPERS = { NULL, "threads", &table_thread_usage, NULL,
				      .where = is_sleeper };

static void add_sleeper(struct table *table, const struct model *model,
			const struct thread_usage *usage, const uint64_t *total_ns)
{
	const struct thread *thread = &model->threads.row[usage->thread];
	const char *name = model_text(model, thread->name);

	table_row(table);
	table_count(table, thread->tid);
	table_text(table, *name ? name : "unknown");
	for (int reason = 0; reason < REASONS; reason++) {
		if (total_ns[reason])
			table_ms(table, usage->reason_ns[reason]);
	}
	if (total_ns[REASONS])
		table_ms(table, usage->throttled_ns);
}

int print_sleepers(const struct report *report)
{
	uint32_t count = (uint32_t)view_count(report, &SLEEPERS, NULL), left;
	uint64_t total_ns[REASONS + 1] = { 0 }; /* the last element is throttled time */
	struct table *table = count ? table_new(report->options) : NULL;
	struct table_cursor at;
	int err;

	if (!table)
		return count ? -ENOMEM : 0;
	for (view_begin(report, &SLEEPERS, NULL, &at); view_next(&SLEEPERS, NULL, &at);) {
		const struct thread_usage *row = at.row;

		for (int reason = 0; reason < REASONS; reason++)
			total_ns[reason] += row->reason_ns[reason];
		total_ns[REASONS] += row->throttled_ns;
	}
	fputs("\nWhat the targets' threads slept in, ms:\n", report->out);
	table_column(table, "tid", TABLE_LEFT);
	table_column(table, "name", TABLE_LEFT | TABLE_SHRINK);
	for (int reason = 0; reason <= REASONS; reason++) {
		if (total_ns[reason])
			table_column(table,
				     reason < REASONS ? sleep_reason_name(reason) : "throttled",
				     TABLE_RIGHT);
	}
	left = rows_shown(report->options, count);
	for (view_begin(report, &SLEEPERS, NULL, &at); left && view_next(&SLEEPERS, NULL, &at);
	     left--)
		add_sleeper(table, report->model, at.row, total_ns);
	err = table_print(table, report->out);
	table_free(table);
	text_more(report->out, "threads", count, rows_shown(report->options, count));
	return err;
}
