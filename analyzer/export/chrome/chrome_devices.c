/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as processes, their streams as threads; more than one where tasks overlap. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/export/chrome/chrome_trace.h"
#include "analyzer/export/timeline/device_tracks.h"
#include "analyzer/export/timeline/lanes.h"
#include "analyzer/export/timeline/task_order.h"

struct devices_writer {
	struct chrome_trace *trace;
	struct lanes lanes;
	uint32_t device;
	uint32_t pid; /* as which the device, or a part of it, is shown */
};

static void write_task(struct devices_writer *devices, uint32_t row, const char *stream_name)
{
	struct chrome_trace *trace = devices->trace;
	struct chrome_writer *writer = &trace->writer;
	const struct device_task *task = &trace->model->tasks.row[row];
	uint64_t start_ns = task->start_ns, end_ns = task->end_ns, ended_ns;
	struct export_text texts[EXPORT_TASK_TEXTS];
	struct lane *lane;
	bool cut;

	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	lane = lanes_place(&devices->lanes, start_ns, end_ns);
	if (!lane) {
		trace->not_placed++;
		return;
	}
	if (!lane->track)
		lane->track = chrome_add_row(trace, devices->pid, stream_name);
	while (lane_pop(lane, start_ns, &ended_ns))
		;
	lane_push(lane, end_ns);
	chrome_event(writer, 'X', export_task_name(trace->model, task),
		     export_task_category(task->kind), devices->pid, (uint32_t)lane->track);
	chrome_time(writer, start_ns);
	chrome_duration(writer, end_ns - start_ns);
	if (task->enqueue_ns && task->start_ns >= task->enqueue_ns)
		chrome_arg_uint(writer, export_arg_name(ARG_QUEUE_DELAY_NS),
				task->start_ns - task->enqueue_ns);
	if (task->bytes)
		chrome_arg_uint(writer, export_arg_name(ARG_BYTES), task->bytes);
	if (task->correlation)
		chrome_arg_uint(writer, export_arg_name(ARG_CORRELATION), task->correlation);
	if (task->status < 0)
		chrome_arg_int(writer, export_arg_name(ARG_STATUS), task->status);
	export_task_texts(trace->model, task, texts);
	for (int i = 0; i < EXPORT_TASK_TEXTS; i++)
		if (texts[i].text)
			chrome_arg_text(writer, export_arg_name(texts[i].arg),
					model_text(trace->model, texts[i].text));
	if (cut)
		chrome_arg_true(writer, export_arg_name(ARG_CUT));
	chrome_event_end(writer);
	if (trace->flows.shown[row]) {
		chrome_event(writer, 'f', "launch", "launch", devices->pid, (uint32_t)lane->track);
		chrome_id(writer, export_flow_id(row));
		chrome_time(writer, start_ns);
		chrome_raw(writer, "\"bp\":\"e\"");
		chrome_event_end(writer);
	}
}

static int write_queue(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct chrome_trace *trace = devices->trace;
	uint32_t steps;
	struct task_queue_step *step = task_queue_compute(trace->model, order, count, &steps);

	if (!step)
		return -ENOMEM;
	for (uint32_t i = 0; i < steps; i++) {
		if (!export_instant(&trace->window, step[i].ns))
			continue;
		chrome_event(&trace->writer, 'C', "Tasks queued or running", NULL, devices->pid, 0);
		chrome_time(&trace->writer, step[i].ns);
		chrome_arg_int(&trace->writer, "tasks", step[i].depth);
		chrome_event_end(&trace->writer);
	}
	free(step);
	return 0;
}

/* A part of the device as a process of its own. */
static void begin_part(struct devices_writer *devices, uint32_t number, const char *part)
{
	char device[EXPORT_NAME_SIZE], name[2 * EXPORT_NAME_SIZE];

	devices->pid = CHROME_DEVICES_PID + CHROME_DEVICE_PIDS * devices->device + number;
	export_device_name(devices->trace->model, devices->device, device, sizeof(device));
	snprintf(name, sizeof(name), "%s%s%s", device, *part ? ": " : "", part);
	chrome_name_process(devices->trace, devices->pid, name, devices->pid);
}

