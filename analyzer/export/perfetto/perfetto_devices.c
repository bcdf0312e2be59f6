/* SPDX-License-Identifier: Apache-2.0 */
/* Devices' tracks: tasks of each stream, the length of the queue, causes of idle time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/export/timeline/device_tracks.h"
#include "analyzer/export/timeline/lanes.h"
#include "analyzer/export/perfetto/perfetto_trace.h"
#include "analyzer/export/timeline/task_order.h"

/* Order of a device's children. */
#define RANK_QUEUE 1
#define RANK_TRACKS 3 /* steps, overlap, scopes */
#define RANK_STREAMS 10

struct devices_writer {
	struct perfetto_trace *trace;
	struct lanes lanes;
	uint32_t device;
	uint64_t root; /* track of the device */
	uint64_t group; /* parent track of its streams: the device's own, or that of the unit that runs tasks */
	uint32_t streams; /* streams of this device so far */
	uint32_t categories[PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION + 1]; /* ids of announced categories */
};

/* Announces the texts of a task, which must happen before its slice begins. */
static void announce_texts(struct perfetto_trace *trace, const struct device_task *task,
			   struct export_text texts[EXPORT_TASK_TEXTS])
{
	export_task_texts(trace->model, task, texts);
	for (int i = 0; i < EXPORT_TASK_TEXTS; i++)
		if (texts[i].text)
			texts[i].text = perfetto_model_name(trace, PERFETTO_VALUES, texts[i].text);
}

static void add_task_args(struct perfetto_trace *trace, const struct device_task *task,
			  const struct export_text texts[EXPORT_TASK_TEXTS])
{
	if (task->enqueue_ns && task->start_ns >= task->enqueue_ns)
		perfetto_arg_uint(trace, ARG_QUEUE_DELAY_NS, task->start_ns - task->enqueue_ns);
	if (task->bytes)
		perfetto_arg_uint(trace, ARG_BYTES, task->bytes);
	if (task->correlation)
		perfetto_arg_uint(trace, ARG_CORRELATION, task->correlation);
	if (task->status < 0)
		perfetto_arg_int(trace, ARG_STATUS, task->status);
	for (int i = 0; i < EXPORT_TASK_TEXTS; i++)
		if (texts[i].text)
			perfetto_arg_text(trace, texts[i].arg, texts[i].text);
}

static uint32_t category(struct devices_writer *devices, uint8_t kind)
{
	uint32_t *id;

	if (kind > PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION)
		kind = PROFBPF__DEVICE_TASKS__KIND__OTHER;
	id = &devices->categories[kind];
	if (!*id)
		*id = perfetto_name(devices->trace, PERFETTO_CATEGORIES,
				    perfetto_own(devices->trace, export_task_category(kind)));
	return *id;
}

static uint32_t task_name(struct perfetto_trace *trace, const struct device_task *task)
{
	if (*model_text(trace->model, task->name))
		return perfetto_model_name(trace, PERFETTO_EVENTS, task->name);
	return perfetto_name(trace, PERFETTO_EVENTS,
			     perfetto_own(trace, export_task_name(trace->model, task)));
}

static void write_task(struct devices_writer *devices, uint32_t row, const char *stream_name)
{
	struct perfetto_trace *trace = devices->trace;
	const struct device_task *task = &trace->model->tasks.row[row];
	uint64_t start_ns = task->start_ns, end_ns = task->end_ns, ended_ns;
	uint32_t name, group;
	struct export_text texts[EXPORT_TASK_TEXTS];
	struct perfetto_marks marks;
	struct lane *lane;
	bool cut;

	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	lane = lanes_place(&devices->lanes, start_ns, end_ns);
	if (!lane) {
		trace->counts.not_placed++;
		return;
	}
	/* Readers show tracks with the same name and parent as one group of rows. */
	if (!lane->track)
		lane->track = perfetto_add_track(
			trace, &(struct perfetto_track){ .name = stream_name,
							 .parent = devices->group,
							 .rank = RANK_STREAMS + devices->streams });
	while (lane_pop(lane, start_ns, &ended_ns))
		perfetto_end(trace, lane->track, ended_ns);
	name = task_name(trace, task);
	group = category(devices, task->kind);
	announce_texts(trace, task, texts);
	perfetto_begin(trace, lane->track, start_ns, name, group, &marks);
	add_task_args(trace, task, texts);
	if (cut)
		perfetto_arg_true(trace, ARG_CUT);
	if (trace->flows.shown[row])
		perfetto_flow_to(trace, export_flow_id(row));
	perfetto_event_end(trace, &marks);
	lane_push(lane, end_ns);
}

static void write_track(struct devices_writer *devices, const struct device_tracks *tracks,
			const struct device_track *from, uint64_t track)
{
	static const char *const CATEGORIES[] = { "step", "overlap", "scope" };
	struct perfetto_trace *trace = devices->trace;
	uint32_t group = perfetto_name(trace, PERFETTO_CATEGORIES,
				       perfetto_own(trace, CATEGORIES[from->group]));
	uint64_t open_ns = 0; /* end of the outer slice; 0 = there is none */

	for (uint32_t i = 0; i < from->count; i++) {
		const struct track_slice *slice = &from->row[i];
		uint64_t start_ns = slice->start_ns, end_ns = slice->end_ns;
		struct perfetto_marks marks;
		uint32_t name;
		bool cut;

		if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
			continue;
		if (open_ns && !slice->depth) {
			perfetto_end(trace, track, open_ns);
			open_ns = 0;
		}
		name = perfetto_name(trace, PERFETTO_EVENTS,
				     perfetto_own(trace, string_table_get(tracks->texts,
									  slice->text)));
		perfetto_begin(trace, track, start_ns, name, group, &marks);
		if (cut)
			perfetto_arg_true(trace, ARG_CUT);
		perfetto_event_end(trace, &marks);
		if (slice->depth)
			perfetto_end(trace, track, end_ns);
		else
			open_ns = end_ns ? end_ns : 1;
	}
	if (open_ns)
		perfetto_end(trace, track, open_ns);
}

