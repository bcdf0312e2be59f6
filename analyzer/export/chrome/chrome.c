/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/export/chrome/chrome_trace.h"
#include "analyzer/export/export.h"
#include "analyzer/export/export_error.h"
#include "analyzer/export/host_load.h"
#include "analyzer/export/kernel_readings.h"
#include "analyzer/export/timeline/slivers.h"
#include "analyzer/view/report.h"

void chrome_name_process(struct chrome_trace *trace, uint32_t pid, const char *name, uint32_t sort)
{
	struct chrome_writer *writer = &trace->writer;

	chrome_event(writer, 'M', "process_name", NULL, pid, 0);
	chrome_arg_text(writer, "name", name);
	chrome_event_end(writer);
	chrome_event(writer, 'M', "process_sort_index", NULL, pid, 0);
	chrome_arg_uint(writer, "sort_index", sort);
	chrome_event_end(writer);
}

void chrome_name_thread(struct chrome_trace *trace, uint32_t pid, uint32_t tid, const char *name)
{
	chrome_event(&trace->writer, 'M', "thread_name", NULL, pid, tid);
	chrome_arg_text(&trace->writer, "name", name);
	chrome_event_end(&trace->writer);
}

uint32_t chrome_add_row(struct chrome_trace *trace, uint32_t pid, const char *name)
{
	uint32_t tid = CHROME_ROWS_TID + trace->rows++;

	chrome_name_thread(trace, pid, tid, name);
	return tid;
}

uint32_t chrome_process(struct chrome_trace *trace, uint32_t process, uint32_t pid)
{
	const struct model *model = trace->model;
	char name[EXPORT_NAME_SIZE];

	if (process >= model->processes.count)
		return pid;
	pid = model->processes.row[process].pid;
	if (!trace->named[process])
		chrome_name_process(trace, pid,
				    export_process_name(model, process, name, sizeof(name)),
				    CHROME_DEVICES_PID + CHROME_DEVICE_PIDS * model->devices.count);
	trace->named[process] = true;
	return pid;
}

/* An array has no place for metadata of the whole trace: it goes into an event. */
static void write_merged(struct chrome_writer *writer, const char *merged, const char *shorter,
			 const struct sliver_counts *counts)
{
	if (!counts->runs)
		return;
	chrome_arg_uint(writer, merged, counts->runs);
	chrome_arg_uint(writer, shorter, counts->resolution_ns);
}

static void write_head(struct chrome_trace *trace)
{
	const struct model *model = trace->model;
	struct chrome_writer *writer = &trace->writer;
	uint64_t realtime_ns;

	chrome_event(writer, 'M', "trace_info", NULL, 0, 0);
	chrome_arg_text(writer, "exporter", "profbpf " PROFBPF_VERSION);
	chrome_arg_text(writer, "hostname", model_text(model, model->info.hostname));
	chrome_arg_text(writer, "kernel", model_text(model, model->info.kernel));
	chrome_arg_uint(writer, "baseMonotonicNanoseconds", trace->window.start_ns);
	if (clock_table_from_monotonic(model->clocks, CLOCK_KIND_REALTIME, trace->window.start_ns,
				       &realtime_ns) == 0)
		chrome_arg_uint(writer, "baseTimeNanoseconds", realtime_ns);
	write_merged(writer, "runsMerged", "runsMergedShorterThanNanoseconds", &trace->slivers);
	write_merged(writer, "callsMerged", "callsMergedShorterThanNanoseconds", &trace->calls);
	write_merged(writer, "tasksMerged", "tasksMergedShorterThanNanoseconds", &trace->tasks);
	chrome_event_end(writer);
}

static void write_losses(struct chrome_trace *trace)
{
	const struct model *model = trace->model;
	struct chrome_writer *writer = &trace->writer;
	char text[2 * EXPORT_NAME_SIZE];

	for (uint32_t i = 0; i < model->sources.count; i++) {
		const struct source_loss *source = &model->sources.row[i];

		for (uint32_t k = 0; k < source->reason_count; k++) {
			if (source->reasons[k].count == 0)
				continue;
			export_loss_text(model, source, k, text, sizeof(text));
			chrome_event(writer, 'i', text, "loss", CHROME_CPUS_PID, 0);
			chrome_time(writer, trace->window.end_ns);
			chrome_raw(writer, "\"s\":\"g\"");
			chrome_event_end(writer);
		}
	}
}

static void write_reading(void *context, const struct kernel_reading *reading)
{
	struct chrome_trace *trace = context;

	chrome_event(&trace->writer, 'C', reading->name, NULL, CHROME_CPUS_PID, 0);
	chrome_time(&trace->writer, reading->start_ns);
	chrome_arg_decimal(&trace->writer, *reading->unit ? reading->unit : "value", reading->value);
	chrome_event_end(&trace->writer);
}

