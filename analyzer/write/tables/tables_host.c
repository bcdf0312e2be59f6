/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the report: CPUs, processes, calls, ioctls. */
#include "analyzer/analyse/api.h"
#include "analyzer/analyse/api_statistic.h"
#include "analyzer/analyse/host.h"
#include "analyzer/analyse/ioctl.h"
#include "analyzer/analyse/launched.h"
#include "analyzer/analyse/processes.h"
#include "analyzer/write/tables/tables.h"

static void put_cpu(struct rows *rows, const struct cpu_usage *row)
{
	rows_index(rows, row->cpu);
	rows_u64(rows, row->user_ns);
	rows_u64(rows, row->system_ns);
	rows_u64(rows, row->irq_ns);
	rows_u64(rows, row->softirq_ns);
	rows_u64(rows, row->iowait_ns);
	rows_u64(rows, row->idle_ns);
	rows_u64(rows, row->steal_ns);
	rows_end(rows);
}

/* The row without a CPU is of all together. */
static void put_cpus(struct rows *rows, const struct host_results *host)
{
	rows_table(rows, "host_cpus",
		   "cpu INTEGER, user_ns INTEGER, system_ns INTEGER, irq_ns INTEGER, "
		   "softirq_ns INTEGER, iowait_ns INTEGER, idle_ns INTEGER, steal_ns INTEGER");
	if (!host->known)
		return;
	put_cpu(rows, &host->all);
	for (uint32_t i = 0; i < host->cpu_count; i++)
		put_cpu(rows, &host->cpus[i]);
}

static void put_intervals(struct rows *rows, const struct host_results *host)
{
	rows_table(rows, "host_intervals",
		   "start_ns INTEGER, end_ns INTEGER, user_ns INTEGER, system_ns INTEGER, "
		   "iowait_ns INTEGER, idle_ns INTEGER, context_switches INTEGER, forks INTEGER, "
		   "runnable INTEGER, blocked INTEGER");
	for (uint32_t i = 0; i < host->interval_count; i++) {
		const struct host_interval *row = &host->intervals[i];

		rows_u64(rows, row->start_ns);
		rows_u64(rows, row->end_ns);
		rows_u64(rows, row->all.user_ns);
		rows_u64(rows, row->all.system_ns);
		rows_u64(rows, row->all.iowait_ns);
		rows_u64(rows, row->all.idle_ns);
		rows_u64(rows, row->context_switches);
		rows_u64(rows, row->forks);
		rows_u64(rows, row->runnable);
		rows_u64(rows, row->blocked);
		rows_end(rows);
	}
}

static void put_process_usage(struct rows *rows, const struct process_results *processes)
{
	rows_table(rows, "process_usage",
		   "process INTEGER, utilization_percent REAL, run_ns INTEGER, user_ns INTEGER, "
		   "system_ns INTEGER, runnable_ns INTEGER, blocked_ns INTEGER, io_ns INTEGER, "
		   "rss_bytes INTEGER, peak_rss_bytes INTEGER");
	for (uint32_t i = 0; i < processes->process_count; i++) {
		const struct process_usage *row = &processes->processes[i];
		bool known = row->source != USAGE_UNKNOWN;

		rows_u64(rows, row->process);
		if (known)
			rows_real(rows, row->utilization);
		else
			rows_null(rows);
		rows_known(rows, known, row->run_ns);
		rows_known(rows, row->has_split, row->user_ns);
		rows_known(rows, row->has_split, row->system_ns);
		rows_known(rows, known, row->runnable_ns);
		rows_known(rows, known, row->blocked_ns);
		rows_known(rows, row->has_io, row->io_ns);
		rows_known(rows, row->has_rss, row->rss_bytes);
		rows_known(rows, row->peak_rss_bytes, row->peak_rss_bytes);
		rows_end(rows);
	}
}

static void put_thread_usage(struct rows *rows, const struct tables *of,
			     const struct process_results *processes)
{
	rows_table(rows, "thread_usage",
		   "thread INTEGER, run_ns INTEGER, runnable_ns INTEGER, blocked_ns INTEGER, "
		   "io_ns INTEGER, voluntary_switches INTEGER, involuntary_switches INTEGER, "
		   "migrations INTEGER");
	for (uint32_t i = 0; i < processes->thread_count; i++) {
		const struct thread_usage *row = &processes->threads[i];
		bool known = row->source != USAGE_UNKNOWN;

		if (!of->threads[row->thread])
			continue;
		rows_u64(rows, row->thread);
		rows_known(rows, known, row->run_ns);
		rows_known(rows, known, row->runnable_ns);
		rows_known(rows, known, row->blocked_ns);
		rows_known(rows, row->has_io, row->io_ns);
		rows_known(rows, row->has_counts, row->voluntary);
		rows_known(rows, row->has_counts, row->involuntary);
		rows_known(rows, row->has_migrations, row->migrations);
		rows_end(rows);
	}
}

