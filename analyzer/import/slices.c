/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_MAX 1024 /* begun slices without an end, per track */

void slices_open(struct slices *slices, struct import *import, const char *source, uint8_t clock)
{
	*slices = (struct slices){ .import = import, .source = source, .clock = clock };
	import_rows_begin(&slices->rows, import);
}

void slices_free(struct slices *slices)
{
	import_rows_free(&slices->rows);
	free(slices->tracks.row);
	free(slices->slices.row);
	free(slices->outer.row);
}

uint32_t slices_track(struct slices *slices)
{
	struct slice_track track = { .open = MAP_NONE };

	return MODEL_PUSH(&slices->tracks, track) ? slices->tracks.count - 1 : INDEX_NONE;
}

int slices_add(struct slices *slices, uint32_t track, int64_t start_ns, int64_t dur_ns,
	       uint32_t name)
{
	struct slice slice = {
		.start_ns = start_ns, .dur_ns = dur_ns, .track = track, .name = name
	};
	uint32_t none = MAP_NONE;

	return MODEL_PUSH(&slices->slices, slice) && MODEL_PUSH(&slices->outer, none) ? 0 : -ENOMEM;
}

int slices_begin(struct slices *slices, uint32_t row, int64_t start_ns, uint32_t name)
{
	struct slice_track *track = &slices->tracks.row[row];
	int err;

	if (track->open_count == OPEN_MAX)
		return import_finding(slices->import, "events begun inside too many others",
				      model_text(slices->import->model, name));
	err = slices_add(slices, row, start_ns, -1, name);
	if (err)
		return err;
	slices->outer.row[slices->slices.count - 1] = track->open;
	track->open = slices->slices.count - 1;
	track->open_count++;
	return 0;
}

int slices_end(struct slices *slices, uint32_t row, int64_t end_ns)
{
	struct slice_track *track = &slices->tracks.row[row];
	struct slice *slice;

	if (track->open == MAP_NONE)
		return import_finding(slices->import, "ends of events that never began", NULL);
	slice = &slices->slices.row[track->open];
	if (end_ns >= slice->start_ns &&
	    __builtin_sub_overflow(end_ns, slice->start_ns, &slice->dur_ns))
		slice->dur_ns = -1;
	track->open = slices->outer.row[track->open];
	track->open_count--;
	return 0;
}

/* Does a name contain a word that only devices have? */
static bool names_device(const char *name)
{
	static const char *const WORDS[] = { "gpu",	 "npu",	   "cuda",   "stream",
					     "/device:", "ascend", "ai core" };

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
		if (strcasestr(name, WORDS[i]))
			return true;
	}
	return false;
}

static const char *process_name(const struct slices *slices, const struct slice_track *track)
{
	return model_text(slices->import->model, track->process);
}

static bool is_device_process(const struct slices *slices, const struct slice_track *track)
{
	return strncmp(process_name(slices, track), "/device:", 8) == 0;
}

static bool is_device_track(const struct slices *slices, const struct slice_track *track)
{
	const char *process = process_name(slices, track);

	return names_device(model_text(slices->import->model, track->name)) ||
	       strstr(process, "GPU") || strstr(process, "NPU");
}

static bool take_tracks(struct slices *slices,
			bool (*wanted)(const struct slices *, const struct slice_track *))
{
	bool any = false;

	for (uint32_t i = 0; i < slices->tracks.count; i++) {
		struct slice_track *track = &slices->tracks.row[i];

		track->taken = !wanted || wanted(slices, track);
		any |= track->taken;
	}
	return any;
}

/* Which tracks are of devices; see the head of slices.h. */
static int choose_tracks(struct slices *slices)
{
	if (take_tracks(slices, is_device_process) || take_tracks(slices, is_device_track))
		return 0;
	take_tracks(slices, NULL);
	return import_finding(slices->import,
			      "no track says that it is a device: all were taken for one", NULL);
}

static uint8_t kind_of(const char *name)
{
	if (is_communication_name(name) || strcasestr(name, "allreduce"))
		return PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	if (strcasestr(name, "memcpy"))
		return PROFBPF__DEVICE_TASKS__KIND__COPY;
	return PROFBPF__DEVICE_TASKS__KIND__KERNEL;
}

static int put_task(struct slices *slices, const struct slice *slice, int64_t move_ns)
{
	struct model *model = slices->import->model;
	const struct slice_track *track = &slices->tracks.row[slice->track];
	const char *process = process_name(slices, track);
	struct device_task task = { .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .stream = track->stream,
				    .name = slice->name,
				    .kind = kind_of(model_text(model, slice->name)) };
	int64_t start_ns, end_ns;

	if (slice->dur_ns < 0)
		return import_finding(slices->import, "events that never end",
				      model_text(model, slice->name));
	if (__builtin_add_overflow(slice->start_ns, move_ns, &start_ns) || start_ns < 1 ||
	    __builtin_add_overflow(start_ns, slice->dur_ns, &end_ns))
		return import_finding(slices->import, "events outside of any time",
				      model_text(model, slice->name));
	task.start_ns = (uint64_t)start_ns;
	task.end_ns = (uint64_t)end_ns;
	task.device = import_device(&slices->rows, track->device, INDEX_NONE,
				    *process ? process : "unnamed", "accelerator", slices->source,
				    slices->clock);
	if (task.device == INDEX_NONE || !MODEL_PUSH(&model->tasks, task))
		return -ENOMEM;
	return 0;
}

int slices_finish(struct slices *slices)
{
	int64_t first_ns = INT64_MAX, move_ns;
	int err = choose_tracks(slices);

	for (uint32_t i = 0; i < slices->slices.count; i++) {
		if (slices->slices.row[i].start_ns < first_ns)
			first_ns = slices->slices.row[i].start_ns;
	}
	/* 0 stands for "not reported", and such files' clocks often begin there. */
	move_ns = first_ns < 1 && first_ns > INT64_MIN + 1 ? 1 - first_ns : 0;
	for (uint32_t i = 0; i < slices->slices.count && !err; i++) {
		if (slices->tracks.row[slices->slices.row[i].track].taken)
			err = put_task(slices, &slices->slices.row[i], move_ns);
	}
	return err;
}
