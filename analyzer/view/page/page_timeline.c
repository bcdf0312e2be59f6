/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_timeline.c - rows of the page's timeline: for each device the reasons for idle time, its streams and its queue,
 * then the threads
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/export/export_filter.h"
#include "analyzer/export/timeline/export_names.h"
#include "analyzer/export/timeline/task_order.h"
#include "analyzer/export/timeline/thread_slices.h"
#include "analyzer/view/alike.h"
#include "analyzer/view/append_text.h"
#include "analyzer/view/page/page_data.h"
#include "analyzer/view/page/page_track.h"
#include "lib/base/strings.h"

#define SLICES_MOST 20000 /* in all rows together */
#define ROW_MOST 3000 /* in one row */
#define STREAMS_MOST 24 /* rows of streams */
#define DEVICES_MOST 8
#define THREADS_MOST 8
#define QUEUE_POINTS 1500
#define GROUP_SIZE (2 * EXPORT_NAME_SIZE + 64) /* a device by its number, rank, name and file */

struct timeline_writer {
	struct page_data *data;
	struct string_table *all; /* names of slices, before thinning */
	struct string_table *names; /* names that are written */
	uint32_t *order; /* tasks sorted by (device, stream, start) */
	uint32_t order_count;
	uint32_t streams; /* rows of streams written */
	uint32_t left; /* slices that may still be written */
	/* Rows for which there is no room. */
	uint32_t devices_left_out, streams_left_out, threads_left_out;
};

static uint32_t name_of(struct timeline_writer *writer, const char *text)
{
	return string_table_add_text(writer->all, text);
}

/* Only the names of the remaining slices are written. */
static void name_slices(struct timeline_writer *writer, struct page_track *track)
{
	for (uint32_t i = 0; i < track->slices.count; i++)
		track->slices.row[i].name = string_table_add_text(
			writer->names, string_table_get(writer->all, track->slices.row[i].name));
}

/*
 * Writes and frees @track; writes nothing if it is empty. @kind "root": names are rows of roots; otherwise they are
 * texts. Returns 0 or -ENOMEM.
 */
static int put_track(struct timeline_writer *writer, struct page_track *track, const char *group,
		      const char *name, const char *kind)
{
	uint32_t most = writer->left / 4 < ROW_MOST ? writer->left / 4 + 50 : ROW_MOST;
	bool fits = page_track_thin(track, most);

	if (fits && strcmp(kind, "root") != 0)
		name_slices(writer, track);
	if (fits && track->slices.count) {
		writer->left -= track->slices.count < writer->left ? track->slices.count : writer->left;
		json_map(writer->data->json, NULL);
		json_text(writer->data->json, "group", group);
		json_text(writer->data->json, "name", name);
		json_text(writer->data->json, "kind", kind);
		page_track_write(writer->data->json, "slices", track, writer->data->origin_ns);
		json_map_close(writer->data->json);
	}
	page_track_free(track);
	return fits ? 0 : -ENOMEM;
}

/* Writes the intervals of roots of one device or thread. */
static int put_roots(struct timeline_writer *writer, const struct root_times *times, uint32_t whose,
		     const char *group, const char *name)
{
	struct page_track track = { 0 };
	bool fits = true;

	for (uint32_t i = 0; i < times->stretches.count && fits; i++) {
		const struct root_stretch *stretch = &times->stretches.row[i];

		if (stretch->whose == whose)
			fits = page_track_add(&track, stretch->start_ns, stretch->end_ns, stretch->row);
	}
	return put_track(writer, &track, group, name, "root") || !fits ? -ENOMEM : 0;
}

/* Writes the tasks of order[first .. end), which belong to one stream. */
static int put_stream(struct timeline_writer *writer, const char *group, uint32_t first, uint32_t end)
{
	const struct model *model = writer->data->model;
	const struct device_task *task = &model->tasks.row[writer->order[first]];
	struct page_track track = { 0 };
	char name[EXPORT_NAME_SIZE];

	export_stream_name(model, task->device, task->stream, name, sizeof(name));
	for (uint32_t i = first; i < end; i++) {
		task = &model->tasks.row[writer->order[i]];
		if (!page_track_add(&track, task->start_ns, task->end_ns,
				    name_of(writer, export_task_name(model, task)))) {
			page_track_free(&track);
			return -ENOMEM;
		}
	}
	writer->streams++;
	return put_track(writer, &track, group, name, "task");
}

static int put_streams(struct timeline_writer *writer, const char *group, uint32_t first, uint32_t end)
{
	const struct device_task *tasks = writer->data->model->tasks.row;
	int err = 0;

	while (first < end && !err) {
		uint32_t next = first;

		while (next < end &&
		       tasks[writer->order[next]].stream == tasks[writer->order[first]].stream)
			next++;
		if (writer->streams < STREAMS_MOST)
			err = put_stream(writer, group, first, next);
		else
			writer->streams_left_out++;
		first = next;
	}
	return err;
}

