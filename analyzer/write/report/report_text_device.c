/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/write/report/report_device.h"
#include "analyzer/write/report/report_told.h"
#include "analyzer/write/table.h"

#define NAME_SIZE 160

static const char *device_name(const struct model *model, uint32_t device, char *into)
{
	return printable(model_text(model, model->devices.row[device].name), into, NAME_SIZE);
}

/* Process and source of a device: "process 4242, by opencl-layer". */
static void print_origin(FILE *out, const struct model *model, const struct device *device)
{
	char source[NAME_SIZE];

	if (device->process < model->processes.count)
		fprintf(out, ", process %u", model->processes.row[device->process].pid);
	if (*model_text(model, device->source))
		fprintf(out, ", reported by %s",
			printable(model_text(model, device->source), source, sizeof(source)));
}

static void print_usage(FILE *out, const struct model *model, const struct device_usage *usage)
{
	const struct device *device = &model->devices.row[usage->device];
	char name[NAME_SIZE], kind[NAME_SIZE];

	fprintf(out, "Device %u: %s (%s)", device->id, device_name(model, usage->device, name),
		printable(model_text(model, device->kind), kind, sizeof(kind)));
	if (device->has_rank)
		fprintf(out, ", rank %u", device->rank);
	print_origin(out, model, device);
	fprintf(out, "\n  %" PRIu64 " tasks", usage->tasks);
	if (usage->sync_tasks)
		fprintf(out, ", %" PRIu64 " of them synchronisation only", usage->sync_tasks);
	if (usage->untimed)
		fprintf(out, ", %" PRIu64 " without times", usage->untimed);
	if (usage->window_ns == 0) {
		fputs("; none with times: how busy the device was is unknown\n", out);
		return;
	}
	fprintf(out,
		"\n  busy %.1f %% of %.3f s between its first and last task:"
		" busy %.3f ms, idle %.3f ms in %u gaps\n",
		device_utilization(usage), (double)usage->window_ns / 1e9,
		(double)usage->busy_ns / 1e6, (double)usage->idle_ns / 1e6, usage->gap_count);
	fprintf(out,
		"  compute %.3f ms, communication %.3f ms (%.3f ms of it not overlapped), "
		"copies %.3f ms",
		(double)usage->compute_ns / 1e6, (double)usage->communication_ns / 1e6,
		(double)usage->communication_not_overlapped_ns / 1e6, (double)usage->copy_ns / 1e6);
	if (usage->has_free)
		fprintf(out, ", free %.3f ms", (double)usage->free_ns / 1e6);
	fputc('\n', out);
}

static int print_streams(FILE *out, const struct device_usage *usage,
			 const struct report_options *options)
{
	struct table *table = table_new(options);
	uint32_t shown = usage->stream_count;
	int error;

	if (!table)
		return -ENOMEM;
	if (options->top && shown > options->top)
		shown = options->top;
	table_column(table, "stream", TABLE_LEFT);
	table_column(table, "tasks", TABLE_RIGHT);
	table_column(table, "busy ms", TABLE_RIGHT);
	table_column(table, "busy %", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++) {
		const struct stream_usage *stream = &usage->streams[i];

		table_row(table);
		table_format(table, stream->id > UINT32_MAX ? "0x%" PRIx64 : "%" PRIu64,
			     stream->id);
		table_count(table, stream->tasks);
		table_ms(table, stream->busy_ns);
		if (usage->window_ns)
			table_percent(table,
				      100.0 * (double)stream->busy_ns / (double)usage->window_ns);
		else
			table_unknown(table);
	}
	error = table_print(table, out);
	if (shown < usage->stream_count)
		fprintf(out, "and %u more streams\n", usage->stream_count - shown);
	table_free(table);
	return error;
}

int report_text_devices(FILE *out, const struct model *model, const struct device_results *devices,
			const struct report_options *options)
{
	int error = 0;

	print_heading(out, options, "Devices");
	if (devices->device_count == 0 && model->imports.count)
		fputs("No device: nothing in the device files says that it is of one; what they "
		      "have of the host is above.\n",
		      out);
	else if (devices->device_count == 0)
		fputs("No device task stream in this trace. A job reports its device's tasks when "
		      "it was started with a\ndevice layer, see analyzer(1).\n",
		      out);
	for (uint32_t i = 0; i < devices->device_count && !error; i++) {
		const struct device_usage *usage = &devices->devices[i];

		print_usage(out, model, usage);
		if (usage->stream_count)
			error = print_streams(out, usage, options);
	}
	return error ? error : text_device_facts(out, model, options);
}

static void print_clock(FILE *out, const struct model *model, const struct device_results *devices,
			uint32_t device)
{
	const struct device_clock *clock = &devices->clocks[device];

	fprintf(out, "Clock of device %u: %s, %s", model->devices.row[device].id,
		device_clock_name(clock->clock), device_clock_method_text(clock->method));
	if (clock->method == DEVICE_CLOCK_NONE) {
		fputs("; its times are shown as they are\n", out);
		return;
	}
	fprintf(out, "; host minus device %" PRId64 " ns, drift %" PRId64 " ppb", clock->offset_ns,
		clock->drift_ppb);
	if (clock->error_ns == UINT64_MAX)
		fputs(", error unknown\n", out);
	else
		fprintf(out, ", error +-%" PRIu64 " ns\n", clock->error_ns);
	if (clock->method == DEVICE_CLOCK_CORRECTED)
		fprintf(out,
			"  the declared clock was off by %" PRId64 " ns and %" PRId64
			" ppb; by it %u of %u tasks start before they were launched\n",
			clock->correction_ns, clock->correction_ppb, clock->negative, clock->tasks);
	if (clock->steps || clock->at_steps)
		fprintf(out,
			"  the clock jumped %u times; %u tasks nearby are placed less exactly\n",
			clock->steps, clock->at_steps);
	if (clock->before_enqueue)
		fprintf(out,
			"  %u of %u tasks start before they were enqueued: the clock is off by at "
			"least that much\n",
			clock->before_enqueue, clock->tasks);
}

int report_text_join(FILE *out, const struct model *model, const struct device_results *devices,
		     const struct report_options *options)
{
	const struct launch_join *join = &devices->launches;

	print_heading(out, options, "Launches and device tasks");
	if (devices->device_count == 0) {
		fputs("Nothing to join: no device task stream.\n", out);
		return 0;
	}
	fprintf(out,
		"%" PRIu64 " launching calls, %" PRIu64 " device tasks, %" PRIu64
		" tasks matched with their call (by %s)\n",
		join->launches, join->tasks, join->matched, launch_join_method(join));
	fprintf(out,
		"%" PRIu64 " calls without a task, %" PRIu64 " tasks without a call, %" PRIu64
		" ambiguous\n",
		join->unmatched_launches, join->unmatched_tasks, join->ambiguous);
	if (join->tasks_outside)
		fprintf(out,
			"%" PRIu64 " more tasks were enqueued before or after calls were traced\n",
			join->tasks_outside);
	if (join->failed_launches)
		fprintf(out, "%" PRIu64 " more launching calls returned an error\n",
			join->failed_launches);
	if (join->unprofiled_launches)
		fprintf(out,
			"%" PRIu64 " launching calls are of processes without a device task "
			"stream\n",
			join->unprofiled_launches);
	for (uint32_t i = 0; i < devices->device_count; i++) {
		if (devices->devices[i].tasks)
			print_clock(out, model, devices, i);
	}
	return 0;
}
