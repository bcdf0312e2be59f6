/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_<time>.json: the timeline of a device, of its process's calls, and how computation and communication overlap.
 *
 * Collectives stand under "Communication", a thread for each group; their parts, which msprof shows under it, are not
 * kept. A call's connection_id is its row in the model, from 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/calls/api_statistic.h"
#include "analyzer/export/layouts/msprof/msprof_events.h"
#include "analyzer/export/timeline/device_tracks.h"
#include "analyzer/export/timeline/task_order.h"
#include "analyzer/join/launch/call_kind.h"

struct writer {
	struct msprof_events events;
	uint32_t *order; /* the device's tasks in the window, by stream and start */
	uint32_t count;
	bool *launches; /* by call: it launched one of the device's tasks */
};

static bool is_communication(const struct device_task *task)
{
	return task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
}

static uint64_t stream_of(const struct device_task *task)
{
	return task->stream == MODEL_ID_NONE ? MSPROF_NO_ID : task->stream;
}

static uint64_t known_or_none(uint64_t id)
{
	return id == MODEL_ID_NONE ? MSPROF_NO_ID : id;
}

/* Tasks without a known call have neither an arrow nor a connection number. */
static void put_connection(struct writer *writer, const struct device_task *task)
{
	if (task->call < writer->events.msprof->model->calls.count)
		json_u64(writer->events.json, "connection_id", (uint64_t)task->call + 1);
}

static void put_flow_end(struct writer *writer, const struct device_task *task,
			 enum msprof_layer layer, uint64_t tid)
{
	if (task->call < writer->events.msprof->model->calls.count &&
	    writer->launches[task->call])
		msprof_flow(&writer->events, "f", task->call + 1, layer, tid, task->start_ns);
}

static void put_bytes(struct json *json, const struct device_task *task)
{
	char text[40];

	if (task->kind != PROFBPF__DEVICE_TASKS__KIND__COPY || !task->bytes)
		return;
	json_u64(json, "size(B)", task->bytes);
	if (task->end_ns == task->start_ns)
		return;
	snprintf(text, sizeof(text), "%.6f",
		 (double)task->bytes / (double)(task->end_ns - task->start_ns));
	json_number(json, "bandwidth(GB/s)", text);
}

static void put_hardware_task(struct writer *writer, const struct device_task *task)
{
	const struct model *model = writer->events.msprof->model;
	const struct task_detail *detail = model_task_detail(model, task);
	struct json *json = writer->events.json;
	const char *core = msprof_core(model, task);
	uint64_t stream = stream_of(task);

	if (task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL && strcmp(core, "N/A") == 0)
		core = "KERNEL";
	msprof_begin_slice(&writer->events, model_text(model, task->name), NULL, LAYER_HARDWARE,
			   stream, task->start_ns, task->end_ns);
	json_u64(json, "Model Id", detail ? known_or_none(detail->model_id) : MSPROF_NO_ID);
	json_text(json, "Task Type", core);
	json_u64(json, "Physic Stream Id", stream);
	if (detail && detail->task_id != MODEL_ID_NONE)
		json_u64(json, "Task Id", detail->task_id);
	json_u64(json, "Subtask Id", detail ? known_or_none(detail->context_id) : MSPROF_NO_ID);
	put_connection(writer, task);
	put_bytes(json, task);
	msprof_end_slice(&writer->events);
	put_flow_end(writer, task, LAYER_HARDWARE, stream);
}

static void put_hardware(struct writer *writer)
{
	const struct device_step_trace *steps = msprof_steps(writer->events.msprof);
	const struct device_task *last = NULL;
	char name[48];

	msprof_name_layer(&writer->events, LAYER_HARDWARE, "Ascend Hardware");
	for (uint32_t i = 0; i < writer->count; i++) {
		const struct device_task *task =
			&writer->events.msprof->model->tasks.row[writer->order[i]];

		if (is_communication(task))
			continue;
		snprintf(name, sizeof(name), "Stream %" PRIu64, stream_of(task));
		if (!last || last->stream != task->stream)
			msprof_name_thread(&writer->events, LAYER_HARDWARE, stream_of(task), name);
		last = task;
		put_hardware_task(writer, task);
	}
	if (steps)
		msprof_put_steps(&writer->events, steps);
}