/*
 * What a device is called in all of the page's rows, "Device 0 (rank 3), GPU": devices of one name differ in their
 * number, those of one number in their rank, or else in their file.
 */
static const char *group_words(const struct model *model, uint32_t device, char *into, size_t size)
{
	const struct device *row = &model->devices.row[device];
	char text[EXPORT_NAME_SIZE];

	snprintf(into, size, "Device %u", row->id);
	if (row->has_rank)
		append(into, size, " (rank %u)", row->rank);
	if (row->name)
		append(into, size, ", %s", export_device_name(model, device, text, sizeof(text)));
	if (device_is_ambiguous(model, device))
		append(into, size, ", of %s", device_file_text(model, row, text, sizeof(text)));
	return into;
}

static int put_device(struct timeline_writer *writer, uint32_t first, uint32_t end)
{
	const struct page_data *data = writer->data;
	uint32_t device = data->model->tasks.row[writer->order[first]].device;
	const struct idle_roots *roots = data->results->devices->idle.roots;
	char group[GROUP_SIZE];
	int err = 0;

	group_words(data->model, device, group, sizeof(group));
	if (roots)
		err = put_roots(writer, &roots->times, device, group, "Idle, by root");
	return err ? err : put_streams(writer, group, first, end);
}

/* ---- Threads */

static const char *state_name(uint8_t state)
{
	switch (state) {
	case STATE_RUNNING: return "on a CPU";
	case STATE_RUNNABLE: return "ready, without a CPU";
	case STATE_SLEEP: return "asleep";
	case STATE_DISK: return "asleep, for storage or the kernel";
	case STATE_STOPPED: return "stopped";
	default: return "not known";
	}
}

static int put_states(struct timeline_writer *writer, uint32_t thread, const char *group)
{
	const struct model *model = writer->data->model;
	const struct results *results = writer->data->results;
	const struct timeline *line = &model->timelines.row[thread];
	struct page_track track = { 0 };
	bool fits = true;

	for (uint32_t i = 0; i < line->count && fits; i++) {
		const struct span *span = &model->spans.row[line->first + i];
		uint64_t start_ns = span->start_ns, end_ns = span->end_ns;

		if (start_ns < results->from_ns)
			start_ns = results->from_ns;
		if (end_ns > results->to_ns)
			end_ns = results->to_ns;
		fits = page_track_add(&track, start_ns, end_ns,
				      name_of(writer, state_name(span->state)));
	}
	return put_track(writer, &track, group, "State", "state") || !fits ? -ENOMEM : 0;
}

/* Writes calls that are not inside another call. */
static int put_calls(struct timeline_writer *writer, uint32_t thread, const char *group)
{
	const struct model *model = writer->data->model;
	const struct export_window window = { writer->data->results->from_ns,
					      writer->data->results->to_ns };
	struct thread_slices slices;
	struct thread_slice slice;
	struct page_track track = { 0 };
	char name[EXPORT_NAME_SIZE];
	bool fits = true;

	thread_slices_begin(&slices, model, &window, NULL, thread);
	while (fits && thread_slices_next(&slices, &slice)) {
		if (!slice.call || slice.call->depth)
			continue;
		export_function_name(model, slice.call->function, name, sizeof(name));
		fits = page_track_add(&track, slice.start_ns, slice.end_ns, name_of(writer, name));
	}
	return put_track(writer, &track, group, "Runtime calls", "call") || !fits ? -ENOMEM : 0;
}

static int put_thread(struct timeline_writer *writer, uint32_t thread)
{
	const struct model *model = writer->data->model;
	const struct host_waits *waits = writer->data->results->waits;
	char name[EXPORT_NAME_SIZE], group[EXPORT_NAME_SIZE + 32];
	int err = 0;

	export_thread_name(model, thread, model->threads.row[thread].tid, name, sizeof(name));
	snprintf(group, sizeof(group), "Thread %u, %s", model->threads.row[thread].tid, name);
	if (waits)
		err = put_roots(writer, &waits->waits.times, thread, group, "Waits, by root");
	if (!err && thread < model->timelines.count)
		err = put_states(writer, thread, group);
	return err ? err : put_calls(writer, thread, group);
}

/* Returns the number of tasks that each thread launched. NULL without memory. */
static uint32_t *count_launches(const struct model *model)
{
	uint32_t *launches = calloc((size_t)model->threads.count + 1, sizeof(*launches));

	for (uint32_t i = 0; launches && i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		uint32_t thread = task->call < model->calls.count ?
					  model->calls.row[task->call].thread :
					  task->thread;

		if (thread < model->threads.count)
			launches[thread]++;
	}
	return launches;
}

