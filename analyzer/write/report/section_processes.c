/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, their threads, what these slept in, and the groups (cgroups) that they are in. */
#include <errno.h>

#include "analyzer/analyse/cgroups.h"
#include "analyzer/analyse/host.h"
#include "analyzer/analyse/process_series.h"
#include "analyzer/analyse/processes.h"
#include "analyzer/store/define_table.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/report/sections.h"

#define SLEEPS_MAX 32 /* kinds of sleeps told of a thread */
#define KNOWN (row->source != USAGE_UNKNOWN)
#define BYTES(COLUMN)                                              \
	COLUMN(read_bytes, BYTES, "disk read", "from devices",     \
	       cell_known(row->has_bytes, row->bytes.read_bytes))  \
	COLUMN(write_bytes, BYTES, "disk written", "to devices",   \
	       cell_known(row->has_bytes, row->bytes.write_bytes)) \
	COLUMN(read_chars, BYTES, "read", "by system calls",       \
	       cell_known(row->has_bytes, row->bytes.read_chars))  \
	COLUMN(write_chars, BYTES, "written", "by system calls",   \
	       cell_known(row->has_bytes, row->bytes.write_chars))

/* ---- What threads slept in */

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

/* Of the thread that view->within leaves in @outer. */
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

static const struct view SLEEPS = { "sleeps", NULL, &sleeps, SLEEPS_COLUMNS, .within = of_thread };

/* Reasons that did not occur are left out. */
static void write_reasons(struct json *json, const uint64_t *reason_ns, uint64_t throttled_ns)
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

static void write_sleeps(const struct report *report, const struct table_cursor *at)
{
	const struct thread_usage *usage = at->row;

	if (!usage->has_reasons)
		return;
	write_reasons(report->json, usage->reason_ns, usage->throttled_ns);
	if (report->model->threads.row[usage->thread].target)
		view_json_of(report, &SLEEPS, at);
}

static const struct view THREADS = { "threads",
				     "threads",
				     &table_thread_usage,
				     THREAD_COLUMNS,
				     .figures = &thread_figures,
				     .within = of_process,
				     .more = write_sleeps };

/* What the targets' threads slept in, as a table with a column for each reason that there is. */

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

