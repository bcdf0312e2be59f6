/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MindInsight's timeline: complete events in Chrome's format, one process for each kind of unit that runs operators.
 *
 * The numbers of processes, overlap rows and scope rows are MindSpore's. Instants are
 * microseconds since the first event.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/operators.h"
#include "analyzer/export/timeline/device_tracks.h"
#include "analyzer/view/render/json.h"
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"

#define PID_AI_CPU 9000
#define PID_COMMUNICATION 10000
#define PID_HOST_CPU 11000
#define PID_OVERLAP 12000
#define TID_STEPS 100000
#define TID_SCOPES 100001

struct timeline_writer {
	const struct mindinsight_device *of;
	struct json *json;
	struct device_tracks tracks;
	uint64_t zero_ns;
	uint32_t pids; /* process numbers already announced, one bit each */
};

/* Returns the number of a task's process; returns false if MindInsight does not show such tasks. */
static bool pid_of(const struct mindinsight_device *of, const struct device_task *task,
		   uint32_t *pid)
{
	switch (task_core(of->model, task)) {
	case CORE_KERNEL:
	case CORE_AICORE: *pid = of->number; return true;
	case CORE_AICPU: *pid = PID_AI_CPU; return true;
	case CORE_COMMUNICATION: *pid = PID_COMMUNICATION; return true;
	case CORE_HOSTCPU: *pid = PID_HOST_CPU; return true;
	default: return false;
	}
}

static void announce(struct timeline_writer *writer, const char *what, uint32_t pid, uint64_t tid,
		     const char *name)
{
	json_map(writer->json, NULL);
	json_text(writer->json, "name", what);
	json_text(writer->json, "ph", "M");
	json_u64(writer->json, "pid", pid);
	json_u64(writer->json, "tid", tid);
	json_map(writer->json, "args");
	json_text(writer->json, "name", name);
	json_map_close(writer->json);
	json_map_close(writer->json);
}

static void announce_process(struct timeline_writer *writer, uint32_t pid)
{
	static const struct {
		uint32_t pid;
		const char *name;
	} NAMES[] = { { PID_AI_CPU, "AI CPU Op" },
		      { PID_COMMUNICATION, "Communication Op" },
		      { PID_HOST_CPU, "Host CPU Op" },
		      { PID_OVERLAP, "Op Overlap Analyse" } };
	const char *name = "AI Core Op";
	uint32_t bit = 1;

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		if (pid == NAMES[i].pid) {
			name = NAMES[i].name;
			bit = 2u << i;
		}
	}
	if (writer->pids & bit)
		return;
	writer->pids |= bit;
	announce(writer, "process_name", pid, 0, name);
}

static void put_us(struct timeline_writer *writer, const char *key, uint64_t ns)
{
	json_decimal(writer->json, key, (double)ns / 1000);
}

static void begin_event(struct timeline_writer *writer, const char *name, uint32_t pid,
			uint64_t tid, uint64_t start_ns, uint64_t end_ns)
{
	json_map(writer->json, NULL);
	json_text(writer->json, "name", name);
	json_text(writer->json, "ph", "X");
	json_u64(writer->json, "pid", pid);
	json_u64(writer->json, "tid", tid);
	put_us(writer, "ts", start_ns - writer->zero_ns);
	put_us(writer, "dur", end_ns - start_ns);
}

static void put_task(struct timeline_writer *writer, const struct device_task *task, uint32_t pid)
{
	const struct model *model = writer->of->model;
	const char *name = model_text(model, task->name), *slash = strrchr(name, '/');
	uint64_t tid = task->stream == MODEL_ID_NONE ? 0 : task->stream;

	begin_event(writer, slash && slash[1] ? slash + 1 : name, pid, tid, task->start_ns,
		    task->end_ns);
	json_map(writer->json, "args");
	json_text(writer->json, "type",
		  task->type ? model_text(model, task->type) : task_kind_name(task->kind));
	json_text(writer->json, "fullname", name);
	json_map_close(writer->json);
	json_map_close(writer->json);
}

static void put_streams(struct timeline_writer *writer)
{
	const struct mindinsight_device *of = writer->of;
	const struct device_task *last = NULL;
	uint32_t pid, last_pid = 0;
	char name[48];

	for (uint32_t i = 0; i < of->count; i++) {
		const struct device_task *task = &of->model->tasks.row[of->order[i]];
		uint64_t tid = task->stream == MODEL_ID_NONE ? 0 : task->stream;

		if (!pid_of(of, task, &pid))
			continue;
		announce_process(writer, pid);
		snprintf(name, sizeof(name), "Stream #%" PRIu64, tid);
		if (!last || last->stream != task->stream || last_pid != pid)
			announce(writer, "thread_name", pid, tid, name);
		last = task;
		last_pid = pid;
		put_task(writer, task, pid);
	}
}

static uint64_t overlap_row(const char *name)
{
	static const char *const NAMES[] = { "Computing", "Communication(Not Overlapped)",
					     "Communication", "Free" };

	for (uint64_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		if (strcmp(name, NAMES[i]) == 0)
			return 7999 + i;
	}
	return 7998;
}

