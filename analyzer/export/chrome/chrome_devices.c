/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as processes, their streams as threads; a stream has several threads where tasks overlap. */
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
	struct crowds crowds;
	uint32_t first; /* first task of the current crowd */
	struct sliver_counts *counts; /* result of a survey, which writes nothing; else NULL */
	bool mark;
	uint64_t slices;
	uint32_t device;
	uint32_t pid; /* process number under which the device, or a part of it, is shown */
};

/* Returns the row with room; returns NULL, and counts the task, if there is none. */
static struct lane *place(struct devices_writer *devices, uint64_t start_ns, uint64_t end_ns,
			  const char *stream_name)
{
	struct lane *lane = lanes_place(&devices->lanes, start_ns, end_ns);
	uint64_t ended_ns;

	if (!lane) {
		devices->trace->not_placed++;
		return NULL;
	}
	if (!lane->track)
		lane->track = chrome_add_row(devices->trace, devices->pid, stream_name);
	while (lane_pop(lane, start_ns, &ended_ns))
		;
	lane_push(lane, end_ns);
	return lane;
}

static void write_task(struct devices_writer *devices, uint32_t row, const char *stream_name)
{
	struct chrome_trace *trace = devices->trace;
	struct chrome_writer *writer = &trace->writer;
	const struct device_task *task = &trace->model->tasks.row[row];
	uint64_t start_ns = task->start_ns, end_ns = task->end_ns;
	struct export_text texts[EXPORT_TASK_TEXTS];
	struct lane *lane;
	bool cut;

	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	lane = place(devices, start_ns, end_ns, stream_name);
	if (!lane)
		return;
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

/* Writes several short tasks as one slice, named by the tasks if all have the same name. */
static void write_crowd(struct devices_writer *devices, const struct crowd *crowd,
			const char *stream_name)
{
	struct chrome_trace *trace = devices->trace;
	const struct device_task *task = &trace->model->tasks.row[devices->first];
	struct chrome_writer *writer = &trace->writer;
	struct lane *lane = place(devices, crowd->start_ns, crowd->end_ns, stream_name);

	if (!lane)
		return;
	chrome_event(writer, 'X',
		     crowd->alike ? export_task_name(trace->model, task) : "several tasks", "merged",
		     devices->pid, (uint32_t)lane->track);
	chrome_time(writer, crowd->start_ns);
	chrome_duration(writer, crowd->end_ns - crowd->start_ns);
	chrome_arg_uint(writer, "tasks", crowd->count);
	chrome_arg_uint(writer, "in_ns", crowd->in_ns);
	chrome_event_end(writer);
}

/* Writes or counts the crowd that has ended. */
static void end_crowd(struct devices_writer *devices, const char *stream_name)
{
	const struct crowd *done = &devices->crowds.done;

	if (devices->counts) {
		devices->slices += done->count > 0;
		devices->counts->runs += done->count > 1 ? done->count : 0;
		devices->counts->slices += done->count > 1;
	} else if (done->count == 1) {
		write_task(devices, devices->first, stream_name);
	} else if (done->count) {
		write_crowd(devices, done, stream_name);
	}
}

/* Takes a task of the current stream; tasks come in order of their start. */
static void take_task(struct devices_writer *devices, uint32_t row, const char *stream_name)
{
	struct chrome_trace *trace = devices->trace;
	const struct device_task *task = &trace->model->tasks.row[row];
	uint64_t start_ns = task->start_ns, end_ns = task->end_ns;
	enum crowd_news news;
	bool cut;

	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	news = crowd_take(&devices->crowds, start_ns, end_ns, task->name, false);
	end_crowd(devices, stream_name);
	if (news == CROWD_GREW && devices->mark)
		trace->flows.shown[row] = trace->flows.shown[devices->first] = false;
	else if (news == CROWD_BEGAN)
		devices->first = row;
	else if (news == CROWD_PASSED && devices->counts)
		devices->slices++;
	else if (news == CROWD_PASSED)
		write_task(devices, row, stream_name);
}

static void write_depth(struct devices_writer *devices, uint64_t ns, int64_t depth)
{
	struct chrome_trace *trace = devices->trace;

	if (!export_instant(&trace->window, ns))
		return;
	chrome_event(&trace->writer, 'C', "Tasks queued or running", NULL, devices->pid, 0);
	chrome_time(&trace->writer, ns);
	chrome_arg_int(&trace->writer, "tasks", depth);
	chrome_event_end(&trace->writer);
}

static int write_queue(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct chrome_trace *trace = devices->trace;
	uint32_t steps;
	struct task_queue_step *step = task_queue_compute(trace->model, order, count, &steps);
	const uint64_t apart_ns = 2 * trace->tasks.resolution_ns;

	if (!step)
		return -ENOMEM;
	/*
	 * When tasks are merged, counter steps within twice the merging resolution are reduced to two: the highest, and
	 * the last, which may hold for long.
	 */
	for (uint32_t i = 0, next; i < steps; i = next) {
		int64_t depth = step[i].depth;

		for (next = i + 1; next < steps && step[next].ns - step[i].ns < apart_ns; next++)
			depth = step[next].depth > depth ? step[next].depth : depth;
		write_depth(devices, step[i].ns, depth);
		if (step[next - 1].depth != depth)
			write_depth(devices, step[next - 1].ns, step[next - 1].depth);
	}
	free(step);
	return 0;
}

/* Shows a part of the device as a separate process. */
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

/* Steps and scopes belong to the device; overlap is a separate process, as in the vendors' tools. */
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
		devices->crowds = (struct crowds){
			.resolution_ns = devices->counts ? devices->counts->resolution_ns
							 : trace->tasks.resolution_ns
		};
		for (uint32_t k = i; k < end; k++)
			take_task(devices, order[k], name);
		crowd_end(&devices->crowds);
		end_crowd(devices, name);
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
		if (!devices->counts)
			begin_part(devices, (uint32_t)group + 1, task_group_name(group));
		write_streams(devices, part, used);
	}
	free(part);
	return 0;
}

static int write_device(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct chrome_trace *trace = devices->trace;

	if (!devices->counts) {
		begin_part(devices, 0, "");
		if (write_queue(devices, order, count) != 0)
			return -ENOMEM;
		if (trace->devices && write_tracks(devices, order, count) != 0)
			return -ENOMEM;
	}
	if (device_is_grouped(trace->model, order, count))
		return write_groups(devices, order, count);
	write_streams(devices, order, count);
	return 0;
}

static int write_all(struct devices_writer *devices)
{
	struct chrome_trace *trace = devices->trace;
	const struct model *model = trace->model;
	uint32_t count, end, *order = task_order(model, &count);
	int error = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; !error && i < count; i = end) {
		devices->device = model->tasks.row[order[i]].device;
		end = task_order_device_end(model, order, count, i);
		if (export_process(model, trace->options,
				   model->devices.row[devices->device].process))
			error = write_device(devices, order + i, end - i);
	}
	lanes_free(&devices->lanes);
	free(order);
	return error;
}

int chrome_survey_tasks(struct chrome_trace *trace, struct sliver_counts *counts, bool mark,
			uint64_t *slices)
{
	struct devices_writer devices = { .trace = trace, .counts = counts, .mark = mark };
	int error;

	counts->runs = counts->slices = 0;
	error = write_all(&devices);
	*slices = devices.slices;
	return error;
}

int chrome_write_devices(struct chrome_trace *trace)
{
	struct devices_writer devices = { .trace = trace };

	return write_all(&devices);
}
