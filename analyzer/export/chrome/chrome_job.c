/* SPDX-License-Identifier: Apache-2.0 */
/* What analyses found of the job (job_tracks.h): steps, waits for data, queues, Python functions, roots of waiting. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/export/chrome/chrome_trace.h"
#include "analyzer/export/timeline/job_tracks.h"
#include "analyzer/export/timeline/lanes.h"

struct job_writer {
	struct chrome_trace *trace;
	struct job_tracks tracks;
	struct lanes *lanes; /* by track */
};

static const char *text(const struct job_writer *job, uint32_t id)
{
	return string_table_get(job->tracks.texts, id);
}

static uint32_t pid_of(struct job_writer *job, const struct job_track *track)
{
	const struct model *model = job->trace->model;

	if (track->owner == JOB_OF_DEVICE)
		return CHROME_DEVICES_PID + CHROME_DEVICE_PIDS * track->index;
	if (track->owner == JOB_OF_PROCESS)
		return chrome_process(job->trace, track->index, 0);
	return chrome_process(job->trace, model->threads.row[track->index].process,
			      model->threads.row[track->index].tid);
}

/* Rows of a thread's are told apart from those of others by its name. */
static uint32_t add_row(struct job_writer *job, const struct job_track *track, uint32_t pid)
{
	char thread[EXPORT_NAME_SIZE], name[2 * EXPORT_NAME_SIZE];
	uint32_t tid;

	if (track->owner != JOB_OF_THREAD)
		return chrome_add_row(job->trace, pid, text(job, track->name));
	tid = job->trace->model->threads.row[track->index].tid;
	export_thread_name(job->trace->model, track->index, tid, thread, sizeof(thread));
	snprintf(name, sizeof(name), "%s %u: %s", thread, tid, text(job, track->name));
	return chrome_add_row(job->trace, pid, name);
}

static void write_text(struct job_writer *job, enum export_arg arg, uint32_t id)
{
	if (*text(job, id))
		chrome_arg_text(&job->trace->writer, export_arg_name(arg), text(job, id));
}

static void write_flow(struct job_writer *job, char phase, uint64_t flow, uint32_t pid, uint32_t tid,
		       uint64_t ns)
{
	struct chrome_writer *writer = &job->trace->writer;

	if (!flow)
		return;
	chrome_event(writer, phase, "holds up", "root", pid, tid);
	chrome_id(writer, flow);
	chrome_time(writer, ns);
	if (phase == 'f')
		chrome_raw(writer, "\"bp\":\"e\"");
	chrome_event_end(writer);
}

static void write_event(struct job_writer *job, const struct job_slice *slice, uint32_t pid,
			uint32_t tid, const struct export_window *part, bool cut)
{
	struct chrome_writer *writer = &job->trace->writer;

	chrome_event(writer, 'X', text(job, slice->name),
		     job->tracks.tracks.row[slice->track].category, pid, tid);
	chrome_time(writer, part->start_ns);
	chrome_duration(writer, part->end_ns - part->start_ns);
	write_text(job, ARG_WHO, slice->who);
	write_text(job, ARG_DETAIL, slice->detail);
	write_text(job, ARG_OBJECT, slice->object);
	if (slice->open)
		chrome_arg_true(writer, export_arg_name(ARG_OPEN));
	if (cut)
		chrome_arg_true(writer, export_arg_name(ARG_CUT));
	chrome_event_end(writer);
	write_flow(job, 's', slice->flow_from, pid, tid, part->start_ns);
	write_flow(job, 'f', slice->flow_to, pid, tid, part->start_ns);
}

static void write_slice(struct job_writer *job, const struct job_slice *slice)
{
	const struct job_track *track = &job->tracks.tracks.row[slice->track];
	struct export_window part = { slice->start_ns, slice->end_ns };
	uint32_t pid = pid_of(job, track);
	struct lane *lane;
	uint64_t ended_ns;
	bool cut;

	if (slice->open)
		part.end_ns = job->trace->window.end_ns;
	if (!export_clip(&job->trace->window, &part.start_ns, &part.end_ns, &cut))
		return;
	lane = lanes_place(&job->lanes[slice->track], part.start_ns, part.end_ns);
	if (!lane) {
		job->trace->not_placed++;
		return;
	}
	if (!lane->track)
		lane->track = add_row(job, track, pid);
	while (lane_pop(lane, part.start_ns, &ended_ns))
		;
	lane_push(lane, part.end_ns);
	write_event(job, slice, pid, (uint32_t)lane->track, &part, cut);
}

static void write_point(struct job_writer *job, const struct job_point *point)
{
	const struct job_track *track = &job->tracks.tracks.row[point->track];
	struct chrome_writer *writer = &job->trace->writer;

	if (!export_instant(&job->trace->window, point->ns))
		return;
	chrome_event(writer, 'C', text(job, track->name), NULL, pid_of(job, track), 0);
	chrome_time(writer, point->ns);
	chrome_arg_int(writer, track->unit, point->value);
	chrome_event_end(writer);
}

static int write_all(struct job_writer *job)
{
	const struct job_tracks *tracks = &job->tracks;

	job->lanes = calloc((size_t)tracks->tracks.count + 1, sizeof(*job->lanes));
	if (!job->lanes)
		return -ENOMEM;
	for (uint32_t i = 0; i < tracks->tracks.count; i++)
		job->lanes[i].nest = true;
	for (uint32_t i = 0; i < tracks->slices.count; i++)
		write_slice(job, &tracks->slices.row[i]);
	for (uint32_t i = 0; i < tracks->points.count; i++)
		write_point(job, &tracks->points.row[i]);
	for (uint32_t i = 0; i < tracks->tracks.count; i++)
		lanes_free(&job->lanes[i]);
	free(job->lanes);
	return 0;
}

int chrome_write_job(struct chrome_trace *trace)
{
	struct job_writer job = { .trace = trace };
	int err = job_tracks_build(trace->model, trace->results, trace->options, &trace->window,
				   trace->chosen, &job.tracks);

	if (!err)
		err = write_all(&job);
	job_tracks_free(&job.tracks);
	return err;
}