/* Returns the group of ranks of a collective: a string, 0 = unknown. */
static uint32_t group_of(const struct model *model, const struct device_task *task)
{
	const struct task_detail *detail = model_task_detail(model, task);

	return detail ? detail->group : 0;
}

static void put_operation(struct writer *writer, const struct device_task *task, uint64_t tid)
{
	const struct model *model = writer->events.msprof->model;
	const struct task_detail *detail = model_task_detail(model, task);
	struct json *json = writer->events.json;
	const char *types = detail ? model_text(model, detail->input_types) : "";

	msprof_begin_slice(&writer->events, model_text(model, task->name), NULL,
			   LAYER_COMMUNICATION, tid, task->start_ns, task->end_ns);
	if (detail && detail->members)
		json_u64(json, "rank_size", detail->members);
	put_connection(writer, task);
	json_u64(json, "model id", detail ? known_or_none(detail->model_id) : MSPROF_NO_ID);
	json_text(json, "data_type", *types ? types : "N/A");
	json_text(json, "alg_type", "N/A");
	msprof_end_slice(&writer->events);
	put_flow_end(writer, task, LAYER_COMMUNICATION, tid);
}

/* Groups are numbered in order of appearance. */
static int put_communication(struct writer *writer)
{
	const struct model *model = writer->events.msprof->model;
	MODEL_ARRAY(uint32_t) groups = { 0 };
	char name[256];

	for (uint32_t i = 0; i < writer->count; i++) {
		const struct device_task *task = &model->tasks.row[writer->order[i]];
		uint32_t group = group_of(model, task), tid = 0;

		if (!is_communication(task))
			continue;
		while (tid < groups.count && groups.row[tid] != group)
			tid++;
		if (!groups.count)
			msprof_name_layer(&writer->events, LAYER_COMMUNICATION, "Communication");
		if (tid == groups.count) {
			if (!MODEL_PUSH(&groups, group)) {
				free(groups.row);
				return -ENOMEM;
			}
			snprintf(name, sizeof(name), "%s%s%sCommunication", group ? "Group " : "",
				 model_text(model, group), group ? " " : "");
			msprof_name_thread(&writer->events, LAYER_COMMUNICATION, tid, name);
		}
		put_operation(writer, task, tid);
	}
	free(groups.row);
	return 0;
}

static bool is_of_timeline(const struct msprof *msprof, const struct call *call)
{
	const struct model *model = msprof->model;

	return call_is_runtime(model, call) && !(call->flags & MODEL_CALL_NOT_RETURNED) &&
	       call->start_ns >= msprof->results->from_ns && call->start_ns < msprof->results->to_ns &&
	       call->thread < model->threads.count &&
	       msprof_is_process(msprof, model->threads.row[call->thread].process);
}

/* Returns the level's name as in msprof's arguments. */
static const char *short_level(const char *level)
{
	static const char *const SHORT[][2] = { { "AscendCL", "acl" },
						{ "Runtime", "runtime" },
						{ "Node", "node" },
						{ "Model", "model" },
						{ "Communication", "communication" } };

	for (size_t i = 0; i < sizeof(SHORT) / sizeof(SHORT[0]); i++) {
		if (strcmp(level, SHORT[i][0]) == 0)
			return SHORT[i][1];
	}
	return level;
}

static void put_call(struct writer *writer, uint32_t row)
{
	const struct model *model = writer->events.msprof->model;
	const struct call *call = &model->calls.row[row];
	const struct function *function = call_function(model, call);
	const char *level = api_level(model, function), *name = model_text(model, function->name);
	uint64_t tid = model->threads.row[call->thread].tid;
	struct json *json = writer->events.json;
	char text[512];

	snprintf(text, sizeof(text), "%s@%s", level, name);
	msprof_begin_slice(&writer->events, text, NULL, LAYER_CANN, tid, call->start_ns,
			   call->start_ns + model_call_ns(model, call));
	json_u64(json, "Thread Id", tid);
	json_text(json, "Mode", "N/A");
	json_text(json, "level", short_level(level));
	json_text(json, "id", name);
	json_text(json, "item_id", "0");
	json_u64(json, "connection_id", (uint64_t)row + 1);
	msprof_end_slice(&writer->events);
	if (writer->launches[row])
		msprof_flow(&writer->events, "s", row + 1, LAYER_CANN, tid, call->start_ns);
}

