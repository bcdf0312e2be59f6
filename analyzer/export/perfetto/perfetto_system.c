/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the host and about the export: clocks, kernel, losses, CPU load. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/export/host_load.h"
#include "analyzer/export/kernel_readings.h"
#include "analyzer/export/perfetto/perfetto_fields.h"
#include "analyzer/export/perfetto/perfetto_trace.h"

static void write_clock(struct perfetto_writer *writer, uint32_t id, uint64_t value)
{
	size_t mark;

	if (value == 0)
		return;
	mark = perfetto_open(writer, SNAPSHOT_CLOCKS);
	perfetto_uint(writer, CLOCK_ID, id);
	perfetto_uint(writer, CLOCK_TIMESTAMP, value);
	perfetto_close(writer, mark);
}

/* The first packet also opens the sequence; readers drop all names of a sequence that is not opened. */
static void open_sequence(struct perfetto_writer *writer)
{
	size_t packet = perfetto_packet(writer);

	perfetto_uint(writer, PACKET_SEQUENCE_ID, 1);
	perfetto_uint(writer, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
	perfetto_uint(writer, PACKET_FIRST_ON_SEQUENCE, 1);
	perfetto_packet_end(writer, packet);
}

void perfetto_write_clocks(struct perfetto_trace *trace)
{
	struct perfetto_writer *writer = &trace->writer;
	const struct clock_snapshot *snapshot;

	for (size_t i = 0; (snapshot = clock_table_get(trace->model->clocks, i)); i++) {
		size_t packet, body;

		if (snapshot->boottime_ns == 0 || snapshot->boottime_ns > INT64_MAX ||
		    snapshot->monotonic_ns > INT64_MAX || snapshot->realtime_ns > INT64_MAX)
			continue;
		packet = perfetto_packet(writer);
		body = perfetto_open(writer, PACKET_CLOCK_SNAPSHOT);
		write_clock(writer, BUILTIN_CLOCK_BOOTTIME, snapshot->boottime_ns);
		write_clock(writer, BUILTIN_CLOCK_MONOTONIC, snapshot->monotonic_ns);
		write_clock(writer, BUILTIN_CLOCK_MONOTONIC_RAW, snapshot->monotonic_raw_ns);
		write_clock(writer, BUILTIN_CLOCK_REALTIME, snapshot->realtime_ns);
		perfetto_uint(writer, SNAPSHOT_PRIMARY_CLOCK, BUILTIN_CLOCK_BOOTTIME);
		perfetto_close(writer, body);
		perfetto_packet_end(writer, packet);
	}
	open_sequence(writer);
}

void perfetto_write_system(struct perfetto_trace *trace)
{
	const struct trace_info *info = &trace->model->info;
	struct perfetto_writer *writer = &trace->writer;
	size_t packet = perfetto_packet(writer), system, utsname;

	system = perfetto_open(writer, PACKET_SYSTEM_INFO);
	utsname = perfetto_open(writer, SYSTEM_UTSNAME);
	perfetto_text(writer, UTSNAME_SYSNAME, "Linux");
	/* Readers choose the encoding of thread states by the release. */
	perfetto_text(writer, UTSNAME_RELEASE,
		      info->kernel ? model_text(trace->model, info->kernel) : "5.10.0");
	if (info->arch)
		perfetto_text(writer, UTSNAME_MACHINE, model_text(trace->model, info->arch));
	perfetto_close(writer, utsname);
	/* Identifies the file as an export of profbpf (import/own_export.h). */
	perfetto_text(writer, SYSTEM_SERVICE_VERSION, "profbpf " PROFBPF_VERSION);
	if (info->cpus)
		perfetto_uint(writer, SYSTEM_NUM_CPUS, info->cpus);
	perfetto_close(writer, system);
	perfetto_packet_end(writer, packet);
}

static void text_attribute(struct perfetto_writer *writer, const char *key, const char *value)
{
	size_t mark;

	if (*value == '\0')
		return;
	mark = perfetto_open(writer, ATTRIBUTES_ATTRIBUTE);
	perfetto_text(writer, ATTRIBUTE_KEY, key);
	perfetto_text(writer, ATTRIBUTE_STRING, value);
	perfetto_close(writer, mark);
}

static void number_attribute(struct perfetto_writer *writer, const char *key, uint64_t value)
{
	size_t mark = perfetto_open(writer, ATTRIBUTES_ATTRIBUTE);

	perfetto_text(writer, ATTRIBUTE_KEY, key);
	perfetto_uint(writer, ATTRIBUTE_LONG, value > INT64_MAX ? INT64_MAX : value);
	perfetto_close(writer, mark);
}

static void write_source(struct perfetto_trace *trace, const struct source_loss *source)
{
	const char *name = model_text(trace->model, source->name);
	char key[EXPORT_NAME_SIZE];

	snprintf(key, sizeof(key), "%s.produced", name);
	number_attribute(&trace->writer, key, source->produced);
	snprintf(key, sizeof(key), "%s.delivered", name);
	number_attribute(&trace->writer, key, source->delivered);
	for (uint32_t i = 0; i < source->reason_count; i++) {
		snprintf(key, sizeof(key), "%s.lost.%s", name,
			 model_text(trace->model, source->reasons[i].reason));
		number_attribute(&trace->writer, key, source->reasons[i].count);
	}
}

static void write_attributes(struct perfetto_trace *trace)
{
	const struct model *model = trace->model;
	const struct perfetto_counts *counts = &trace->counts;
	struct perfetto_writer *writer = &trace->writer;
	size_t packet = perfetto_packet(writer), body;
	char key[32];

	body = perfetto_open(writer, PACKET_TRACE_ATTRIBUTES);
	text_attribute(writer, "exporter", "profbpf " PROFBPF_VERSION);
	text_attribute(writer, "producer", model_text(model, model->info.producer));
	text_attribute(writer, "hostname", model_text(model, model->info.hostname));
	text_attribute(writer, "kernel", model_text(model, model->info.kernel));
	text_attribute(writer, "topics", model_text(model, model->info.topics));
	text_attribute(writer, "end_reason", model_text(model, model->info.end_reason));
	if (!trace->clock.known)
		text_attribute(writer, "clock",
			       "CLOCK_MONOTONIC: the trace has no snapshot of CLOCK_BOOTTIME");
	if (!model->info.system_wide || trace->options->pid_count)
		text_attribute(writer, "sched." PERFETTO_UNRECORDED_NAME,
			       "\"" PERFETTO_UNRECORDED_NAME "\" on a CPU: nothing is known of "
			       "that time; switches between threads that are not traced are "
			       "recorded only while a traced thread waits for the CPU");
	for (uint32_t i = 0; i < model->sources.count; i++)
		write_source(trace, &model->sources.row[i]);
	for (uint32_t i = 0; i < model->notes.count; i++) {
		snprintf(key, sizeof(key), "note.%u", i + 1);
		text_attribute(writer, key, model_text(model, model->notes.row[i]));
	}
	number_attribute(writer, "file.bytes_skipped", model->damage.bytes_skipped);
	number_attribute(writer, "file.bad_rows", model->bad_rows);
	number_attribute(writer, "export.slices", counts->slices);
	number_attribute(writer, "export.flows", counts->flows);
	number_attribute(writer, "export.slices_left_out", counts->not_placed);
	number_attribute(writer, "export.tasks_without_times", counts->untimed_tasks);
	number_attribute(writer, "export.flows_against_time", trace->flows.backward);
	number_attribute(writer, "export.cpus_left_out", counts->skipped_cpus);
	perfetto_close(writer, body);
	perfetto_packet_end(writer, packet);
}

static void mark(struct perfetto_trace *trace, uint64_t track, uint64_t ns, const char *text)
{
	struct perfetto_marks marks;
	uint32_t name = perfetto_name(trace, PERFETTO_EVENTS, perfetto_own(trace, text));

	perfetto_instant(trace, track, ns, name, &marks);
	perfetto_event_end(trace, &marks);
}

void perfetto_write_losses(struct perfetto_trace *trace)
{
	const struct model *model = trace->model;
	const struct export_window *window = &trace->window;
	uint64_t track = perfetto_add_track(
		trace,
		&(struct perfetto_track){ .name = "profbpf",
					  .description = "Begin, end and losses of the capture" });
	char text[2 * EXPORT_NAME_SIZE];

	mark(trace, track, window->start_ns, "begin of trace");
	for (uint32_t i = 0; i < model->sources.count; i++) {
		const struct source_loss *source = &model->sources.row[i];

		for (uint32_t k = 0; k < source->reason_count; k++) {
			if (source->reasons[k].count == 0)
				continue;
			export_loss_text(model, source, k, text, sizeof(text));
			mark(trace, track, window->end_ns, text);
		}
	}
	mark(trace, track, window->end_ns, model->info.ended ? "end of trace" : "end of data");
	write_attributes(trace);
}

struct host_tracks {
	struct perfetto_trace *trace;
	uint64_t parent; /* 0 = none yet */
	uint64_t track; /* track of the current line; 0 = none yet */
};

static uint64_t host_track(struct host_tracks *tracks, const char *name, const char *unit, const char *description)
{
	struct perfetto_track track = { .name = name, .unit = *unit ? unit : NULL, .description = description };

	if (!tracks->parent)
		tracks->parent = perfetto_add_track(tracks->trace, &(struct perfetto_track){ .name = "Host" });
	track.parent = tracks->parent;
	return perfetto_add_track(tracks->trace, &track);
}

static void write_reading(void *context, const struct kernel_reading *reading)
{
	struct host_tracks *tracks = context;

	if (reading->is_first)
		tracks->track = host_track(tracks, reading->name, reading->unit,
					   *reading->unit == '%' ? "Share of the time to the next value, by the kernel's sum" :
								   "As reported by the kernel");
	perfetto_counter(tracks->trace, tracks->track, reading->start_ns, reading->value);
}

int perfetto_write_host(struct perfetto_trace *trace)
{
	struct host_tracks tracks = { .trace = trace };
	struct host_load *loads;
	uint64_t track = 0, end_ns = 0;
	uint32_t count;

	if (host_load_compute(trace->model, &loads, &count) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		double percent = host_load_percent(&loads[i]);
		uint64_t start_ns = loads[i].start_ns;
		bool cut;

		end_ns = loads[i].end_ns;
		if (percent < 0 || !export_clip(&trace->window, &start_ns, &end_ns, &cut))
			continue;
		if (!track)
			track = host_track(&tracks, "CPU time in use", "%",
					   "From /proc/stat, mean of the time to the next value; 100 % is all CPUs");
		perfetto_counter(trace, track, start_ns, percent);
	}
	free(loads);
	kernel_readings(trace->model, &trace->window, write_reading, &tracks);
	return 0;
}
