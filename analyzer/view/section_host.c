/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's CPUs, and readings of the kernel's counters. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/analyse/host/host.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"
#include "proto/trace.pb-c.h"

#define TIMES(COLUMN, of_cpu)                                                                  \
	COLUMN(user_ns, NS, "user", "in programs", cell_u64((of_cpu).user_ns))                 \
	COLUMN(system_ns, NS, "system", "in the kernel", cell_u64((of_cpu).system_ns))         \
	COLUMN(irq_ns, NS, "irq", "in interrupts", cell_u64((of_cpu).irq_ns))                  \
	COLUMN(softirq_ns, NS, "softirq", "in soft interrupts", cell_u64((of_cpu).softirq_ns)) \
	COLUMN(iowait_ns, NS, "iowait", "idle, a thread waited for a disk",                    \
	       cell_u64((of_cpu).iowait_ns))                                                   \
	COLUMN(idle_ns, NS, "idle", "idle otherwise", cell_u64((of_cpu).idle_ns))              \
	COLUMN(steal_ns, NS, "stolen", "given to others by the hypervisor",                    \
	       cell_u64((of_cpu).steal_ns))

/* ---- By CPU */

static struct cell share(const struct cpu_usage *usage, uint64_t ns)
{
	double total = (double)usage->user_ns + (double)usage->system_ns + (double)usage->irq_ns +
		       (double)usage->softirq_ns + (double)usage->iowait_ns +
		       (double)usage->idle_ns + (double)usage->steal_ns;

	return cell_known_real(total > 0, 100 * (double)ns / total);
}

#define CPU_FIGURES(COLUMN)                                                                       \
	COLUMN(utilization_percent, PERCENT, "busy", "not idle", cell_real(cpu_utilization(row))) \
	COLUMN(user, PERCENT, "user", "share of user_ns", share(row, row->user_ns))               \
	COLUMN(system, PERCENT, "system", "share of system_ns", share(row, row->system_ns))       \
	COLUMN(irq, PERCENT, "irq", "share of irq_ns", share(row, row->irq_ns))                   \
	COLUMN(softirq, PERCENT, "softirq", "share of softirq_ns", share(row, row->softirq_ns))   \
	COLUMN(iowait, PERCENT, "iowait", "share of iowait_ns", share(row, row->iowait_ns))       \
	COLUMN(idle, PERCENT, "idle", "share of idle_ns", share(row, row->idle_ns))               \
	COLUMN(stolen, PERCENT, "stolen", "share of steal_ns", share(row, row->steal_ns))

DEFINE_FIGURES(cpu_figures, struct cpu_usage, CPU_FIGURES, NULL);

#define CELL_COLUMNS(COLUMN) TIMES(COLUMN, *row)

/* Iterates over the intervals of the host's own series for the CPU with number @m. */
static bool next_cell(struct table_cursor *at)
{
	const struct host_results *host = at->of->results->host;

	return host->cells && cursor_rows(at, host->cells + at->m * host->interval_count,
					  host->interval_count, sizeof(*host->cells));
}

DEFINE_FIGURES(cpu_cells, struct cpu_usage, CELL_COLUMNS, next_cell);

static void of_cpu(struct table_cursor *at, const struct table_cursor *outer)
{
	const struct cpu_usage *cpu = outer->row;

	at->m = (uint64_t)(cpu - at->of->results->host->cpus);
}

static const struct view CPU_SERIES = {
	"series", NULL, &cpu_cells, NULL, VIEW_MATRIX, .within = of_cpu, .optional = true
};

static const struct view_column CPU_COLUMNS[] = {
	{ "cpu" },     { "user_ns" },	 { "system_ns" },
	{ "irq_ns" },  { "softirq_ns" }, { "iowait_ns" },
	{ "idle_ns" }, { "steal_ns" },	 { "utilization_percent" },
	{ NULL },
};

static const struct view_column SHARE_COLUMNS[] = {
	{ "cpu", .unknown = "all" },
	{ "utilization_percent" },
	{ "user" },
	{ "system" },
	{ "irq" },
	{ "softirq" },
	{ "iowait" },
	{ "idle" },
	{ "stolen" },
	{ NULL },
};

static bool is_cpu(const struct table_cursor *at, const struct table_cursor *outer)
{
	return ((const struct cpu_usage *)at->row)->cpu != INDEX_NONE;
}

/* Shows the sum of all CPUs, and as many CPUs as requested. */
static bool is_shown(const struct table_cursor *at, const struct table_cursor *outer)
{
	uint32_t top = report_of(at)->options->top;

	return !is_cpu(at, outer) || !top || at->k <= top;
}

static const struct view CPUS = { "cpus",
				  NULL,
				  &table_host_cpus,
				  CPU_COLUMNS,
				  .figures = &cpu_figures,
				  .where = is_cpu,
				  .within = view_all,
				  .inside = { &CPU_SERIES } };

static const struct view SHARES = {
	NULL, NULL, &table_host_cpus, SHARE_COLUMNS, .figures = &cpu_figures, .where = is_shown
};

/* ---- Whole machine */

#define INTERVAL_COLUMNS(COLUMN)                                                                 \
	COLUMN(start_ns, INSTANT, "start", "begin of the interval", cell_u64(row->start_ns))     \
	COLUMN(duration_ns, NS, "duration", "its length", cell_u64(row->end_ns - row->start_ns)) \
	TIMES(COLUMN, row->all)                                                                  \
	COLUMN(context_switches, COUNT, "switches", "context switches",                          \
	       cell_u64(row->context_switches))                                                  \
	COLUMN(runnable, COUNT, "runnable", "threads running or ready at its end",               \
	       cell_u64(row->runnable))                                                          \
	COLUMN(blocked, COUNT, "blocked", "threads waiting for disks at its end",                \
	       cell_u64(row->blocked))                                                           \
	COLUMN(forks, COUNT, "forks", "new processes and threads", cell_u64(row->forks))         \
	COLUMN(active_processes, COUNT, "active", "processes that used a CPU",                   \
	       cell_u64(row->active_processes))