static void write_track(struct devices_writer *devices, const struct device_tracks *tracks,
			const struct device_track *from)
{
	static const char *const CATEGORIES[] = { "step", "overlap", "scope" };
	struct chrome_trace *trace = devices->trace;
	uint32_t tid = chrome_add_row(trace, devices->pid, from->name);

	for (uint32_t i = 0; i < from->count; i++) {
		uint64_t start_ns = from->row[i].start_ns, end_ns = from->row[i].end_ns;
		bool cut;

		if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
			continue;
		chrome_event(&trace->writer, 'X',
			     string_table_get(tracks->texts, from->row[i].text),
			     CATEGORIES[from->group], devices->pid, tid);
		chrome_time(&trace->writer, start_ns);
		chrome_duration(&trace->writer, end_ns - start_ns);
		if (cut)
			chrome_arg_true(&trace->writer, export_arg_name(ARG_CUT));
		chrome_event_end(&trace->writer);
	}
}

/* Steps and scopes belong to the device; overlap is apart, as the vendors have it. */
static int write_tracks(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct chrome_trace *trace = devices->trace;
	struct device_tracks tracks;
	int err = device_tracks_build(trace->model, trace->options, devices->device, order, count,
				      &tracks);

	for (uint32_t i = 0; i < tracks.count && !err; i++) {
		if (tracks.track[i].group != TRACK_OVERLAP)
			write_track(devices, &tracks, &tracks.track[i]);
	}
	begin_part(devices, TASK_GROUPS + 1, "Overlap");
	for (uint32_t i = 0; i < tracks.count && !err; i++) {
		if (tracks.track[i].group == TRACK_OVERLAP)
			write_track(devices, &tracks, &tracks.track[i]);
	}
	devices->pid = CHROME_DEVICES_PID + CHROME_DEVICE_PIDS * devices->device;
	device_tracks_free(&tracks);
	return err;
}

static void write_streams(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct chrome_trace *trace = devices->trace;
	const struct device_task *tasks = trace->model->tasks.row;
	char name[EXPORT_NAME_SIZE];
	uint32_t end;

	for (uint32_t i = 0; i < count; i = end) {
		for (end = i; end < count && tasks[order[end]].stream == tasks[order[i]].stream;)
			end++;
		export_stream_name(trace->model, devices->device, tasks[order[i]].stream, name,
				   sizeof(name));
		lanes_clear(&devices->lanes);
		for (uint32_t k = i; k < end; k++)
			write_task(devices, order[k], name);
	}
}

static int write_groups(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	const struct model *model = devices->trace->model;
	uint32_t *part = malloc(((size_t)count + 1) * sizeof(*part)), used;

	if (!part)
		return -ENOMEM;
	for (int group = 0; group < TASK_GROUPS; group++) {
		used = 0;
		for (uint32_t i = 0; i < count; i++) {
			if ((int)task_group(model, &model->tasks.row[order[i]]) == group)
				part[used++] = order[i];
		}
		if (!used)
			continue;
		begin_part(devices, (uint32_t)group + 1, task_group_name(group));
		write_streams(devices, part, used);
	}
	free(part);
	return 0;
}

static int write_device(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct chrome_trace *trace = devices->trace;

	begin_part(devices, 0, "");
	if (write_queue(devices, order, count) != 0)
		return -ENOMEM;
	if (trace->devices && write_tracks(devices, order, count) != 0)
		return -ENOMEM;
	if (device_is_grouped(trace->model, order, count))
		return write_groups(devices, order, count);
	write_streams(devices, order, count);
	return 0;
}

int chrome_write_devices(struct chrome_trace *trace)
{
	const struct model *model = trace->model;
	struct devices_writer devices = { .trace = trace };
	uint32_t count, end, *order = task_order(model, &count);
	int error = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; !error && i < count; i = end) {
		devices.device = model->tasks.row[order[i]].device;
		end = task_order_device_end(model, order, count, i);
		if (export_process(model, trace->options,
				   model->devices.row[devices.device].process))
			error = write_device(&devices, order + i, end - i);
	}
	lanes_free(&devices.lanes);
	free(order);
	return error;
}
