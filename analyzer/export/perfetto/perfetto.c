/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/export.h"
#include "analyzer/export/export_error.h"
#include "analyzer/export/perfetto/perfetto_trace.h"
#include "analyzer/view/report.h"

static int prepare(struct perfetto_trace *trace)
{
	const struct model *model = trace->model;
	int error;

	export_window_init(&trace->window, model, trace->options);
	trace->names.base = string_table_count(model->strings);
	trace->names.own = string_table_new();
	trace->chosen = export_threads(model, trace->options);
	trace->device_tracks =
		calloc((size_t)model->devices.count + 1, sizeof(*trace->device_tracks));
	trace->thread_tracks =
		calloc((size_t)model->threads.count + 1, sizeof(*trace->thread_tracks));
	if (!trace->names.own || !trace->chosen || !trace->device_tracks || !trace->thread_tracks)
		return -ENOMEM;
	error = boot_clock_init(&trace->clock, model->clocks, trace->window.start_ns);
	if (!error)
		error = export_flows_init(&trace->flows, model, trace->options, &trace->window,
					  trace->chosen);
	if (!error)
		error = pass_flows_init(&trace->passes, model, &trace->window, trace->chosen);
	if (!error)
		error = ranges_find(model, &trace->ranges);
	if (!error)
		error = cpu_slices_build(model, trace->options, &trace->cpus);
	return error;
}

static int write_parts(struct perfetto_trace *trace)
{
	int error;

	perfetto_write_clocks(trace);
	perfetto_write_system(trace);
	for (int arg = 0; arg < EXPORT_ARGS; arg++)
		trace->names.args[arg] = perfetto_name(trace, PERFETTO_ARGS,
						       perfetto_own(trace, export_arg_name(arg)));
	error = perfetto_write_processes(trace);
	if (!error)
		error = perfetto_write_sched(trace);
	if (!error)
		error = perfetto_write_calls(trace);
	if (!error)
		error = perfetto_write_stacks(trace);
	if (!error)
		error = perfetto_write_waits(trace);
	if (!error)
		error = perfetto_write_host_operators(trace);
	if (!error)
		error = perfetto_write_devices(trace);
	if (!error)
		error = perfetto_write_job(trace);
	if (!error)
		error = perfetto_write_host(trace);
	if (!error)
		perfetto_write_losses(trace);
	return error;
}

static void release(struct perfetto_trace *trace)
{
	string_table_free(trace->names.own);
	free(trace->names.sent);
	free(trace->chosen);
	free(trace->device_tracks);
	free(trace->thread_tracks);
	export_flows_free(&trace->flows);
	pass_flows_free(&trace->passes);
	ranges_free(&trace->ranges);
	boot_clock_free(&trace->clock);
	cpu_slices_free(&trace->cpus);
}

static int write_perfetto(const struct model *model, const struct results *results, const char *path,
			  const struct export_options *options, char *error, size_t error_size)
{
	struct perfetto_trace trace = { .model = model,
					.results = results,
					.devices = results->devices,
					.options = options };
	int result, closed;

	result = perfetto_writer_open(&trace.writer, path);
	if (!result)
		result = prepare(&trace);
	if (!result)
		result = write_parts(&trace);
	closed = perfetto_writer_close(&trace.writer);
	if (!result)
		result = closed;
	if (result)
		export_explain(result, path, error, error_size);
	release(&trace);
	return result;
}

const struct exporter export_perfetto = { .of_window = true, .cut = true, .write = write_perfetto };
