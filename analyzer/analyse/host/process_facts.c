/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/process_facts.h"

#include "analyzer/analyse/host/cgroup_limits.h"
#include "proto/trace.pb-c.h"

static void sum_threads(struct process_usage *usage, struct cpu_sums *sums)
{
	usage->has_bytes = usage->thread_count > 0;
	for (uint32_t i = 0; i < usage->thread_count; i++) {
		const struct thread_usage *thread = &usage->threads[i];

		usage->minor_faults += thread->minor_faults;
		usage->major_faults += thread->major_faults;
		usage->has_bytes &= thread->has_bytes;
		usage->bytes.read_bytes += thread->bytes.read_bytes;
		usage->bytes.write_bytes += thread->bytes.write_bytes;
		usage->bytes.read_chars += thread->bytes.read_chars;
		usage->bytes.write_chars += thread->bytes.write_chars;
		sums->run_ns += thread->run_ns;
		sums->user_ticks_ns += thread->user_ticks_ns;
		sums->system_ticks_ns += thread->system_ticks_ns;
	}
}

/* Divides the threads' run time in the proportion of the kernel's sums; the parts add up to it. */
static void split_run(const struct process_cpu *cpu, const struct cpu_sums *window,
		      struct process_usage *usage)
{
	struct cpu_split split = cpu_split(window);

	usage->has_split = window->user_ticks_ns || window->system_ticks_ns || !usage->run_ns;
	if (cpu->known && cpu->after.run_ns) {
		split = cpu_split_growth(&cpu->before, &cpu->after);
		usage->has_split = true;
	}
	usage->system_ns = cpu_split_scale(&split, usage->run_ns);
	usage->user_ns = usage->run_ns - usage->system_ns;
}

void process_facts(const struct model *model, const struct analysis_window *window,
		   const struct process_cpu *cpu, struct process_usage *usage)
{
	uint32_t first, count = process_stats_of(model, usage->process, &first);
	struct cpu_sums sums = { 0 };

	sum_threads(usage, &sums);
	if (usage->source != USAGE_UNKNOWN)
		split_run(cpu, &sums, usage);
	usage->cgroup = cgroup_last(model, usage->process);
	for (uint32_t i = first; i < first + count; i++) {
		const struct process_stat *row = &model->process_stats.row[i];

		if (row->ns_pid) {
			usage->ns_pid = row->ns_pid;
			usage->ns_inode = row->ns_inode;
		}
		if (row->ts_ns > window->to_ns && i > first)
			continue;
		if (row->peak_rss_bytes > usage->peak_rss_bytes)
			usage->peak_rss_bytes = row->peak_rss_bytes;
		if (row->flags & PROFBPF__PROCESSES__FLAG__HAS_RSS) {
			usage->has_rss = true;
			usage->rss_bytes = row->rss_bytes;
		}
	}
}
