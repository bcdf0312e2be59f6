/* SPDX-License-Identifier: Apache-2.0 */
/* job_roots.c - the roots of devices' and threads' waits, and the threads on the chains to them */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/export/timeline/export_names.h"
#include "analyzer/export/timeline/job_tracks.h"
#include "analyzer/view/report.h"

#define KIND_HELD 2 /* for job_thread_track() */
#define KIND_WAITS 3
#define KIND_DEVICE 4

/* Texts of a row of roots, made when it is first shown. */
struct row_texts {
	uint32_t cause, who, detail, object;
};

struct roots_writer {
	struct job_tracks *tracks;
	const struct idle_roots *roots;
	struct syscall_table *syscalls;
	struct row_texts *texts; /* by row */
	bool of_devices;
};

static const struct row_texts *texts_of(struct roots_writer *writer, uint32_t row)
{
	const struct model *model = writer->tracks->model;
	const struct root *root = &writer->roots->row[row].root;
	struct row_texts *texts = &writer->texts[row];
	char text[EXPORT_NAME_SIZE];

	if (texts->cause)
		return texts;
	texts->cause = job_text(writer->tracks, idle_cause_name(root->cause));
	root_who_text(model, root, text, sizeof(text));
	texts->who = job_text(writer->tracks, text);
	root_place_text(model, writer->syscalls, root, text, sizeof(text));
	texts->detail = job_text(writer->tracks, text);
	root_object_text(model, root, text, sizeof(text));
	texts->object = job_text(writer->tracks, text);
	return texts;
}

static uint32_t device_track(struct job_tracks *tracks, uint32_t device)
{
	uint64_t key = (uint64_t)KIND_DEVICE << 32 | device;
	uint32_t track = map_get(&tracks->thread_tracks, key);

	if (track != MAP_NONE)
		return track;
	track = job_track_add(tracks, "Idle, by root",
			      (struct job_track){ .owner = JOB_OF_DEVICE,
						  .index = device,
						  .category = "root",
						  .description = "Who was at the end of all waiting; "
								 "stretches of 0.1 ms and more" });
	if (track != INDEX_NONE && !map_put(&tracks->thread_tracks, key, track))
		return INDEX_NONE;
	return track;
}

static bool is_shown(const struct roots_writer *writer, const struct root_stretch *stretch)
{
	const struct job_tracks *tracks = writer->tracks;
	const struct model *model = tracks->model;
	uint64_t start_ns = stretch->start_ns, end_ns = stretch->end_ns;
	bool cut;

	if (end_ns - start_ns < JOB_ROOT_MIN_NS || stretch->row >= writer->roots->count ||
	    !export_clip(tracks->window, &start_ns, &end_ns, &cut))
		return false;
	if (!writer->of_devices)
		return stretch->whose < model->threads.count && tracks->chosen[stretch->whose];
	return stretch->whose < model->devices.count &&
	       export_process(model, tracks->options, model->devices.row[stretch->whose].process);
}

/* Adds the threads of a chain, from the root on; *@flow is the number of the arrow to the next thread. */
static bool add_hops(struct roots_writer *writer, const struct root_stretch *stretch, uint64_t *flow)
{
	struct job_tracks *tracks = writer->tracks;
	const struct idle_roots *roots = writer->roots;
	uint32_t first = writer->of_devices ? 1 : 2; /* depth of the first thread that is not the waiting one itself */

	for (uint32_t way = stretch->way; way < roots->way_count && roots->ways[way].depth >= first;
	     way = roots->ways[way].before) {
		const struct root_hop *hop = &roots->ways[way].hop;
		struct job_slice slice = { .start_ns = stretch->start_ns,
					   .end_ns = stretch->end_ns,
					   .flow_to = *flow };

		if (hop->thread >= tracks->model->threads.count || !tracks->chosen[hop->thread])
			continue;
		slice.track = job_thread_track(tracks, KIND_HELD, hop->thread, "Held others up",
					       "holder",
					       "What it was in while others waited for it; "
					       "stretches of 0.1 ms and more");
		slice.name = job_text(tracks, idle_cause_name(hop->cause));
		slice.flow_from = *flow = JOB_FIRST_FLOW + tracks->flows++;
		if (slice.track == INDEX_NONE || !MODEL_PUSH(&tracks->slices, slice))
			return false;
	}
	return true;
}

static bool add_stretch(struct roots_writer *writer, const struct root_stretch *stretch)
{
	struct job_tracks *tracks = writer->tracks;
	const struct row_texts *texts = texts_of(writer, stretch->row);
	struct job_slice slice = { .start_ns = stretch->start_ns,
				   .end_ns = stretch->end_ns,
				   .name = texts->cause,
				   .who = texts->who,
				   .detail = texts->detail,
				   .object = texts->object };

	if (!add_hops(writer, stretch, &slice.flow_to))
		return false;
	slice.track = writer->of_devices ?
			      device_track(tracks, stretch->whose) :
			      job_thread_track(tracks, KIND_WAITS, stretch->whose, "Waits, by root",
					       "root",
					       "Who was at the end of all waiting; stretches of "
					       "0.1 ms and more");
	return slice.track != INDEX_NONE && MODEL_PUSH(&tracks->slices, slice);
}

static int by_start(const void *a, const void *b)
{
	const struct root_stretch *x = *(const struct root_stretch *const *)a;
	const struct root_stretch *y = *(const struct root_stretch *const *)b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->whose < y->whose ? -1 : x->whose > y->whose;
}

static bool add_stretches(struct roots_writer *writer)
{
	const struct root_times *times = &writer->roots->times;
	const struct root_stretch **rows =
		calloc((size_t)times->stretches.count + 1, sizeof(*rows));
	bool fits = rows != NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; fits && i < times->stretches.count; i++)
		if (is_shown(writer, &times->stretches.row[i]))
			rows[count++] = &times->stretches.row[i];
	if (count)
		qsort(rows, count, sizeof(*rows), by_start);
	for (uint32_t i = 0; i < count && fits; i++)
		fits = add_stretch(writer, rows[i]);
	free(rows);
	return fits;
}

static int add_roots(struct job_tracks *tracks, const struct idle_roots *roots, bool of_devices)
{
	const struct model *model = tracks->model;
	struct roots_writer writer = { .tracks = tracks, .roots = roots, .of_devices = of_devices };
	bool fits;

	writer.syscalls = syscall_table_new(model_text(model, model->info.arch));
	writer.texts = calloc((size_t)roots->count + 1, sizeof(*writer.texts));
	fits = writer.syscalls && writer.texts && add_stretches(&writer);
	syscall_table_free(writer.syscalls);
	free(writer.texts);
	return fits ? 0 : -ENOMEM;
}

int job_add_roots(struct job_tracks *tracks)
{
	const struct results *results = tracks->results;
	int err = 0;

	if (results->devices && results->devices->idle.roots)
		err = add_roots(tracks, results->devices->idle.roots, true);
	if (!err && results->waits)
		err = add_roots(tracks, &results->waits->waits, false);
	return err;
}