static int write_host(struct chrome_trace *trace)
{
	struct host_load *loads;
	uint32_t count;

	if (host_load_compute(trace->model, &loads, &count) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		double percent = host_load_percent(&loads[i]);
		uint64_t start_ns = loads[i].start_ns, end_ns = loads[i].end_ns;
		bool cut;

		if (percent < 0 || !export_clip(&trace->window, &start_ns, &end_ns, &cut))
			continue;
		chrome_event(&trace->writer, 'C', "CPU time in use", NULL, CHROME_CPUS_PID, 0);
		chrome_time(&trace->writer, start_ns);
		chrome_arg_decimal(&trace->writer, "%", percent);
		chrome_event_end(&trace->writer);
	}
	free(loads);
	kernel_readings(trace->model, &trace->window, write_reading, trace);
	return 0;
}

static void merge_slivers(struct chrome_trace *trace)
{
	uint64_t kept = (trace->window.end_ns - trace->window.start_ns) / 1000000000 *
			SLIVERS_PER_SECOND;

	if (!trace->options->each_slice)
		trace->slivers = sliver_resolution(&trace->cpus,
						   kept > SLIVERS_KEPT ? kept : SLIVERS_KEPT);
	if (trace->options->told)
		trace->options->told->slivers = trace->slivers;
}

typedef int survey_fn(struct chrome_trace *trace, struct sliver_counts *counts, bool mark,
		   uint64_t *slices);

/* Returns the smallest resolution that leaves few enough slices. */
static int merge_crowds(struct chrome_trace *trace, survey_fn *survey, struct sliver_counts *counts)
{
	uint64_t kept = crowds_kept(trace->window.end_ns - trace->window.start_ns), slices;
	int error = survey(trace, counts, false, &slices);

	while (!error && slices > kept && counts->resolution_ns < CROWD_RESOLUTION_MAX &&
	       !trace->options->each_slice) {
		*counts = (struct sliver_counts){ .resolution_ns = counts->resolution_ns
									   ? 2 * counts->resolution_ns
									   : 1000 };
		error = survey(trace, counts, false, &slices);
	}
	return error ? error : survey(trace, counts, true, &slices);
}

static int prepare(struct chrome_trace *trace)
{
	int error;

	trace->chosen = export_threads(trace->model, trace->options);
	trace->named = calloc((size_t)trace->model->processes.count + 1, sizeof(*trace->named));
	if (!trace->chosen || !trace->named)
		return -ENOMEM;
	error = export_flows_init(&trace->flows, trace->model, trace->options, &trace->window,
				  trace->chosen);
	if (!error)
		error = pass_flows_init(&trace->passes, trace->model, &trace->window, trace->chosen);
	if (!error)
		error = ranges_find(trace->model, &trace->ranges);
	if (!error)
		error = cpu_slices_build(trace->model, trace->options, &trace->cpus);
	if (!error)
		merge_slivers(trace);
	if (!error)
		error = merge_crowds(trace, chrome_survey_calls, &trace->calls);
	if (!error)
		error = merge_crowds(trace, chrome_survey_tasks, &trace->tasks);
	if (!error && trace->options->told) {
		trace->options->told->calls = trace->calls;
		trace->options->told->tasks = trace->tasks;
	}
	return error;
}

static int write_parts(struct chrome_trace *trace)
{
	int error;

	write_head(trace);
	chrome_name_process(trace, CHROME_CPUS_PID, "CPUs", 0);
	error = write_host(trace);
	if (!error)
		error = chrome_write_cpus(trace);
	if (!error)
		error = chrome_write_calls(trace);
	if (!error)
		error = chrome_write_host_operators(trace);
	if (!error)
		error = chrome_write_devices(trace);
	if (!error)
		error = chrome_write_job(trace);
	write_losses(trace);
	return error;
}

static int write_chrome(const struct model *model, const struct results *results, const char *path,
			const struct export_options *options, char *error, size_t error_size)
{
	struct chrome_trace trace = { .model = model,
				      .results = results,
				      .devices = results->devices,
				      .options = options };
	int result, closed;

	export_window_init(&trace.window, model, options);
	result = chrome_writer_open(&trace.writer, path, trace.window.start_ns);
	if (!result)
		result = prepare(&trace);
	if (!result)
		result = write_parts(&trace);
	closed = chrome_writer_close(&trace.writer);
	if (!result)
		result = closed;
	if (result)
		export_explain(result, path, error, error_size);
	free(trace.chosen);
	free(trace.named);
	export_flows_free(&trace.flows);
	pass_flows_free(&trace.passes);
	ranges_free(&trace.ranges);
	cpu_slices_free(&trace.cpus);
	return result;
}

const struct exporter export_chrome = { .of_window = true, .cut = true, .write = write_chrome };