static void put_api(struct rows *rows, const struct api_results *api)
{
	rows_table(rows, "api",
		   "function INTEGER, process INTEGER, count INTEGER, open INTEGER, left_calls "
		   "INTEGER, "
		   "end_unknown INTEGER, errors INTEGER, inner_calls INTEGER, total_ns INTEGER, "
		   "mean_ns INTEGER, min_ns INTEGER, "
		   "p50_ns INTEGER, p99_ns INTEGER, max_ns INTEGER");
	for (uint32_t i = 0; i < api->row_count; i++) {
		const struct api_usage *row = &api->rows[i];
		const struct durations *durations = &row->durations;

		rows_u64(rows, row->function);
		rows_index(rows, row->process);
		rows_u64(rows, row->count);
		rows_u64(rows, row->open);
		rows_u64(rows, row->left);
		rows_u64(rows, row->end_unknown);
		rows_u64(rows, row->errors);
		rows_u64(rows, row->inner);
		rows_u64(rows, durations->total_ns);
		rows_known(rows, durations->count, durations->mean_ns);
		rows_known(rows, durations->has_min, durations->min_ns);
		rows_known(rows, durations->has_p50, durations->p50_ns);
		rows_known(rows, durations->has_p99, durations->p99_ns);
		rows_known(rows, durations->has_max, durations->max_ns);
		rows_end(rows);
	}
}

static void put_api_statistic(struct rows *rows, const struct tables *of,
			      const struct api_statistic_results *api)
{
	rows_table(rows, "api_statistic",
		   "level TEXT, name TEXT, process INTEGER, file INTEGER, count INTEGER, "
		   "total_ns INTEGER, min_ns INTEGER, max_ns INTEGER, variance_us2 REAL");
	for (uint32_t i = 0; i < api->count; i++) {
		const struct api_statistic_row *row = &api->rows[i];

		rows_text(rows, row->level);
		rows_text(rows, model_text(of->model, row->name));
		rows_index(rows, row->process);
		rows_index(rows, row->file);
		rows_u64(rows, row->count);
		rows_u64(rows, row->total_ns);
		rows_u64(rows, row->min_ns);
		rows_u64(rows, row->max_ns);
		if (row->variance >= 0)
			rows_real(rows, row->variance);
		else
			rows_null(rows);
		rows_end(rows);
	}
}

static void put_launched(struct rows *rows, const struct tables *of,
			 const struct launched_results *launched)
{
	rows_table(rows, "launched",
		   "runtime TEXT, process INTEGER, name TEXT, named_by TEXT, count INTEGER, "
		   "errors INTEGER, total_ns INTEGER");
	for (uint32_t i = 0; i < launched->row_count; i++) {
		const struct launched_usage *row = &launched->rows[i];

		rows_text(rows, model_text(of->model, row->runtime));
		rows_index(rows, row->process);
		rows_text(rows, model_text(of->model, row->name));
		rows_text(rows, call_named_text(row->named));
		rows_u64(rows, row->count);
		rows_u64(rows, row->errors);
		rows_u64(rows, row->total_ns);
		rows_end(rows);
	}
}

static void put_ioctl(struct rows *rows, const struct tables *of, const struct ioctl_results *ioctl)
{
	char command[64];

	rows_table(rows, "ioctl",
		   "device TEXT, driver TEXT, command TEXT, process INTEGER, count INTEGER, "
		   "open INTEGER, errors INTEGER, total_ns INTEGER, max_ns INTEGER, began_before "
		   "INTEGER");
	for (uint32_t i = 0; i < ioctl->row_count; i++) {
		const struct ioctl_usage *row = &ioctl->rows[i];
		const struct driver *driver = &of->model->drivers.row[row->driver];

		rows_text(rows, model_text(of->model, driver->device));
		rows_text(rows, model_text(of->model, driver->driver));
		rows_text(rows, ioctl_command_name(of->model, row->driver, row->cmd, command,
						   sizeof(command)));
		rows_index(rows, row->process);
		rows_u64(rows, row->count);
		rows_u64(rows, row->open);
		rows_u64(rows, row->errors);
		rows_u64(rows, row->total_ns);
		rows_u64(rows, row->max_ns);
		rows_u64(rows, row->before);
		rows_end(rows);
	}
}

void tables_host(struct rows *rows, const struct tables *of)
{
	const struct results *results = of->results;

	if (results->host) {
		put_cpus(rows, results->host);
		put_intervals(rows, results->host);
	}
	if (results->processes) {
		put_process_usage(rows, results->processes);
		put_thread_usage(rows, of, results->processes);
	}
	if (results->api)
		put_api(rows, results->api);
	if (results->api_statistic)
		put_api_statistic(rows, of, results->api_statistic);
	if (results->launched)
		put_launched(rows, of, results->launched);
	if (results->ioctl)
		put_ioctl(rows, of, results->ioctl);
}
