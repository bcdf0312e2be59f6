/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: the recording, the machine, groups of processes. */
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/losses.h"
#include "analyzer/store/define_table.h"

#define TRACE_COLUMNS(COLUMN)                                                                    \
	COLUMN(hostname, TEXT, "host", "name of the traced machine",                             \
	       cell_string(model, row->hostname))                                                \
	COLUMN(kernel, TEXT, "kernel", "release of its kernel", cell_string(model, row->kernel)) \
	COLUMN(arch, TEXT, "architecture", "of its CPUs", cell_string(model, row->arch))         \
	COLUMN(cpus, COUNT, "CPUs", "CPUs that were online", cell_not_0(row->cpus))              \
	COLUMN(start_ns, INSTANT, "start", "begin of the recording", cell_u64(row->start_ns))    \
	COLUMN(end_ns, INSTANT, "end", "end of the recording", cell_u64(row->end_ns))            \
	COLUMN(start_realtime_ns, NUMBER, "started at",                                          \
	       "its begin by CLOCK_REALTIME, in ns since 1970",                                  \
	       cell_not_0(row->start_realtime_ns))                                               \
	COLUMN(producer, TEXT, "producer", "the program that recorded, and its version",         \
	       cell_string(model, row->producer))                                                \
	COLUMN(topics, TEXT, "topics", "what was recorded", cell_string(model, row->topics))

static bool next_trace(struct table_cursor *at)
{
	return cursor_rows(at, &at->of->model->info, 1, sizeof(at->of->model->info));
}

DEFINE_TABLE(trace, struct trace_info, TRACE_COLUMNS, next_trace,
	     "the recording; there is one row",
	     .sections = SECTION_TRACE);

#define LEFT_OUT_COLUMNS(COLUMN)                                                            \
	COLUMN(what, TEXT, "what", "samples, wakeups or sleeps (their stacks)",             \
	       cell_text(left_out_name(row->what)))                                         \
	COLUMN(start_ns, INSTANT, "start", "begin of the stretch", cell_u64(row->start_ns)) \
	COLUMN(duration_ns, NS, "duration", "length of the stretch", cell_u64(row->ns))     \
	COLUMN(kept_percent, PERCENT, "kept", "share that was recorded nevertheless",       \
	       cell_real(row->kept_permille / 10.0))                                        \
	COLUMN(reason, TEXT, "reason",                                                      \
	       "cost: recording cost too much (--budget); room: the buffers were full",     \
	       cell_text(row->for_room ? "room" : "cost"))                                  \
	COLUMN(cost_percent, PERCENT, "cost",                                               \
	       "cost of recording just before, as a share of the most loaded CPU",          \
	       cell_real(row->cost_ppm / 1e4))

static bool next_left_out(struct table_cursor *at)
{
	const struct capture_results *capture = at->of->results->capture;

	return capture &&
	       cursor_rows(at, capture->left_out, capture->left_out_count, sizeof(*capture->left_out));
}

DEFINE_TABLE(left_out, struct left_out, LEFT_OUT_COLUMNS, next_left_out,
	     "a stretch of the recording in which not all of something was recorded, to keep its cost within the budget");

#define CPU_COLUMNS(COLUMN)                                                                     \
	COLUMN(cpu, NUMBER, "CPU", "the CPU; NULL for all together", cell_index(row->cpu))      \
	COLUMN(user_ns, NS, "user", "time in programs", cell_u64(row->user_ns))                 \
	COLUMN(system_ns, NS, "system", "time in the kernel, without interrupts",               \
	       cell_u64(row->system_ns))                                                        \
	COLUMN(irq_ns, NS, "irq", "time in interrupts", cell_u64(row->irq_ns))                  \
	COLUMN(softirq_ns, NS, "softirq", "time in soft interrupts", cell_u64(row->softirq_ns)) \
	COLUMN(iowait_ns, NS, "iowait",                                                         \
	       "time idle while a thread that ran here last waited for a disk",                 \
	       cell_u64(row->iowait_ns))                                                        \
	COLUMN(idle_ns, NS, "idle", "time idle otherwise", cell_u64(row->idle_ns))              \
	COLUMN(steal_ns, NS, "steal", "time that the hypervisor gave to other machines",        \
	       cell_u64(row->steal_ns))

static bool next_cpu(struct table_cursor *at)
{
	const struct host_results *host = at->of->results->host;

	if (!host || !host->known)
		return false;
	if (at->i)
		return cursor_inner(at, NULL, host->cpus, host->cpu_count, sizeof(*host->cpus));
	at->row = &host->all;
	at->i = 1;
	return true;
}

DEFINE_TABLE(host_cpus, struct cpu_usage, CPU_COLUMNS, next_cpu,
	     "what a CPU did in the analysed time",
	     .sections = SECTION_HOST);