DEFINE_NEXT(next_interval, at->of->results->host, intervals, interval_count)
DEFINE_FIGURES(intervals, struct host_interval, INTERVAL_COLUMNS, next_interval);

static const struct view INTERVALS = {
	NULL, NULL, &intervals, NULL, VIEW_MATRIX, .within = view_all
};

static bool next_host(struct table_cursor *at)
{
	const struct host_results *host = at->of->results->host;

	return host->known && cursor_rows(at, host, 1, sizeof(*host));
}

static struct cell mean_interval(const struct host_results *host)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < host->interval_count; i++)
		ns += host->intervals[i].end_ns - host->intervals[i].start_ns;
	return cell_known(host->interval_count,
			  host->interval_count ? ns / host->interval_count : 0);
}

#define SERIES_COLUMNS(COLUMN) \
	COLUMN(interval_ns, NS, "interval", "their mean length", mean_interval(row))

DEFINE_FIGURES(series, struct host_results, SERIES_COLUMNS, next_host);

static const struct view SERIES = {
	"series", NULL, &series, NULL, VIEW_ONE, .within = view_all, .inside = { &INTERVALS }
};

#define HOST_COLUMNS(COLUMN)                                                                     \
	COLUMN(start_ns, INSTANT, "start", "from when on figures are known",                     \
	       cell_u64(row->from_ns))                                                           \
	COLUMN(duration_ns, NS, "duration", "for how long", cell_u64(row->to_ns - row->from_ns)) \
	TIMES(COLUMN, row->all)                                                                  \
	COLUMN(utilization_percent, PERCENT, "busy", "not idle",                                 \
	       cell_real(cpu_utilization(&row->all)))                                            \
	COLUMN(context_switches, COUNT, "switches", "context switches",                          \
	       cell_u64(row->context_switches))                                                  \
	COLUMN(forks, COUNT, "forks", "new processes and threads", cell_u64(row->forks))         \
	COLUMN(runnable_mean, REAL, "runnable", "threads running or ready",                      \
	       cell_real(row->runnable_mean))                                                    \
	COLUMN(blocked_mean, REAL, "blocked", "threads waiting for disks",                       \
	       cell_real(row->blocked_mean))

DEFINE_FIGURES(hosts, struct host_results, HOST_COLUMNS, next_host);

static const struct view HOST = {
	NULL, NULL, &hosts, NULL, VIEW_ONE, .inside = { &CPUS, &SERIES }
};

static const char *unit_name(uint8_t unit)
{
	switch (unit) {
	case PROFBPF__COUNTERS__UNIT__HZ: return "hz";
	case PROFBPF__COUNTERS__UNIT__NS_TOTAL: return "ns_total";
	default: return "number";
	}
}

static bool is_same(const struct counter *a, const struct counter *b)
{
	return a->name == b->name && a->cpu == b->cpu;
}

/* Pressure, frequencies and idle states: all readings of one counter are written together. */
static void write_counters(struct json *json, const struct model *model)
{
	const struct counter *rows = model->counters.row;

	for (uint32_t i = 0; i < model->counters.count; i++) {
		if (i == 0 || !is_same(&rows[i], &rows[i - 1])) {
			json_map(json, NULL);
			json_text(json, "name", model_text(model, rows[i].name));
			if (rows[i].cpu != INDEX_NONE)
				json_u64(json, "cpu", rows[i].cpu);
			json_text(json, "unit", unit_name(rows[i].unit));
			json_array(json, "samples");
		}
		json_array(json, NULL);
		json_u64(json, NULL, rows[i].ts_ns);
		json_u64(json, NULL, rows[i].value);
		json_array_close(json);
		if (i + 1 == model->counters.count || !is_same(&rows[i], &rows[i + 1])) {
			json_array_close(json);
			json_map_close(json);
		}
	}
}

static void host_json(const struct report *report)
{
	json_map(report->json, "host");
	view_json(report, &HOST);
	if (report->model->counters.count) {
		json_array(report->json, "counters");
		write_counters(report->json, report->model);
		json_array_close(report->json);
	}
	json_map_close(report->json);
}

static int host_text(const struct report *report)
{
	const struct host_results *host = report->results->host;
	double seconds = (double)(host->to_ns - host->from_ns) / 1e9;
	FILE *out = report->out;
	int err;

	print_heading(out, report->options, "Host CPUs (busy % of all: 100 is all CPUs)");
	if (!host->known) {
		fputs("unknown: the trace has fewer than two samples of the CPUs' figures\n", out);
		return 0;
	}
	err = view_text(report, &SHARES);
	if (err)
		return err;
	text_more(out, "CPUs", host->cpu_count, rows_shown(report->options, host->cpu_count));
	fprintf(out,
		"%" PRIu64 " context switches (%.0f per second), %" PRIu64 " new threads and "
		"processes",
		host->context_switches, (double)host->context_switches / seconds, host->forks);
	if (!isnan(host->runnable_mean))
		fprintf(out, ", on average %.1f threads running or ready", host->runnable_mean);
	fputc('\n', out);
	return 0;
}

const struct section section_host = { host_text, host_json, VIEWS(&HOST, &SHARES),
				      "host" };