/* Writes the threads that launch most, or whose waits represent a device's; at most THREADS_MOST. */
static int put_threads(struct timeline_writer *writer)
{
	const struct model *model = writer->data->model;
	const struct host_waits *waits = writer->data->results->waits;
	uint32_t *launches = count_launches(model);
	int err = launches ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && waits && i < waits->thread_count; i++)
		launches[waits->threads[i]] = UINT32_MAX - i;
	for (uint32_t n = 0; !err && n < THREADS_MOST; n++) {
		uint32_t most = 0;

		for (uint32_t i = 1; i < model->threads.count; i++)
			most = launches[i] > launches[most] ? i : most;
		if (!model->threads.count || !launches[most])
			break;
		launches[most] = 0;
		err = put_thread(writer, most);
	}
	for (uint32_t i = 0; !err && i < model->threads.count; i++)
		writer->threads_left_out += launches[i] != 0;
	free(launches);
	return err;
}

/* ---- Queues of devices */

/* Writes the deepest of each @each steps, with its instant. */
static void put_depths(struct json *json, const struct task_queue_step *steps, uint32_t count,
		       uint64_t origin_ns)
{
	uint32_t each = count / QUEUE_POINTS + 1;

	json_array(json, "points");
	for (uint32_t i = 0; i < count; i += each) {
		int64_t deepest = steps[i].depth;

		for (uint32_t k = i; k < count && k < i + each; k++)
			deepest = steps[k].depth > deepest ? steps[k].depth : deepest;
		json_i64(json, NULL, (int64_t)(steps[i].ns - origin_ns));
		json_i64(json, NULL, deepest);
	}
	json_array_close(json);
}

static int put_queue(struct timeline_writer *writer, uint32_t first, uint32_t end)
{
	const struct model *model = writer->data->model;
	struct json *json = writer->data->json;
	struct task_queue_step *steps;
	char name[GROUP_SIZE];
	uint32_t count;

	steps = task_queue_compute(model, writer->order + first, end - first, &count);
	if (!steps)
		return -ENOMEM;
	group_words(model, model->tasks.row[writer->order[first]].device, name, sizeof(name));
	json_map(json, NULL);
	json_text(json, "name", name);
	put_depths(json, steps, count, writer->data->origin_ns);
	json_map_close(json);
	free(steps);
	return 0;
}

/* Calls @put for each device's part of the order. */
static int each_device(struct timeline_writer *writer,
		       int (*put)(struct timeline_writer *writer, uint32_t first, uint32_t end))
{
	uint32_t first = 0, devices = 0;
	int err = 0;

	writer->devices_left_out = 0;
	while (first < writer->order_count && !err) {
		uint32_t end = task_order_device_end(writer->data->model, writer->order,
						     writer->order_count, first);

		if (devices++ < DEVICES_MOST)
			err = put(writer, first, end);
		else
			writer->devices_left_out++;
		first = end;
	}
	return err;
}

/* Writes whose steps the rows of the report's steps.devices are. */
static void put_steps(struct timeline_writer *writer)
{
	const struct device_step_results *steps = writer->data->results->device_steps;
	char name[GROUP_SIZE];

	json_array(writer->data->json, "steps");
	for (uint32_t i = 0; steps && i < steps->count; i++)
		json_text(writer->data->json, NULL,
			  group_words(writer->data->model, steps->traces[i].device, name, sizeof(name)));
	json_array_close(writer->data->json);
}

static void put_left_out(struct timeline_writer *writer)
{
	struct json *json = writer->data->json;

	json_map(json, "left_out");
	json_u64(json, "devices", writer->devices_left_out);
	json_u64(json, "streams", writer->streams_left_out);
	json_u64(json, "threads", writer->threads_left_out);
	json_map_close(json);
}

static int put_all(struct timeline_writer *writer)
{
	struct json *json = writer->data->json;
	int err;

	json_map(json, "timeline");
	json_u64(json, "start_ns", writer->data->origin_ns);
	json_array(json, "tracks");
	err = each_device(writer, put_device);
	if (!err)
		err = put_threads(writer);
	json_array_close(json);
	json_array(json, "queues");
	if (!err)
		err = each_device(writer, put_queue);
	json_array_close(json);
	put_steps(writer);
	put_left_out(writer);
	json_array(json, "names");
	for (uint32_t i = 0; i < string_table_count(writer->names); i++)
		json_text(json, NULL, string_table_get(writer->names, i));
	json_array_close(json);
	json_map_close(json);
	return err;
}

int page_timeline(struct page_data *data)
{
	struct timeline_writer writer = { .data = data, .left = SLICES_MOST };
	int err = -ENOMEM;

	if (!data->results->devices)
		return 0;
	writer.all = string_table_new();
	writer.names = string_table_new();
	writer.order = task_order(data->model, &writer.order_count);
	if (writer.all && writer.names && writer.order)
		err = put_all(&writer);
	string_table_free(writer.all);
	string_table_free(writer.names);
	free(writer.order);
	return err;
}
