/* SPDX-License-Identifier: Apache-2.0 */
/* Results of analyses about the job (job_tracks.h): steps, waits for data, queues, Python functions, roots of waits. */
#include <stdio.h>

#include "analyzer/export/chrome/chrome_trace.h"
#include "analyzer/export/timeline/job_lanes.h"

struct job_writer {
	struct chrome_trace *trace;
	struct job_tracks tracks;
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

/* The names of a thread's rows contain the thread's name. */
static uint64_t add_row(void *context, uint32_t index)
{
	struct job_writer *job = context;
	const struct job_track *track = &job->tracks.tracks.row[index];
	uint32_t tid, pid = pid_of(job, track);
	char thread[EXPORT_NAME_SIZE], name[2 * EXPORT_NAME_SIZE];

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

/* A row is a thread of the owner's process. */
static void begin(void *context, uint64_t row, const struct job_slice *slice,
		  const struct export_window *part, bool cut)
{
	struct job_writer *job = context;
	struct chrome_writer *writer = &job->trace->writer;
	uint32_t pid = pid_of(job, &job->tracks.tracks.row[slice->track]), tid = (uint32_t)row;

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

static void point(void *context, const struct job_point *point)
{
	struct job_writer *job = context;
	const struct job_track *track = &job->tracks.tracks.row[point->track];
	struct chrome_writer *writer = &job->trace->writer;

	chrome_event(writer, 'C', text(job, track->name), NULL, pid_of(job, track), 0);
	chrome_time(writer, point->ns);
	chrome_arg_int(writer, track->unit, point->value);
	chrome_event_end(writer);
}

int chrome_write_job(struct chrome_trace *trace)
{
	static const struct job_encoder ENCODER = { add_row, begin, NULL, point };
	struct job_writer job = { .trace = trace };
	int err = job_tracks_build(trace->model, trace->results, trace->options, &trace->window,
				   trace->chosen, &job.tracks);

	if (!err)
		err = job_lanes_write(&job.tracks, &trace->window, &ENCODER, &job,
				      &trace->not_placed);
	job_tracks_free(&job.tracks);
	return err;
}
