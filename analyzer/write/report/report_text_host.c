/* SPDX-License-Identifier: Apache-2.0 */
/* The host's CPUs, processes and threads. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

static double total_ns(const struct cpu_usage *usage)
{
	return (double)usage->user_ns + (double)usage->system_ns + (double)usage->irq_ns +
	       (double)usage->softirq_ns + (double)usage->iowait_ns + (double)usage->idle_ns +
	       (double)usage->steal_ns;
}

static void share(struct table *table, uint64_t ns, double total)
{
	if (total > 0)
		table_percent(table, 100 * (double)ns / total);
	else
		table_unknown(table);
}

static void cpu_row(struct table *table, const struct cpu_usage *usage)
{
	double total = total_ns(usage), busy = cpu_utilization(usage);

	table_row(table);
	if (usage->cpu == INDEX_NONE)
		table_text(table, "all");
	else
		table_count(table, usage->cpu);
	if (isnan(busy))
		table_unknown(table);
	else
		table_percent(table, busy);
	share(table, usage->user_ns, total);
	share(table, usage->system_ns, total);
	share(table, usage->irq_ns, total);
	share(table, usage->softirq_ns, total);
	share(table, usage->iowait_ns, total);
	share(table, usage->idle_ns, total);
	share(table, usage->steal_ns, total);
}

static int cpu_table(FILE *out, const struct host_results *host,
		     const struct report_options *options)
{
	static const char *const headings[] = { "CPU",	    "busy %", "user %",
						"system %", "irq %",  "softirq %",
						"iowait %", "idle %", "stolen %" };
	struct table *table = table_new(options);
	uint32_t shown = rows_shown(options, host->cpu_count);
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		table_column(table, headings[i], TABLE_RIGHT);
	cpu_row(table, &host->all);
	for (uint32_t i = 0; i < shown; i++)
		cpu_row(table, &host->cpus[i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "CPUs", host->cpu_count, shown);
	return err;
}

int text_host(FILE *out, const struct model *model, const struct results *results,
	      const struct report_options *options)
{
	const struct host_results *host = results->host;
	double seconds = (double)(host->to_ns - host->from_ns) / 1e9;
	int err;

	print_heading(out, options, "Host CPUs (busy % of all: 100 is all CPUs)");
	if (!host->known) {
		fputs("unknown: the trace has fewer than two samples of the CPUs' figures\n", out);
		return 0;
	}
	err = cpu_table(out, host, options);
	if (err)
		return err;
	fprintf(out,
		"%" PRIu64 " context switches (%.0f per second), %" PRIu64 " new threads and "
		"processes",
		host->context_switches, (double)host->context_switches / seconds, host->forks);
	if (!isnan(host->runnable_mean))
		fprintf(out, ", on average %.1f threads running or ready", host->runnable_mean);
	fputc('\n', out);
	return 0;
}

static void usage_columns(struct table *table)
{
	table_column(table, "pid/tid", TABLE_LEFT);
	table_column(table, "name", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "CPU %", TABLE_RIGHT);
	table_column(table, "on CPU ms", TABLE_RIGHT);
	table_column(table, "user ms", TABLE_RIGHT);
	table_column(table, "system ms", TABLE_RIGHT);
	table_column(table, "ready ms", TABLE_RIGHT);
	table_column(table, "blocked ms", TABLE_RIGHT);
	table_column(table, "in I/O ms", TABLE_RIGHT);
	table_column(table, "vol. sw.", TABLE_RIGHT);
	table_column(table, "invol. sw.", TABLE_RIGHT);
	table_column(table, "migr.", TABLE_RIGHT);
}

static void process_row(struct table *table, const struct model *model,
			const struct process_usage *usage)
{
	const struct process *process = &model->processes.row[usage->process];
	bool is_known = usage->source != USAGE_UNKNOWN;
	const char *name = model_text(model, process->name);

	table_row(table);
	table_count(table, process->pid);
	table_text(table, *name ? name : "unknown");
	if (is_known)
		table_percent(table, usage->utilization);
	else
		table_unknown(table);
	table_ms_if(table, is_known, usage->run_ns);
	table_ms_if(table, usage->has_split, usage->user_ns);
	table_ms_if(table, usage->has_split, usage->system_ns);
	table_ms_if(table, is_known, usage->runnable_ns);
	table_ms_if(table, is_known, usage->blocked_ns);
	table_ms_if(table, usage->has_io, usage->io_ns);
	table_count_if(table, is_known, usage->voluntary);
	table_count_if(table, is_known, usage->involuntary);
	table_count_if(table, usage->has_migrations, usage->migrations);
}

static void thread_row(struct table *table, const struct model *model,
		       const struct thread_usage *usage, uint64_t window_ns)
{
	const struct thread *thread = &model->threads.row[usage->thread];
	bool is_known = usage->source != USAGE_UNKNOWN;
	const char *name = model_text(model, thread->name);

	table_row(table);
	table_format(table, "  %u", thread->tid);
	table_format(table, "  %s", *name ? name : "unknown");
	if (is_known && window_ns)
		table_percent(table, 100 * (double)usage->run_ns / (double)window_ns);
	else
		table_unknown(table);
	table_ms_if(table, is_known, usage->run_ns);
	table_empty(table);
	table_empty(table);
	table_ms_if(table, is_known, usage->runnable_ns);
	table_ms_if(table, is_known, usage->blocked_ns);
	table_ms_if(table, usage->has_io, usage->io_ns);
	table_count_if(table, usage->has_counts, usage->voluntary);
	table_count_if(table, usage->has_counts, usage->involuntary);
	table_count_if(table, usage->has_migrations, usage->migrations);
}

static void more_threads(struct table *table, uint32_t hidden)
{
	table_row(table);
	table_empty(table);
	table_format(table, "  ... %u more threads", hidden);
}

static int targets_table(FILE *out, const struct model *model,
			 const struct process_results *processes,
			 const struct report_options *options)
{
	struct table *table = table_new(options);
	uint32_t targets = 0, shown;
	int err;

	if (!table)
		return -ENOMEM;
	usage_columns(table);
	while (targets < processes->process_count &&
	       model->processes.row[processes->processes[targets].process].target)
		targets++;
	shown = rows_shown(options, targets);
	for (uint32_t i = 0; i < shown; i++) {
		const struct process_usage *usage = &processes->processes[i];
		uint32_t threads = rows_shown(options, usage->thread_count);

		process_row(table, model, usage);
		for (uint32_t t = 0; t < threads; t++)
			thread_row(table, model, &usage->threads[t], processes->window_ns);
		if (threads < usage->thread_count)
			more_threads(table, usage->thread_count - threads);
	}
	err = targets ? table_print(table, out) : 0;
	table_free(table);
	if (targets == 0)
		fputs("no target process is known\n", out);
	text_more(out, "target processes", targets, shown);
	return err;
}

static int others_table(FILE *out, const struct model *model,
			const struct process_results *processes,
			const struct report_options *options)
{
	struct table *table;
	uint32_t first = 0, count, shown;
	int err;

	while (first < processes->process_count &&
	       model->processes.row[processes->processes[first].process].target)
		first++;
	count = processes->process_count - first;
	if (count == 0)
		return 0;
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	fputs("\nOther processes of this machine (their threads together):\n", out);
	usage_columns(table);
	shown = rows_shown(options, count);
	for (uint32_t i = 0; i < shown; i++)
		process_row(table, model, &processes->processes[first + i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "processes", count, shown);
	return err;
}

int text_processes(FILE *out, const struct model *model, const struct results *results,
		   const struct report_options *options)
{
	const struct process_results *processes = results->processes;
	int err;

	print_heading(out, options, "Processes and threads (CPU %: 100 is one CPU)");
	err = targets_table(out, model, processes, options);
	if (!err)
		err = text_process_facts(out, model, results, options);
	if (!err)
		err = text_cgroups(out, model, results, options);
	if (!err)
		err = text_sleeps(out, model, processes, options);
	if (!err)
		err = others_table(out, model, processes, options);
	if (err)
		return err;
	fputs("\nready: waiting for a CPU; blocked: asleep, of which in I/O: waiting for a disk or "
	      "device; sw.: switches\nfrom the CPU, voluntary to sleep, involuntary because "
	      "preempted; migr.: moves to another CPU. A process' figures\nare sums over its "
	      "threads.\n",
	      out);
	if (processes->records_lost)
		fputs("Scheduling records were lost: times are the kernel's own sums, taken about "
		      "once a second.\n",
		      out);
	return 0;
}
