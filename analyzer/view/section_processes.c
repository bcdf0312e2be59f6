/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, their threads (thread_view.c), and the groups (cgroups) that they are in. */
#include "analyzer/analyse/host/cgroup_limits.h"
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/host/process_series.h"
#include "analyzer/analyse/host/processes.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"
#include "analyzer/view/thread_view.h"
#include "lib/base/container_id.h"

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

/* The part of the cgroup's path to return. */
enum place { PLACE_CONTAINER, PLACE_POD, PLACE_BOTH };

/* Names, where they are known, else the short id and the UID. */
static void place_text(const struct model *model, const struct cgroup *group, const struct container_id *id,
		       char *text, size_t size)
{
	const char *container = model_text(model, group->container_name);
	const char *pod = model_text(model, group->pod_name);
	const char *space = model_text(model, group->pod_namespace);
	char shown[CONTAINER_ID_SHOWN + 1];

	snprintf(shown, sizeof(shown), "%.*s", CONTAINER_ID_SHOWN, id->container);
	if (!*container)
		container = shown;
	if (!*pod) {
		pod = id->pod;
		space = "";
	}
	snprintf(text, size, "%s%s%s%s%s", container, *pod ? (*container ? " in pod " : "pod ") : "", space,
		 *space ? "/" : "", pod);
}

static struct cell place_cell(struct table_cursor *at, const struct cgroup *group, enum place part)
{
	const struct model *model = at->of->model;
	const char *path = group ? model_text(model, group->path) : NULL;
	char *text = at->text[part];
	struct container_id id;

	if (!path || !container_id_parse(path, &id))
		return cell_none();
	if (part == PLACE_CONTAINER)
		snprintf(text, sizeof(at->text[part]), "%s", id.container);
	else if (part == PLACE_POD)
		snprintf(text, sizeof(at->text[part]), "%s", id.pod);
	else
		place_text(model, group, &id, text, sizeof(at->text[part]));
	return cell_text(text);
}

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
	COLUMN(container, TEXT, "container id", "of the container whose group that is",     \
	       place_cell(at, CGROUP, PLACE_CONTAINER))                                     \
	COLUMN(pod, TEXT, "pod", "UID of the container's pod",                              \
	       place_cell(at, CGROUP, PLACE_POD))                                           \
	COLUMN(place, TEXT, "container", "both, by names where they are known",             \
	       place_cell(at, CGROUP, PLACE_BOTH))                                          \
	COLUMN(container_name, TEXT, "container name", "what its runtime calls it",         \
	       CGROUP ? cell_string(model, CGROUP->container_name) : cell_none())           \
	COLUMN(image, TEXT, "image", "that the container was made of",                      \
	       CGROUP ? cell_string(model, CGROUP->image) : cell_none())                    \
	COLUMN(pod_name, TEXT, "pod's name", "in Kubernetes",                               \
	       CGROUP ? cell_string(model, CGROUP->pod_name) : cell_none())                 \
	COLUMN(pod_namespace, TEXT, "pod's namespace", "in Kubernetes",                     \
	       CGROUP ? cell_string(model, CGROUP->pod_namespace) : cell_none())            \
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
	{ "container", .how = VIEW_JSON },
	{ "pod", .how = VIEW_JSON },
	{ "container_name", .how = VIEW_JSON },
	{ "image", .how = VIEW_JSON },
	{ "pod_name", .how = VIEW_JSON },
	{ "pod_namespace", .how = VIEW_JSON },
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
				       .inside = { &PROCESS_SERIES, &thread_view } };

static const struct view TARGETS = { NULL,
				     "target processes",
				     &table_process_usage,
				     PROCESS_COLUMNS,
				     .figures = &process_figures,
				     .where = is_target,
				     .below = &thread_view };

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
	{ "place", .how = VIEW_TEXT | VIEW_IF_KNOWN | VIEW_BLANK | VIEW_SHRINK },
	{ "image", .how = VIEW_IF_KNOWN | VIEW_BLANK | VIEW_SHRINK },
	{ "cgroup", .how = VIEW_SHRINK },
	{ NULL },
};

static const struct view FACTS = { NULL,	 "target processes",	      &table_process_usage,
				   FACT_COLUMNS, .figures = &process_figures, .where = is_target };

/* ---- Cgroups */

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

/* Cgroups without any limit add no information to the table of processes. */
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

/* ---- The whole section */

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
	fputs("\n"
	      "Memory and I/O in MiB (read, written: by system calls, from anywhere; disk: the part from and to devices):\n",
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

const struct section section_processes = { processes_text, processes_json,
					   VIEWS(&PROCESSES, &TARGETS, &OTHERS, &FACTS, &GROUPS) };
