/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analyzer/write/report/report_parts.h"

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
	json_u64(json, NULL, interval->blocked);
	json_u64(json, NULL, interval->forks);
	json_u64(json, NULL, interval->active_processes);
	json_array_close(json);
}

static void write_series(struct json *json, const struct host_results *host)
{
	static const char *const columns[] = {
		"start_ns", "duration_ns",	"user_ns",   "system_ns",
		"irq_ns",   "softirq_ns",	"iowait_ns", "idle_ns",
		"steal_ns", "context_switches", "runnable",  "blocked",
		"forks",    "active_processes",
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

static void write_columns(struct json *json, const char *const *columns)
{
	json_array(json, "columns");
	for (; *columns; columns++)
		json_text(json, NULL, *columns);
	json_array_close(json);
}

/* Its rows are the intervals of the host's own series. */
static void write_cpu_series(struct json *json, const struct host_results *host, uint32_t cpu)
{
	static const char *const columns[] = { "user_ns",   "system_ns", "irq_ns",   "softirq_ns",
					       "iowait_ns", "idle_ns",	 "steal_ns", NULL };
	const struct cpu_usage *cell;

	if (!host->cells)
		return;
	cell = &host->cells[(size_t)cpu * host->interval_count];
	json_map(json, "series");
	write_columns(json, columns);
	json_array(json, "rows");
	for (uint32_t i = 0; i < host->interval_count; i++, cell++) {
		json_array(json, NULL);
		json_u64(json, NULL, cell->user_ns);
		json_u64(json, NULL, cell->system_ns);
		json_u64(json, NULL, cell->irq_ns);
		json_u64(json, NULL, cell->softirq_ns);
		json_u64(json, NULL, cell->iowait_ns);
		json_u64(json, NULL, cell->idle_ns);
		json_u64(json, NULL, cell->steal_ns);
		json_array_close(json);
	}
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
		json_decimal(json, "blocked_mean", host->blocked_mean);
		json_array(json, "cpus");
		for (uint32_t i = 0; i < host->cpu_count; i++) {
			json_map(json, NULL);
			json_u64(json, "cpu", host->cpus[i].cpu);
			write_usage(json, &host->cpus[i]);
			write_cpu_series(json, host, i);
			json_map_close(json);
		}
		json_array_close(json);
		write_series(json, host);
	}
	json_counters(json, model);
	json_map_close(json);
}

static const char *source_name(uint8_t source)
{
	return source == USAGE_TIMELINE ? "switches" : "accounts";
}

#define SLEEPS_MAX 32 /* kinds of sleeps told of a thread */

/* Reasons that did not occur are left out. */
static void write_reasons(struct json *json, bool known, const uint64_t *reason_ns,
			  uint64_t throttled_ns)
{
	char name[32];

	if (!known)
		return;
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

static void write_waker(struct json *json, const struct model *model, const struct sleep_sum *sum)
{
	const struct thread *waker;

	if (sum->waker >= model->threads.count) {
		if (sum->flags & SPAN_WOKEN_TIMER)
			json_text(json, "woken_by", "timer");
		else if (sum->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ))
			json_text(json, "woken_by", "interrupt");
		if (sum->interrupt)
			json_text(json, "interrupt", model_text(model, sum->interrupt));
		return;
	}
	waker = &model->threads.row[sum->waker];
	json_text(json, "woken_by", model_text(model, waker->name));
	json_u64(json, "woken_by_tid", waker->tid);
	if (waker->process < model->processes.count)
		json_u64(json, "woken_by_pid", model->processes.row[waker->process].pid);
}

/* The longest kinds of sleeps of a thread. */
static void write_sleeps(struct json *json, const struct model *model,
			 struct syscall_table *syscalls, const struct sleep_sums *sums)
{
	char text[256];

	json_array(json, "sleeps");
	for (uint32_t i = 0; i < sums->count && i < SLEEPS_MAX; i++) {
		const struct sleep_sum *sum = &sums->row[i];
		struct span span = { .object = sum->object,
				     .syscall = sum->syscall,
				     .state = sum->state,
				     .flags = sum->flags };
		const struct sleep_object *object = sleep_object(model, &span);
		const char *call = syscall_name(syscalls, sum->syscall);

		json_map(json, NULL);
		json_text(json, "reason",
			  sleep_reason_name(sleep_reason_of(model, syscalls, &span,
							    sum->disk != INDEX_NONE)));
		if (call)
			json_text(json, "syscall", call);
		if (object) {
			json_text(json, "object", sleep_kind_name(object->kind));
			json_text(json, "name",
				  sleep_object_text(model, object, text, sizeof(text)));
		}
		if (sum->flags & SPAN_FAULT)
			json_bool(json, "major", sleep_is_major_fault(&span));
		if (sum->disk < model->drivers.count) {
			json_text(json, "disk",
				  model_text(model, model->drivers.row[sum->disk].device));
			if (sum->count)
				json_u64(json, "disk_mean_ns", sum->disk_ns / sum->count);
		}
		json_bool(json, "timeout", sum->flags & SPAN_TIMEOUT);
		json_bool(json, "uninterruptible", sum->state == STATE_DISK);
		json_u64(json, "count", sum->count);
		json_u64(json, "total_ns", sum->ns);
		json_u64(json, "max_ns", sum->max_ns);
		write_waker(json, model, sum);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_thread(struct json *json, const struct model *model,
			 struct syscall_table *syscalls, const struct thread_usage *usage)
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
		if (usage->stolen_ns)
			json_u64(json, "stolen_ns", usage->stolen_ns);
	}
	if (model->interrupts.count && thread->target)
		json_u64(json, "interrupted_ns", usage->interrupted_ns);
	write_reasons(json, usage->has_reasons, usage->reason_ns, usage->throttled_ns);
	if (usage->has_reasons && thread->target)
		write_sleeps(json, model, syscalls, &usage->sleeps);
	if (usage->has_counts) {
		json_u64(json, "voluntary_switches", usage->voluntary);
		json_u64(json, "involuntary_switches", usage->involuntary);
	}
	if (usage->has_migrations) {
		json_u64(json, "migrations", usage->migrations);
		json_u64(json, "minor_faults", usage->minor_faults);
		json_u64(json, "major_faults", usage->major_faults);
	}
	if (usage->has_bytes) {
		json_u64(json, "read_bytes", usage->bytes.read_bytes);
		json_u64(json, "write_bytes", usage->bytes.write_bytes);
		json_u64(json, "read_chars", usage->bytes.read_chars);
		json_u64(json, "write_chars", usage->bytes.write_chars);
	}
	json_map_close(json);
}

static void write_process(struct json *json, const struct model *model,
			  const struct results *results, const struct process_usage *usage)
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
		if (usage->stolen_ns)
			json_u64(json, "stolen_ns", usage->stolen_ns);
	}
	if (usage->has_split) {
		json_u64(json, "user_ns", usage->user_ns);
		json_u64(json, "system_ns", usage->system_ns);
	}
	if (usage->has_io)
		json_u64(json, "io_ns", usage->io_ns);
	json_process_facts(json, model, results, usage);
	if (model->interrupts.count && process->target)
		json_u64(json, "interrupted_ns", usage->interrupted_ns);
	write_reasons(json, usage->has_reasons, usage->reason_ns, usage->throttled_ns);
	json_array(json, "threads");
	for (uint32_t i = 0; i < usage->thread_count; i++)
		write_thread(json, model, results->processes->syscalls, &usage->threads[i]);
	json_array_close(json);
	json_map_close(json);
}

void json_processes_section(struct json *json, const struct model *model,
			    const struct results *results)
{
	const struct process_results *processes = results->processes;

	json_array(json, "processes");
	for (uint32_t i = 0; i < processes->process_count; i++)
		write_process(json, model, results, &processes->processes[i]);
	json_array_close(json);
	json_cgroups(json, model, results);
}