/* Calls are sorted by thread. */
static void put_calls(struct writer *writer)
{
	const struct msprof *msprof = writer->events.msprof;
	const struct model *model = msprof->model;
	uint32_t thread = INDEX_NONE;
	char name[48];

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];

		if (!is_of_timeline(msprof, call))
			continue;
		if (thread == INDEX_NONE)
			msprof_name_layer(&writer->events, LAYER_CANN, "CANN");
		if (thread != call->thread) {
			thread = call->thread;
			snprintf(name, sizeof(name), "Thread %u", model->threads.row[thread].tid);
			msprof_name_thread(&writer->events, LAYER_CANN,
					   model->threads.row[thread].tid, name);
		}
		put_call(writer, i);
	}
}

static int put_overlap(struct writer *writer)
{
	static const char *const ROWS[] = { "Computing", "Communication",
					    "Communication(Not Overlapped)", "Free" };
	const struct msprof *msprof = writer->events.msprof;
	struct device_tracks tracks;
	int err = device_tracks_build(msprof->model, &(struct export_options){ 0 }, msprof->device,
				      writer->order, writer->count, &tracks);

	if (!err && tracks.count)
		msprof_name_layer(&writer->events, LAYER_OVERLAP, "Overlap Analysis");
	for (uint64_t row = 0; row < sizeof(ROWS) / sizeof(ROWS[0]) && !err && tracks.count; row++) {
		msprof_name_thread(&writer->events, LAYER_OVERLAP, row, ROWS[row]);
		for (uint32_t i = 0; i < tracks.count; i++) {
			const struct device_track *track = &tracks.track[i];

			for (uint32_t k = 0; strcmp(track->name, ROWS[row]) == 0 && k < track->count;
			     k++) {
				msprof_begin_slice(&writer->events, ROWS[row], NULL, LAYER_OVERLAP,
						   row, track->row[k].start_ns, track->row[k].end_ns);
				msprof_end_slice(&writer->events);
			}
		}
	}
	device_tracks_free(&tracks);
	return err;
}

/* Finds the device's tasks, and the calls that launched them. */
static int prepare(struct writer *writer, const struct msprof *msprof)
{
	const struct model *model = msprof->model;
	uint32_t all = 0;

	writer->order = task_order(model, &all);
	writer->launches = calloc((size_t)model->calls.count + 1, sizeof(*writer->launches));
	if (!writer->order || !writer->launches)
		return -ENOMEM;
	for (uint32_t i = 0; i < all; i++) {
		const struct device_task *task = &model->tasks.row[writer->order[i]];

		if (!msprof_is_timed(msprof, task))
			continue;
		writer->order[writer->count++] = writer->order[i];
		if (task->call < model->calls.count)
			writer->launches[task->call] =
				is_of_timeline(msprof, &model->calls.row[task->call]);
	}
	return 0;
}

int msprof_timeline(const struct msprof *msprof)
{
	struct writer writer = { 0 };
	int err, closed;

	if (msprof->model->devices.row[msprof->device].id > MSPROF_DEVICES_MAX)
		return 0;
	err = prepare(&writer, msprof);
	if (!err)
		err = msprof_events_open(&writer.events, msprof, "msprof");
	if (!err) {
		put_hardware(&writer);
		put_calls(&writer);
		err = put_communication(&writer);
		if (!err)
			err = put_overlap(&writer);
		closed = msprof_events_close(&writer.events);
		err = err ? err : closed;
	}
	free(writer.order);
	free(writer.launches);
	return err;
}