#define INTERVAL_COLUMNS(COLUMN)                                                                \
	COLUMN(start_ns, INSTANT, "start", "begin of the interval", cell_u64(row->start_ns))    \
	COLUMN(end_ns, INSTANT, "end", "end of the interval", cell_u64(row->end_ns))            \
	COLUMN(user_ns, NS, "user", "CPU time in programs, of all CPUs",                        \
	       cell_u64(row->all.user_ns))                                                      \
	COLUMN(system_ns, NS, "system", "CPU time in the kernel", cell_u64(row->all.system_ns)) \
	COLUMN(iowait_ns, NS, "iowait", "CPU time idle while threads waited for disks",         \
	       cell_u64(row->all.iowait_ns))                                                    \
	COLUMN(idle_ns, NS, "idle", "CPU time idle otherwise", cell_u64(row->all.idle_ns))      \
	COLUMN(context_switches, COUNT, "switches", "context switches of the machine",          \
	       cell_u64(row->context_switches))                                                 \
	COLUMN(forks, COUNT, "forks", "processes and threads that were made",                   \
	       cell_u64(row->forks))                                                            \
	COLUMN(runnable, COUNT, "runnable", "threads running or ready at its end",              \
	       cell_u64(row->runnable))                                                         \
	COLUMN(blocked, COUNT, "blocked", "threads waiting for disks at its end",               \
	       cell_u64(row->blocked))

static bool next_interval(struct table_cursor *at)
{
	const struct host_results *host = at->of->results->host;

	return host &&
	       cursor_rows(at, host->intervals, host->interval_count, sizeof(*host->intervals));
}

DEFINE_TABLE(host_intervals, struct host_interval, INTERVAL_COLUMNS, next_interval,
	     "what the machine did in one interval, a second unless recorded otherwise",
	     .sections = SECTION_HOST);

#define COUNTER_COLUMNS(COLUMN)                                                                   \
	COLUMN(name, TEXT, "counter", "the counter that was read", cell_string(model, row->name)) \
	COLUMN(cpu, NUMBER, "CPU", "of which CPU; NULL for the whole machine",                    \
	       cell_index(row->cpu))                                                              \
	COLUMN(ts_ns, INSTANT, "time", "when it was read", cell_u64(row->ts_ns))                  \
	COLUMN(value, NUMBER, "value", "its value", cell_u64(row->value))

static bool next_counter(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, at->of->model->counters)) {
		const struct counter *row = at->row;

		if (table_wants_instant(at, row->ts_ns))
			return true;
	}
	return false;
}

DEFINE_TABLE(host_counters, struct counter, COUNTER_COLUMNS, next_counter,
	     "one reading of one of the kernel's counters: pressure, frequency, idle states",
	     .sections = SECTION_TRACE);

#define GROUP_COLUMNS(COLUMN)                                                                  \
	COLUMN(path, TEXT, "cgroup", "path of the group from the hierarchy's root",            \
	       cell_string(model, model->cgroups.row[row->cgroup].path))                       \
	COLUMN(ts_ns, INSTANT, "time", "when it was read", cell_u64(row->ts_ns))               \
	COLUMN(quota_ns, NS, "quota",                                                          \
	       "CPU time that the group may use per period; NULL: no limit",                   \
	       cell_known(row->flags &MODEL_CGROUP_QUOTA && row->quota_ns, row->quota_ns))     \
	COLUMN(period_ns, NS, "period", "length of a period",                                  \
	       cell_known(row->flags &MODEL_CGROUP_QUOTA, row->period_ns))                     \
	COLUMN(periods, COUNT, "periods", "periods in which the group ran, since it was made", \
	       cell_known(row->flags &MODEL_CGROUP_THROTTLING, row->periods))                  \
	COLUMN(throttled_periods, COUNT, "throttled periods",                                  \
	       "periods in which its quota was used up",                                       \
	       cell_known(row->flags &MODEL_CGROUP_THROTTLING, row->throttled_periods))        \
	COLUMN(throttled_ns, NS, "throttled", "time that its threads were kept from running",  \
	       cell_known(row->flags &MODEL_CGROUP_THROTTLING, row->throttled_ns))             \
	COLUMN(usage_ns, NS, "usage", "CPU time that it used",                                 \
	       cell_known(row->flags &MODEL_CGROUP_USAGE, row->usage_ns))

static bool next_group(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, at->of->model->cgroup_stats)) {
		const struct cgroup_stat *row = at->row;

		if (table_wants_instant(at, row->ts_ns))
			return true;
	}
	return false;
}

DEFINE_TABLE(cgroup_readings, struct cgroup_stat, GROUP_COLUMNS, next_group,
	     "one reading of a group of processes; figures count since the group was made",
	     .sections = SECTION_TRACE);