static int write_tracks(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	static const char *const GROUPS[] = { NULL, "Overlap", "Scopes" };
	struct perfetto_trace *trace = devices->trace;
	uint64_t groups[3] = { devices->root };
	struct device_tracks tracks;
	int err = device_tracks_build(trace->model, trace->options, devices->device, order, count,
				      &tracks);

	for (uint32_t i = 0; i < tracks.count && !err; i++) {
		const struct device_track *from = &tracks.track[i];

		if (!groups[from->group])
			groups[from->group] = perfetto_add_track(
				trace, &(struct perfetto_track){ .name = GROUPS[from->group],
								 .parent = devices->root,
								 .ordered = true,
								 .rank = RANK_TRACKS + from->group });
		write_track(devices, &tracks, from,
			    perfetto_add_track(trace, &(struct perfetto_track){
							      .name = from->name,
							      .parent = groups[from->group],
							      .rank = RANK_TRACKS + i }));
	}
	device_tracks_free(&tracks);
	return err;
}

static void write_stream(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct perfetto_trace *trace = devices->trace;
	char name[EXPORT_NAME_SIZE];
	uint64_t end_ns;

	export_stream_name(trace->model, devices->device, trace->model->tasks.row[order[0]].stream,
			   name, sizeof(name));
	lanes_clear(&devices->lanes);
	for (uint32_t i = 0; i < count; i++)
		write_task(devices, order[i], name);
	for (uint32_t i = 0; i < devices->lanes.count; i++) {
		struct lane *lane = &devices->lanes.lane[i];

		while (lane_pop(lane, UINT64_MAX, &end_ns))
			perfetto_end(trace, lane->track, end_ns);
	}
	devices->streams++;
}

static int write_queue(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct perfetto_trace *trace = devices->trace;
	uint32_t steps;
	struct task_queue_step *step = task_queue_compute(trace->model, order, count, &steps);
	uint64_t track;

	if (!step)
		return -ENOMEM;
	track = perfetto_add_track(
		trace, &(struct perfetto_track){
			       .name = "Tasks queued or running",
			       .parent = devices->root,
			       .unit = "tasks",
			       .rank = RANK_QUEUE,
			       .description = "Tasks whose enqueue call was entered and that have "
					      "not ended" });
	for (uint32_t i = 0; i < steps; i++) {
		if (export_instant(&trace->window, step[i].ns))
			perfetto_counter(trace, track, step[i].ns, (double)step[i].depth);
	}
	free(step);
	return 0;
}

static void write_streams(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	const struct device_task *tasks = devices->trace->model->tasks.row;
	uint32_t end;

	for (uint32_t i = 0; i < count; i = end) {
		for (end = i; end < count && tasks[order[end]].stream == tasks[order[i]].stream;)
			end++;
		write_stream(devices, order + i, end - i);
	}
}

/* Writes the streams under one track for each kind of unit; a stream may have tasks of several kinds. */
static int write_groups(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct perfetto_trace *trace = devices->trace;
	uint32_t *part = malloc(((size_t)count + 1) * sizeof(*part)), used;

	if (!part)
		return -ENOMEM;
	for (int group = 0; group < TASK_GROUPS; group++) {
		used = 0;
		for (uint32_t i = 0; i < count; i++) {
			if ((int)task_group(trace->model, &trace->model->tasks.row[order[i]]) == group)
				part[used++] = order[i];
		}
		if (!used)
			continue;
		devices->group = perfetto_add_track(
			trace, &(struct perfetto_track){ .name = task_group_name(group),
							 .parent = devices->root,
							 .ordered = true,
							 .rank = RANK_STREAMS + (uint32_t)group });
		write_streams(devices, part, used);
	}
	free(part);
	return 0;
}

static int write_device(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct perfetto_trace *trace = devices->trace;
	const struct model *model = trace->model;
	char name[EXPORT_NAME_SIZE];
	int error;

	export_device_name(model, devices->device, name, sizeof(name));
	devices->streams = 0;
	devices->root = perfetto_add_track(
		trace, &(struct perfetto_track){
			       .name = name,
			       .ordered = true,
			       .description = model_text(
				       model, model->devices.row[devices->device].source) });
	trace->device_tracks[devices->device] = devices->root;
	error = write_queue(devices, order, count);
	if (!error)
		error = perfetto_write_idle(trace, devices->device, devices->root);
	if (!error && trace->devices)
		error = write_tracks(devices, order, count);
	if (error)
		return error;
	devices->group = devices->root;
	if (device_is_grouped(model, order, count))
		return write_groups(devices, order, count);
	write_streams(devices, order, count);
	return 0;
}

int perfetto_write_devices(struct perfetto_trace *trace)
{
	const struct model *model = trace->model;
	struct devices_writer devices = { .trace = trace };
	uint32_t count, end, *order = task_order(model, &count);
	int error = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->flags & MODEL_TASK_UNTIMED && task->device < model->devices.count &&
		    export_process(model, trace->options, model->devices.row[task->device].process))
			trace->counts.untimed_tasks++;
	}
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