/* MindInsight's names of the overlap rows, in the order of their numbers. */
static const char *overlap_name(uint64_t tid)
{
	static const char *const NAMES[] = { "Merged Computation Op", "Pure Communication Op",
					     "Merged Communication Op", "Free Time" };

	return tid >= 7999 && tid < 7999 + sizeof(NAMES) / sizeof(NAMES[0]) ? NAMES[tid - 7999] :
									       "Other";
}

static void put_track(struct timeline_writer *writer, const struct device_track *track)
{
	bool scopes = track->group == TRACK_SCOPES, overlap = track->group == TRACK_OVERLAP;
	uint64_t tid = scopes ? TID_SCOPES : overlap ? overlap_row(track->name) : TID_STEPS;
	uint32_t pid = overlap ? PID_OVERLAP : writer->of->number;
	unsigned int level = 1;

	announce_process(writer, pid);
	announce(writer, "thread_name", pid, tid,
		 scopes ? "Scope Name" : overlap ? overlap_name(tid) : "Steps");
	if (scopes)
		sscanf(track->name, "Scope %u", &level);
	for (uint32_t i = 0; i < track->count; i++) {
		const struct track_slice *slice = &track->row[i];

		if (slice->depth)
			continue; /* steps without their parts, which have a page of their own */
		begin_event(writer,
			    overlap ? overlap_name(tid) :
				      string_table_get(writer->tracks.texts, slice->text),
			    pid, tid, slice->start_ns, slice->end_ns);
		if (scopes)
			json_u64(writer->json, "scope_level", level - 1);
		json_map_close(writer->json);
	}
}

static uint64_t first_ns(const struct mindinsight_device *of)
{
	uint64_t first = of->steps ? of->steps->rows[0].start_ns : UINT64_MAX;

	for (uint32_t i = 0; i < of->count; i++) {
		uint64_t start_ns = of->model->tasks.row[of->order[i]].start_ns;

		first = start_ns < first ? start_ns : first;
	}
	return first;
}

static int build_tracks(const struct mindinsight_device *of, struct device_tracks *tracks)
{
	const struct export_options options = { .steps = of->results->device_steps,
						.scope_depth = SCOPE_DEPTH_MAX };

	return device_tracks_build(of->model, &options, of->device, of->order, of->count, tracks);
}

int mindinsight_timeline(FILE *out, const struct mindinsight_device *of)
{
	struct timeline_writer writer = { .of = of, .zero_ns = first_ns(of) };
	int err = build_tracks(of, &writer.tracks);

	writer.json = err ? NULL : json_new(out, false);
	if (!err && !writer.json)
		err = -ENOMEM;
	if (!err) {
		json_array(writer.json, NULL);
		put_streams(&writer);
		for (uint32_t i = 0; i < writer.tracks.count; i++)
			put_track(&writer, &writer.tracks.track[i]);
		json_array_close(writer.json);
		err = json_end(writer.json);
	}
	device_tracks_free(&writer.tracks);
	return err;
}

static int by_text(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the number of different names of the shown tasks; UINT32_MAX without memory. */
static uint32_t count_names(const struct mindinsight_device *of)
{
	uint32_t *names = malloc(((size_t)of->count + 1) * sizeof(*names)), used = 0, count = 0, pid;

	if (!names)
		return UINT32_MAX;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct device_task *task = &of->model->tasks.row[of->order[i]];

		if (pid_of(of, task, &pid))
			names[used++] = task->name;
	}
	qsort(names, used, sizeof(*names), by_text);
	for (uint32_t i = 0; i < used; i++)
		count += i == 0 || names[i] != names[i - 1];
	free(names);
	return count;
}

int mindinsight_timeline_summary(FILE *out, const struct mindinsight_device *of)
{
	uint32_t streams = 0, scopes = 0, names = count_names(of), pid;
	uint64_t all_ns = 0, tasks = 0, stream = 0;
	struct device_tracks tracks;
	struct json *json;
	int err = build_tracks(of, &tracks);

	for (uint32_t i = 0; i < of->count && !err; i++) {
		const struct device_task *task = &of->model->tasks.row[of->order[i]];

		if (!pid_of(of, task, &pid))
			continue;
		streams += !tasks || task->stream != stream;
		stream = task->stream;
		tasks++;
		all_ns += task->end_ns - task->start_ns;
	}
	for (uint32_t i = 0; i < tracks.count; i++)
		scopes += tracks.track[i].group == TRACK_SCOPES;
	device_tracks_free(&tracks);
	json = err || names == UINT32_MAX ? NULL : json_new(out, false);
	if (!json)
		return -ENOMEM;
	json_map(json, NULL);
	json_decimal(json, "total_time", (double)all_ns / 1e6);
	json_u64(json, "num_of_streams", streams);
	json_u64(json, "num_of_ops", names);
	json_u64(json, "op_exe_times", tasks);
	json_u64(json, "max_scope_name_num", scopes);
	json_map_close(json);
	return json_end(json);
}