static int print_sleepers(const struct report *report)
{
	uint32_t count = (uint32_t)view_count(report, &SLEEPERS, NULL), left;
	uint64_t total_ns[REASONS + 1] = { 0 }; /* the last is throttled time */
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

/* ---- Processes */

#define UNKNOWN_SPLIT(ns) cell_known(of->results->series->of[row->process].has_split, ns)
#define WHEN (&of->results->host->intervals[row->interval])

#define INTERVAL_COLUMNS(COLUMN)                                                                   \
	COLUMN(start_ns, INSTANT, "start", "begin of the interval", cell_u64(WHEN->start_ns))      \
	COLUMN(duration_ns, NS, "duration", "its length", cell_u64(WHEN->end_ns - WHEN->start_ns)) \
	COLUMN(run_ns, NS, "run", "time on a CPU", cell_u64(row->run_ns))                          \
	COLUMN(user_ns, NS, "user", "of it in the program itself", UNKNOWN_SPLIT(row->user_ns))    \
	COLUMN(system_ns, NS, "system", "of it in the kernel", UNKNOWN_SPLIT(row->system_ns))      \
	COLUMN(runnable_ns, NS, "ready", "waiting for a CPU", cell_u64(row->runnable_ns))          \
	COLUMN(minor_faults, COUNT, "minor faults", "page faults", cell_u64(row->minor_faults))    \
	COLUMN(major_faults, COUNT, "major faults", "those that fetched the page",                 \
	       cell_u64(row->major_faults))                                                        \
	COLUMN(read_bytes, BYTES, "disk read", "from devices", cell_u64(row->bytes.read_bytes))    \
	COLUMN(write_bytes, BYTES, "disk written", "to devices", cell_u64(row->bytes.write_bytes)) \
	COLUMN(read_chars, BYTES, "read", "by system calls", cell_u64(row->bytes.read_chars))      \
	COLUMN(write_chars, BYTES, "written", "by system calls", cell_u64(row->bytes.write_chars)) \
	COLUMN(rss_bytes, BYTES, "memory", "resident at its end", cell_not_0(row->rss_bytes))

DEFINE_NEXT(next_interval, at->of->results->series, rows, row_count)
DEFINE_FIGURES(process_intervals, struct process_interval, INTERVAL_COLUMNS, next_interval);

static void intervals_of(struct table_cursor *at, const struct table_cursor *process)
{
	const struct results *results = at->of->results;
	const struct process_usage *usage = process->row;

	at->limit = 0;
	if (!results->series || !results->host ||
	    !at->of->model->processes.row[usage->process].target)
		return;
	at->i = results->series->of[usage->process].first;
	at->limit = at->i + results->series->of[usage->process].count;
}

static const struct view PROCESS_SERIES = { "series",		NULL,
					    &process_intervals, NULL,
					    VIEW_MATRIX,	.within = intervals_of,
					    .optional = true };

#define PROCESS (&model->processes.row[row->process])
#define CGROUP (row->cgroup == INDEX_NONE ? NULL : &model->cgroups.row[row->cgroup])

#define PROCESS_FIGURES(COLUMN)                                                             \
	COLUMN(stolen_ns, NS, "stolen", "had a CPU that others used",                       \
	       cell_known(KNOWN && row->stolen_ns, row->stolen_ns))                         \
	COLUMN(voluntary_switches, COUNT, "vol. sw.", "from the CPU to sleep",              \
	       cell_known(KNOWN, row->voluntary))                                           \
	COLUMN(involuntary_switches, COUNT, "invol. sw.", "from the CPU because preempted", \
	       cell_known(KNOWN, row->involuntary))                                         \
	COLUMN(migrations, COUNT, "migr.", "moves to another CPU",                          \
	       cell_known(row->has_migrations, row->migrations))                            \
	COLUMN(minor_faults, COUNT, "minor faults", "page faults",                          \
	       cell_known(row->has_migrations, row->minor_faults))                          \
	COLUMN(major_faults, COUNT, "major faults", "those that fetched the page",          \
	       cell_known(row->has_migrations, row->major_faults))                          \
	BYTES(COLUMN)                                                                       \
	COLUMN(namespace_pid, NUMBER, "inside", "its process id in its own namespace",      \
	       cell_not_0(row->ns_pid))                                                     \
	COLUMN(pid_namespace, NUMBER, "namespace", "the namespace",                         \
	       cell_known(row->ns_pid, row->ns_inode))                                      \
	COLUMN(cgroup_id, NUMBER, "cgroup id", "the group that it is in",                   \
	       CGROUP ? cell_u64(CGROUP->id) : cell_none())                                 \
	COLUMN(cgroup, TEXT, "cgroup", "its path",                                          \
	       CGROUP ? cell_string(model, CGROUP->path) : cell_none())                     \
	COLUMN(interrupted_ns, NS, "interrupted", "on a CPU, in interrupts",                \
	       cell_known(model->interrupts.count && PROCESS->target, row->interrupted_ns))

DEFINE_FIGURES(process_figures, struct process_usage, PROCESS_FIGURES, NULL);

static const struct view_column PROCESS_COLUMNS[] = {
	{ "process.pid", .how = VIEW_LEFT, .heading = "pid/tid" },
	{ "process.name", .how = VIEW_SHRINK | VIEW_EMPTY },
	{ "process.cmdline", .how = VIEW_JSON },
	{ "process.target", .how = VIEW_JSON },
	{ "process.parent_pid", .how = VIEW_JSON },
	{ "utilization_percent" },
	{ "run_ns", .heading = "on CPU ms" },
	{ "user_ns" },
	{ "system_ns" },
	{ "runnable_ns", .heading = "ready ms" },
	{ "blocked_ns" },
	{ "io_ns", .heading = "in I/O ms" },
	{ "stolen_ns", .how = VIEW_JSON },
	{ "voluntary_switches", .how = VIEW_TEXT },
	{ "involuntary_switches", .how = VIEW_TEXT },
	{ "migrations", .how = VIEW_TEXT },
	{ "minor_faults", .how = VIEW_JSON },
	{ "major_faults", .how = VIEW_JSON },
	{ "read_bytes", .how = VIEW_JSON },
	{ "write_bytes", .how = VIEW_JSON },
	{ "read_chars", .how = VIEW_JSON },
	{ "write_chars", .how = VIEW_JSON },
	{ "rss_bytes", .how = VIEW_JSON },
	{ "peak_rss_bytes", .how = VIEW_JSON },
	{ "namespace_pid", .how = VIEW_JSON },
	{ "pid_namespace", .how = VIEW_JSON },
	{ "cgroup_id", .how = VIEW_JSON },
	{ "cgroup", .how = VIEW_JSON },
	{ "interrupted_ns", .how = VIEW_JSON },
	{ NULL },
};

static void write_process_reasons(const struct report *report, const struct table_cursor *at)
{
	const struct process_usage *usage = at->row;

	if (usage->has_reasons)
		write_reasons(report->json, usage->reason_ns, usage->throttled_ns);
}

static bool is_target(const struct table_cursor *at, const struct table_cursor *outer)
{
	const struct process_usage *usage = at->row;

	return at->of->model->processes.row[usage->process].target;
}

static bool is_other(const struct table_cursor *at, const struct table_cursor *outer)
{
	return !is_target(at, outer);
}

static const struct view PROCESSES = { "processes",
				       NULL,
				       &table_process_usage,
				       PROCESS_COLUMNS,
				       .figures = &process_figures,
				       .more = write_process_reasons,
				       .inside = { &PROCESS_SERIES, &THREADS } };

static const struct view TARGETS = { NULL,
				     "target processes",
				     &table_process_usage,
				     PROCESS_COLUMNS,
				     .figures = &process_figures,
				     .where = is_target,
				     .below = &THREADS };

static const struct view OTHERS = { NULL,
				    "processes",
				    &table_process_usage,
				    PROCESS_COLUMNS,
				    .figures = &process_figures,
				    .where = is_other };

#define MIB(text) .heading = text, .scale = 1024.0 * 1024.0, .decimals = 1

static const struct view_column FACT_COLUMNS[] = {
	{ "process.pid", .how = VIEW_LEFT },
	{ "namespace_pid" },
	{ "process.name", .how = VIEW_SHRINK },
	{ "rss_bytes", MIB("RSS MiB") },
	{ "peak_rss_bytes", MIB("peak MiB") },
	{ "minor_faults" },
	{ "major_faults" },
	{ "read_chars", MIB("read MiB") },
	{ "write_chars", MIB("written MiB") },
	{ "read_bytes", MIB("disk read") },
	{ "write_bytes", MIB("disk written") },
	{ "cgroup", .how = VIEW_SHRINK },
	{ NULL },
};

static const struct view FACTS = { NULL,	 "target processes",	      &table_process_usage,
				   FACT_COLUMNS, .figures = &process_figures, .where = is_target };

/* ---- Groups */

#define GROUP ((const struct cgroup_usage *)at->outer)
#define HAS(what) (GROUP->flags & MODEL_CGROUP_##what)
#define GROWTH(COLUMN)                                                                          \
	COLUMN(quota_ns, NS, "quota", "CPU time that it may use in a period",                   \
	       cell_known(HAS(QUOTA) && row->quota_ns, row->quota_ns))                          \
	COLUMN(period_ns, NS, "period", "length of a period",                                   \
	       cell_known(HAS(QUOTA) && row->quota_ns, row->period_ns))                         \
	COLUMN(periods, COUNT, "of periods", "in which it ran",                                 \
	       cell_known(HAS(THROTTLING), row->periods))                                       \
	COLUMN(throttled_periods, COUNT, "throttled periods", "in which its quota was used up", \
	       cell_known(HAS(THROTTLING), row->throttled_periods))                             \
	COLUMN(throttled_ns, NS, "throttled", "kept from running, sum over CPUs",               \
	       cell_known(HAS(THROTTLING), row->throttled_ns))                                  \
	COLUMN(usage_ns, NS, "usage", "CPU time that it used",                                  \
	       cell_known(HAS(USAGE), row->usage_ns))                                           \
	COLUMN(user_ns, NS, "user", "of it in programs", cell_known(HAS(SPLIT), row->user_ns))  \
	COLUMN(system_ns, NS, "system", "of it in the kernel",                                  \
	       cell_known(HAS(SPLIT), row->system_ns))

#define GROUP_INTERVAL_COLUMNS(COLUMN)                                                           \
	COLUMN(start_ns, INSTANT, "start", "begin of the interval", cell_u64(row->start_ns))     \
	COLUMN(duration_ns, NS, "duration", "its length", cell_u64(row->end_ns - row->start_ns)) \
	GROWTH(COLUMN)

static bool next_group_interval(struct table_cursor *at)
{
	const struct cgroup_results *groups = at->of->results->cgroups;

	CURSOR_OUTER(at, groups->count)
	{
		const struct cgroup_usage *usage = &groups->row[at->i];

		if (cursor_inner(at, usage, usage->intervals, usage->interval_count,
				 sizeof(*usage->intervals)))
			return true;
	}
	return false;
}

DEFINE_FIGURES(group_intervals, struct cgroup_growth, GROUP_INTERVAL_COLUMNS, next_group_interval);

static const struct view GROUP_SERIES = { "series", NULL, &group_intervals, NULL, VIEW_MATRIX };

static struct cell quota_cell(struct table_cursor *at, const struct cgroup_growth *row)
{
	if (!HAS(QUOTA))
		return cell_none();
	if (!row->quota_ns || !row->period_ns)
		return cell_text("none");
	snprintf(at->text[0], sizeof(at->text[0]), "%.2f",
		 (double)row->quota_ns / (double)row->period_ns);
	return cell_text(at->text[0]);
}

#define OF_GROUP (&model->cgroups.row[GROUP->cgroup])
#define GROUP_WINDOW (row->end_ns - row->start_ns)

#define GROUP_COLUMNS(COLUMN)                                                                   \
	COLUMN(id, NUMBER, "id", "its number", cell_u64(OF_GROUP->id))                          \
	COLUMN(path, TEXT, "cgroup", "its path", cell_string(model, OF_GROUP->path))            \
	COLUMN(version, NUMBER, "version", "of the hierarchy",                                  \
	       cell_u64(OF_GROUP->version1 ? 1 : 2))                                            \
	COLUMN(processes, COUNT, "processes", "in this very group", cell_u64(GROUP->processes)) \
	COLUMN(limited, FLAG, "limited", "has it a quota?",                                     \
	       cell_known(HAS(QUOTA), row->quota_ns > 0))                                       \
	COLUMN(quota, TEXT, "quota CPUs", "how many CPUs that is", quota_cell(at, row))         \
	COLUMN(cpu_percent, PERCENT, "CPU", "usage as a share of one CPU",                      \
	       cell_known_real(HAS(USAGE) && GROUP_WINDOW,                                      \
			       100 * (double)row->usage_ns / (double)GROUP_WINDOW))             \
	GROWTH(COLUMN)

static bool next_group(struct table_cursor *at)
{
	const struct cgroup_results *groups = at->of->results->cgroups;

	if (!groups || !cursor_rows(at, groups->row, groups->count, sizeof(*groups->row)))
		return false;
	at->outer = at->row;
	at->row = &GROUP->all;
	return true;
}

DEFINE_FIGURES(groups, struct cgroup_growth, GROUP_COLUMNS, next_group);

static const struct view_column GROUP_VIEW_COLUMNS[] = {
	{ "id", .how = VIEW_JSON },
	{ "path", .how = VIEW_SHRINK | VIEW_BLANK },
	{ "version", .how = VIEW_JSON },
	{ "processes" },
	{ "limited", .how = VIEW_JSON },
	{ "quota_ns", .how = VIEW_JSON },
	{ "period_ns", .how = VIEW_JSON },
	{ "quota", .how = VIEW_TEXT | VIEW_RIGHT },
	{ "cpu_percent", .how = VIEW_TEXT },
	{ "throttled_periods" },
	{ "periods" },
	{ "throttled_ns" },
	{ "usage_ns", .how = VIEW_JSON },
	{ "user_ns", .how = VIEW_JSON },
	{ "system_ns", .how = VIEW_JSON },
	{ NULL },
};

static const struct view GROUPS = { "cgroups", NULL, &groups, GROUP_VIEW_COLUMNS,
				    .inside = { &GROUP_SERIES } };

/* Groups without any limit around them say nothing that the table of processes does not. */
static int print_groups(const struct report *report)
{
	const struct cgroup_results *of = report->results->cgroups;
	bool limited = false;

	for (uint32_t i = 0; of && i < of->count; i++)
		limited |= of->row[i].all.quota_ns || of->row[i].all.throttled_periods;
	if (!limited)
		return 0;
	fputs("\nCPU quotas of the groups (cgroups) that targets are in, and of those around "
	      "them:\n",
	      report->out);
	return view_text(report, &GROUPS);
}

/* ---- All of it */

static int print_targets(const struct report *report)
{
	int err;

	if (!view_count(report, &TARGETS, NULL)) {
		fputs("no target process is known\n", report->out);
		return 0;
	}
	err = view_text(report, &TARGETS);
	if (err || !report->model->process_stats.count)
		return err;
	fputs("\nMemory and I/O (read, written: by system calls, whatever from; disk: of it from "
	      "and to devices, MiB):\n",
	      report->out);
	return view_text(report, &FACTS);
}

static int print_others(const struct report *report)
{
	if (!view_count(report, &OTHERS, NULL))
		return 0;
	fputs("\nOther processes of this machine (their threads together):\n", report->out);
	return view_text(report, &OTHERS);
}

static int processes_text(const struct report *report)
{
	int err;

	print_heading(report->out, report->options,
		      "Processes and threads (CPU %: 100 is one CPU)");
	err = print_targets(report);
	if (!err)
		err = print_groups(report);
	if (!err)
		err = print_sleepers(report);
	if (!err)
		err = print_others(report);
	if (err)
		return err;
	fputs("\nready: waiting for a CPU; blocked: asleep, of which in I/O: waiting for a disk or "
	      "device; sw.: switches\nfrom the CPU, voluntary to sleep, involuntary because "
	      "preempted; migr.: moves to another CPU. A process' figures\nare sums over its "
	      "threads.\n",
	      report->out);
	if (report->results->processes->records_lost)
		fputs("Scheduling records were lost: times are the kernel's own sums, taken about "
		      "once a second.\n",
		      report->out);
	return 0;
}

static void processes_json(const struct report *report)
{
	view_json(report, &PROCESSES);
	if (report->results->cgroups && report->model->cgroups.count)
		view_json(report, &GROUPS);
}

const struct section section_processes = { SECTION_PROCESSES, processes_text, processes_json,
					   VIEWS(&PROCESSES, &TARGETS, &OTHERS, &FACTS, &GROUPS,
						 &SLEEPS) };
