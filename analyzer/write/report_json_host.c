/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report_parts.h"

static void write_usage(struct json *json, const struct cpu_usage *usage)
{
	json_u64(json, "user_ns", usage->user_ns);
	json_u64(json, "system_ns", usage->system_ns);
	json_u64(json, "irq_ns", usage->irq_ns);
	json_u64(json, "softirq_ns", usage->softirq_ns);
	json_u64(json, "iowait_ns", usage->iowait_ns);
	json_u64(json, "idle_ns", usage->idle_ns);
	json_u64(json, "steal_ns", usage->steal_ns);
	json_decimal(json, "utilization_percent", cpu_utilization(usage));
}

static void write_interval(struct json *json, const struct host_interval *interval)
{
	json_array(json, NULL);
	json_u64(json, NULL, interval->start_ns);
	json_u64(json, NULL, interval->end_ns - interval->start_ns);
	json_u64(json, NULL, interval->all.user_ns);
	json_u64(json, NULL, interval->all.system_ns);
	json_u64(json, NULL, interval->all.irq_ns);
	json_u64(json, NULL, interval->all.softirq_ns);
	json_u64(json, NULL, interval->all.iowait_ns);
	json_u64(json, NULL, interval->all.idle_ns);
	json_u64(json, NULL, interval->all.steal_ns);
	json_u64(json, NULL, interval->context_switches);
	json_u64(json, NULL, interval->runnable);
	json_array_close(json);
}

static void write_series(struct json *json, const struct host_results *host)
{
	static const char *const columns[] = {
		"start_ns", "duration_ns",	"user_ns",   "system_ns",
		"irq_ns",   "softirq_ns",	"iowait_ns", "idle_ns",
		"steal_ns", "context_switches", "runnable",
	};
	uint64_t ns = 0;

	for (uint32_t i = 0; i < host->interval_count; i++)
		ns += host->intervals[i].end_ns - host->intervals[i].start_ns;
	json_map(json, "series");
	if (host->interval_count)
		json_u64(json, "interval_ns", ns / host->interval_count);
	json_array(json, "columns");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		json_text(json, NULL, columns[i]);
	json_array_close(json);
	json_array(json, "rows");
	for (uint32_t i = 0; i < host->interval_count; i++)
		write_interval(json, &host->intervals[i]);
	json_array_close(json);
	json_map_close(json);
}

void json_host_section(struct json *json, const struct model *model, const struct results *results)
{
	const struct host_results *host = results->host;

	json_map(json, "host");
	if (host->known) {
		json_u64(json, "start_ns", host->from_ns);
		json_u64(json, "duration_ns", host->to_ns - host->from_ns);
		write_usage(json, &host->all);
		json_u64(json, "context_switches", host->context_switches);
		json_u64(json, "forks", host->forks);
		json_decimal(json, "runnable_mean", host->runnable_mean);
		json_array(json, "cpus");
		for (uint32_t i = 0; i < host->cpu_count; i++) {
			json_map(json, NULL);
			json_u64(json, "cpu", host->cpus[i].cpu);
			write_usage(json, &host->cpus[i]);
			json_map_close(json);
		}
		json_array_close(json);
		write_series(json, host);
	}
	json_map_close(json);
}

static const char *source_name(uint8_t source)
{
	return source == USAGE_TIMELINE ? "switches" : "accounts";
}

static void write_thread(struct json *json, const struct model *model,
			 const struct thread_usage *usage)
{
	const struct thread *thread = &model->threads.row[usage->thread];

	json_map(json, NULL);
	json_u64(json, "tid", thread->tid);
	json_text(json, "name", model_text(model, thread->name));
	if (usage->source != USAGE_UNKNOWN) {
		json_text(json, "source", source_name(usage->source));
		json_u64(json, "alive_ns", usage->alive_ns);
		json_u64(json, "run_ns", usage->run_ns);
		json_u64(json, "runnable_ns", usage->runnable_ns);
		json_u64(json, "blocked_ns", usage->blocked_ns);
		if (usage->has_io)
			json_u64(json, "io_ns", usage->io_ns);
		if (usage->unknown_ns)
			json_u64(json, "unknown_ns", usage->unknown_ns);
	}
	if (usage->has_counts) {
		json_u64(json, "voluntary_switches", usage->voluntary);
		json_u64(json, "involuntary_switches", usage->involuntary);
	}
	if (usage->has_migrations) {
		json_u64(json, "migrations", usage->migrations);
		json_u64(json, "minor_faults", usage->minor_faults);
		json_u64(json, "major_faults", usage->major_faults);
	}
	json_map_close(json);
}

static void write_process(struct json *json, const struct model *model,
			  const struct process_usage *usage)
{
	const struct process *process = &model->processes.row[usage->process];

	json_map(json, NULL);
	json_u64(json, "pid", process->pid);
	json_text(json, "name", model_text(model, process->name));
	if (*model_text(model, process->cmdline))
		json_text(json, "cmdline", model_text(model, process->cmdline));
	json_bool(json, "target", process->target);
	if (process->parent_pid)
		json_u64(json, "parent_pid", process->parent_pid);
	if (usage->source != USAGE_UNKNOWN) {
		json_decimal(json, "utilization_percent", usage->utilization);
		json_u64(json, "run_ns", usage->run_ns);
		json_u64(json, "runnable_ns", usage->runnable_ns);
		json_u64(json, "blocked_ns", usage->blocked_ns);
	}
	if (usage->has_split) {
		json_u64(json, "user_ns", usage->user_ns);
		json_u64(json, "system_ns", usage->system_ns);
	}
	if (usage->has_io)
		json_u64(json, "io_ns", usage->io_ns);
	json_array(json, "threads");
	for (uint32_t i = 0; i < usage->thread_count; i++)
		write_thread(json, model, &usage->threads[i]);
	json_array_close(json);
	json_map_close(json);
}

void json_processes_section(struct json *json, const struct model *model,
			    const struct results *results)
{
	const struct process_results *processes = results->processes;

	json_array(json, "processes");
	for (uint32_t i = 0; i < processes->process_count; i++)
		write_process(json, model, &processes->processes[i]);
	json_array_close(json);
}
