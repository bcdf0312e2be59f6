/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row per CPU: which thread ran when. Time of which nothing is known, and
 * known idle time, stays empty.
 */
#include "analyzer/export/chrome/chrome_trace.h"
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

static void write_slice(struct chrome_trace *trace, uint32_t row, const struct cpu_slice *slice)
{
	const struct model *model = trace->model;
	struct chrome_writer *writer = &trace->writer;
	char name[EXPORT_NAME_SIZE];

	if (slice->tid == 0)
		return;
	chrome_event(writer, 'X',
		     export_thread_name(model, slice->thread, slice->tid, name, sizeof(name)),
		     "cpu", CHROME_CPUS_PID, row);
	chrome_time(writer, slice->start_ns);
	chrome_duration(writer, slice->end_ns - slice->start_ns);
	chrome_arg_uint(writer, "tid", slice->tid);
	if (slice->thread < model->threads.count &&
	    model->threads.row[slice->thread].process < model->processes.count)
		chrome_arg_uint(
			writer, "pid",
			model->processes.row[model->threads.row[slice->thread].process].pid);
	chrome_arg_text(writer, "then", leaves_text(slice->leaves));
	chrome_event_end(writer);
}

int chrome_write_cpus(struct chrome_trace *trace)
{
	for (uint32_t i = 0; i < trace->cpus.cpu_count; i++) {
		const struct cpu_row *cpu = &trace->cpus.cpus[i];
		char name[32];
		uint32_t row;

		snprintf(name, sizeof(name), "CPU %u", cpu->cpu);
		row = chrome_add_row(trace, CHROME_CPUS_PID, name);
		for (uint32_t k = 0; k < cpu->count; k++)
			write_slice(trace, row, &trace->cpus.slices[cpu->first + k]);
	}
	return 0;
}
