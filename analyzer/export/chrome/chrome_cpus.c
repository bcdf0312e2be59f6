/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row per CPU with the threads that ran on it. Unknown time and idle time
 * stay empty. Very many short runs are merged (slivers.h).
 */
#include "analyzer/export/chrome/chrome_trace.h"
#include "analyzer/export/timeline/slivers.h"
#include "proto/trace.pb-c.h"

static const char *leaves_text(uint8_t leaves)
{
	switch (leaves) {
	case PROFBPF__SWITCHES__STATE__PREEMPTED: return "preempted";
	case PROFBPF__SWITCHES__STATE__SLEEP: return "sleeps";
	case PROFBPF__SWITCHES__STATE__DISK_SLEEP: return "sleeps, uninterruptible";
	case PROFBPF__SWITCHES__STATE__STOPPED: return "stopped";
	case PROFBPF__SWITCHES__STATE__DEAD: return "exits";
	case CPU_SLICE_GOES_ON: return "goes on";
	default: return "not recorded";
	}
}

static void write_thread(struct chrome_trace *trace, const struct cpu_slice *slice)
{
	const struct model *model = trace->model;

	chrome_arg_uint(&trace->writer, "tid", slice->tid);
	if (slice->thread < model->threads.count &&
	    model->threads.row[slice->thread].process < model->processes.count)
		chrome_arg_uint(
			&trace->writer, "pid",
			model->processes.row[model->threads.row[slice->thread].process].pid);
}

/* Writes one slice for several runs, named by the thread if it is the same for all. */
static void write_slice(struct chrome_trace *trace, uint32_t row, const struct sliver *sliver)
{
	const struct cpu_slice *first = &trace->cpus.slices[sliver->first];
	const struct cpu_slice *last = &trace->cpus.slices[sliver->last];
	struct chrome_writer *writer = &trace->writer;
	char name[EXPORT_NAME_SIZE] = "several threads";

	if (sliver->one_thread)
		export_thread_name(trace->model, first->thread, first->tid, name, sizeof(name));
	chrome_event(writer, 'X', name, "cpu", CHROME_CPUS_PID, row);
	chrome_time(writer, first->start_ns);
	chrome_duration(writer, last->end_ns - first->start_ns);
	if (sliver->one_thread)
		write_thread(trace, first);
	if (sliver->runs > 1) {
		chrome_arg_uint(writer, "runs", sliver->runs);
		chrome_arg_uint(writer, "run_ns", sliver->run_ns);
	}
	chrome_arg_text(writer, "then", leaves_text(last->leaves));
	chrome_event_end(writer);
}

int chrome_write_cpus(struct chrome_trace *trace)
{
	for (uint32_t i = 0; i < trace->cpus.cpu_count; i++) {
		const struct cpu_row *cpu = &trace->cpus.cpus[i];
		struct sliver sliver;
		uint32_t row, at = 0;
		char name[32];

		snprintf(name, sizeof(name), "CPU %u", cpu->cpu);
		row = chrome_add_row(trace, CHROME_CPUS_PID, name);
		while (sliver_next(&trace->cpus, cpu, trace->slivers.resolution_ns, &at, &sliver))
			write_slice(trace, row, &sliver);
	}
	return 0;
}
