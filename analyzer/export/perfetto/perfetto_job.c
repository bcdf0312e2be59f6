/* SPDX-License-Identifier: Apache-2.0 */
/* What analyses found of the job (job_tracks.h): steps, waits for data, queues, Python functions, roots of waiting. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/perfetto/perfetto_trace.h"
#include "analyzer/export/timeline/job_tracks.h"
#include "analyzer/export/timeline/lanes.h"

#define RANK 2 /* of a device's children: beside "Idle, and why" */

/* A track, and further ones of its name for slices that overlap. */
struct place {
	uint64_t parent;
	struct lanes lanes;
};

struct job_writer {
	struct perfetto_trace *trace;
	struct job_tracks tracks;
	struct place *places; /* by track */
};

static const char *text(const struct job_writer *job, uint32_t id)
{
	return string_table_get(job->tracks.texts, id);
}

/* Tracks of one group follow each other. */
static uint64_t parent_of(struct job_writer *job, uint32_t index)
{
	const struct job_track *track = &job->tracks.tracks.row[index];

	if (job->places[index].parent)
		return job->places[index].parent;
	if (track->owner == JOB_OF_THREAD)
		job->places[index].parent = perfetto_thread_track(job->trace, track->index);
	else if (track->owner == JOB_OF_DEVICE)
		job->places[index].parent = job->trace->device_tracks[track->index];
	else if (index && track[-1].group == track->group && track[-1].owner == track->owner &&
		 track[-1].index == track->index)
		job->places[index].parent = parent_of(job, index - 1);
	else
		job->places[index].parent = perfetto_add_track(
			job->trace, &(struct perfetto_track){ .name = text(job, track->group) });
	return job->places[index].parent;
}

static uint64_t add_track(struct job_writer *job, uint32_t index)
{
	const struct job_track *track = &job->tracks.tracks.row[index];

	return perfetto_add_track(job->trace,
				  &(struct perfetto_track){
					  .name = text(job, track->name),
					  .parent = parent_of(job, index),
					  .unit = track->unit,
					  .rank = track->owner == JOB_OF_DEVICE ? RANK : 0,
					  .description = track->description });
}

static uint32_t value(struct job_writer *job, uint32_t id)
{
	if (!*text(job, id))
		return 0;
	return perfetto_name(job->trace, PERFETTO_VALUES, perfetto_own(job->trace, text(job, id)));
}

static void begin(struct job_writer *job, uint64_t track, const struct job_slice *slice,
		  uint64_t start_ns, bool cut)
{
	struct perfetto_trace *trace = job->trace;
	const char *category = job->tracks.tracks.row[slice->track].category;
	uint32_t name = perfetto_name(trace, PERFETTO_EVENTS,
				      perfetto_own(trace, text(job, slice->name)));
	uint32_t group = perfetto_name(trace, PERFETTO_CATEGORIES, perfetto_own(trace, category));
	uint32_t who = value(job, slice->who), detail = value(job, slice->detail);
	uint32_t object = value(job, slice->object);
	struct perfetto_marks marks;

	perfetto_begin(trace, track, start_ns, name, group, &marks);
	if (who)
		perfetto_arg_text(trace, ARG_WHO, who);
	if (detail)
		perfetto_arg_text(trace, ARG_DETAIL, detail);
	if (object)
		perfetto_arg_text(trace, ARG_OBJECT, object);
	if (slice->open)
		perfetto_arg_true(trace, ARG_OPEN);
	if (cut)
		perfetto_arg_true(trace, ARG_CUT);
	if (slice->flow_from)
		perfetto_flow_from(trace, slice->flow_from);
	if (slice->flow_to)
		perfetto_flow_to(trace, slice->flow_to);
	perfetto_event_end(trace, &marks);
}

static void write_slice(struct job_writer *job, const struct job_slice *slice)
{
	struct perfetto_trace *trace = job->trace;
	uint64_t start_ns = slice->start_ns, end_ns, ended_ns;
	struct lane *lane;
	bool cut;

	end_ns = slice->open ? trace->window.end_ns : slice->end_ns;
	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	lane = lanes_place(&job->places[slice->track].lanes, start_ns, end_ns);
	if (!lane) {
		trace->counts.not_placed++;
		return;
	}
	if (!lane->track)
		lane->track = add_track(job, slice->track);
	while (lane_pop(lane, start_ns, &ended_ns))
		perfetto_end(trace, lane->track, ended_ns);
	begin(job, lane->track, slice, start_ns, cut);
	lane_push(lane, end_ns);
}

static void end_lanes(struct job_writer *job, struct lanes *lanes)
{
	uint64_t end_ns;

	for (uint32_t i = 0; i < lanes->count; i++)
		while (lane_pop(&lanes->lane[i], UINT64_MAX, &end_ns))
			perfetto_end(job->trace, lanes->lane[i].track, end_ns);
	lanes_free(lanes);
}

static void write_points(struct job_writer *job)
{
	const struct job_tracks *tracks = &job->tracks;
	uint32_t last = INDEX_NONE;
	uint64_t track = 0;

	for (uint32_t i = 0; i < tracks->points.count; i++) {
		const struct job_point *point = &tracks->points.row[i];

		if (!export_instant(&job->trace->window, point->ns))
			continue;
		if (point->track != last)
			track = add_track(job, point->track);
		last = point->track;
		perfetto_counter(job->trace, track, point->ns, (double)point->value);
	}
}

static int write_all(struct job_writer *job)
{
	const struct job_tracks *tracks = &job->tracks;

	job->places = calloc((size_t)tracks->tracks.count + 1, sizeof(*job->places));
	if (!job->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < tracks->tracks.count; i++)
		job->places[i].lanes.nest = true;
	for (uint32_t i = 0; i < tracks->slices.count; i++)
		write_slice(job, &tracks->slices.row[i]);
	for (uint32_t i = 0; i < tracks->tracks.count; i++)
		end_lanes(job, &job->places[i].lanes);
	write_points(job);
	free(job->places);
	return 0;
}

int perfetto_write_job(struct perfetto_trace *trace)
{
	struct job_writer job = { .trace = trace };
	int err = job_tracks_build(trace->model, trace->results, trace->options, &trace->window,
				   trace->chosen, &job.tracks);

	if (!err)
		err = write_all(&job);
	job_tracks_free(&job.tracks);
	return err;
}
