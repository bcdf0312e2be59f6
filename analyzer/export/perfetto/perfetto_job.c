/* SPDX-License-Identifier: Apache-2.0 */
/* Results of analyses about the job (job_tracks.h): steps, waits for data, queues, Python functions, roots of waits. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/perfetto/perfetto_trace.h"
#include "analyzer/export/timeline/job_lanes.h"

#define RANK 2 /* position among a device's children: beside "Idle, and why" */

struct job_writer {
	struct perfetto_trace *trace;
	struct job_tracks tracks;
	uint64_t *parents; /* by track; 0 = it has none yet */
	uint32_t counter; /* the track of the last point, or INDEX_NONE */
	uint64_t counter_track; /* id of that track in the file */
};

static const char *text(const struct job_writer *job, uint32_t id)
{
	return string_table_get(job->tracks.texts, id);
}

/* The parent of a track; tracks of one group are consecutive. */
static uint64_t parent_of(struct job_writer *job, uint32_t index)
{
	const struct job_track *track = &job->tracks.tracks.row[index];

	if (job->parents[index])
		return job->parents[index];
	if (track->owner == JOB_OF_THREAD)
		job->parents[index] = perfetto_thread_track(job->trace, track->index);
	else if (track->owner == JOB_OF_DEVICE)
		job->parents[index] = job->trace->device_tracks[track->index];
	else if (index && track[-1].group == track->group && track[-1].owner == track->owner &&
		 track[-1].index == track->index)
		job->parents[index] = parent_of(job, index - 1);
	else
		job->parents[index] = perfetto_add_track(
			job->trace, &(struct perfetto_track){ .name = text(job, track->group) });
	return job->parents[index];
}

static uint64_t add_track(void *context, uint32_t index)
{
	struct job_writer *job = context;
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

static void begin(void *context, uint64_t track, const struct job_slice *slice,
		  const struct export_window *part, bool cut)
{
	struct job_writer *job = context;
	struct perfetto_trace *trace = job->trace;
	const char *category = job->tracks.tracks.row[slice->track].category;
	uint32_t name = perfetto_name(trace, PERFETTO_EVENTS,
				      perfetto_own(trace, text(job, slice->name)));
	uint32_t group = perfetto_name(trace, PERFETTO_CATEGORIES, perfetto_own(trace, category));
	uint32_t who = value(job, slice->who), detail = value(job, slice->detail);
	uint32_t object = value(job, slice->object);
	struct perfetto_marks marks;

	perfetto_begin(trace, track, part->start_ns, name, group, &marks);
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

static void end(void *context, uint64_t track, uint64_t end_ns)
{
	struct job_writer *job = context;

	perfetto_end(job->trace, track, end_ns);
}

static void point(void *context, const struct job_point *point)
{
	struct job_writer *job = context;

	if (point->track != job->counter)
		job->counter_track = add_track(job, point->track);
	job->counter = point->track;
	perfetto_counter(job->trace, job->counter_track, point->ns, (double)point->value);
}

static int write_all(struct job_writer *job)
{
	static const struct job_encoder ENCODER = { add_track, begin, end, point };
	int err;

	job->parents = calloc((size_t)job->tracks.tracks.count + 1, sizeof(*job->parents));
	if (!job->parents)
		return -ENOMEM;
	err = job_lanes_write(&job->tracks, &job->trace->window, &ENCODER, job,
			      &job->trace->counts.not_placed);
	free(job->parents);
	return err;
}

int perfetto_write_job(struct perfetto_trace *trace)
{
	struct job_writer job = { .trace = trace, .counter = INDEX_NONE };
	int err = job_tracks_build(trace->model, trace->results, trace->options, &trace->window,
				   trace->chosen, &job.tracks);

	if (!err)
		err = write_all(&job);
	job_tracks_free(&job.tracks);
	return err;
}
