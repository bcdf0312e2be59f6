/* SPDX-License-Identifier: Apache-2.0 */
/* job_pipeline.c - steps, data waits and queues of data pipelines */
#include <errno.h>
#include <stdio.h>

#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/export/timeline/export_names.h"
#include "analyzer/export/timeline/job_tracks.h"
#include "analyzer/view/report.h"

/* The tracks of one pipeline, which are shown together. */
struct of_pipeline {
	struct job_tracks *tracks;
	const struct pipeline *pipeline;
	uint32_t group;
};

static uint32_t add_track(const struct of_pipeline *of, const char *name, const char *category,
			  const char *description, const char *unit)
{
	return job_track_add(of->tracks, name,
			     (struct job_track){ .owner = JOB_OF_PROCESS,
						 .index = of->pipeline->process,
						 .group = of->group,
						 .category = category,
						 .description = description,
						 .unit = unit });
}

static int add_steps(const struct of_pipeline *of, const struct pipeline_steps *steps)
{
	uint32_t track;

	if (!steps->count)
		return 0;
	track = add_track(of, "Steps", "step", "From one fetch of a batch to the next; who: the "
					       "operator that cost it most", NULL);
	if (track == INDEX_NONE)
		return -ENOMEM;
	for (uint32_t i = 0; i < steps->count; i++) {
		const struct step *row = &steps->rows[i];
		struct job_slice slice = { .track = track,
					   .start_ns = row->start_ns,
					   .end_ns = row->start_ns + row->duration_ns };
		char name[32];

		snprintf(name, sizeof(name), "Step %u", row->index);
		slice.name = job_text(of->tracks, name);
		if (row->op < of->pipeline->operators.count)
			slice.who = job_text(of->tracks,
					     model_text(of->tracks->model,
							of->pipeline->operators.row[row->op].name));
		if (!MODEL_PUSH(&of->tracks->slices, slice))
			return -ENOMEM;
	}
	return 0;
}

static int add_fetches(const struct of_pipeline *of)
{
	const struct pipeline *pipeline = of->pipeline;
	uint32_t track, wait = job_text(of->tracks, "Data wait"),
			end = job_text(of->tracks, "End of data");

	if (!pipeline->fetches.count)
		return 0;
	track = add_track(of, "Data waits", "data", "The trainer, or what feeds the device, asked for data", NULL);
	if (track == INDEX_NONE)
		return -ENOMEM;
	for (uint32_t i = 0; i < pipeline->fetches.count; i++) {
		const struct pipeline_fetch *fetch = &pipeline->fetches.row[i];
		struct job_slice slice = { .track = track,
					   .start_ns = fetch->start_ns,
					   .end_ns = fetch->end_ns,
					   .name = fetch->end_of_data ? end : wait,
					   .open = fetch->open };

		if (!MODEL_PUSH(&of->tracks->slices, slice))
			return -ENOMEM;
	}
	return 0;
}

static void queue_name(const struct of_pipeline *of, const struct pipeline_queue *queue, char *name,
		       size_t size)
{
	const struct pipeline *pipeline = of->pipeline;
	const struct model *model = of->tracks->model;

	if (queue->name)
		snprintf(name, size, "Queue %s", model_text(model, queue->name));
	else if (queue->from < pipeline->operators.count)
		snprintf(name, size, "Queue after %s",
			 model_text(model, pipeline->operators.row[queue->from].name));
	else
		snprintf(name, size, "Queue");
}

/* Adds the events of one queue, events[first .. end). */
static int add_queue(const struct of_pipeline *of, uint32_t first, uint32_t end)
{
	const struct pipeline_queue_event *events = of->pipeline->queue_events.row;
	uint32_t track = INDEX_NONE;
	char name[EXPORT_NAME_SIZE];

	for (uint32_t i = first; i < end; i++) {
		struct job_point point = { .ns = events[i].end_ns, .value = events[i].size };

		if (events[i].size < 0)
			continue;
		if (track == INDEX_NONE) {
			queue_name(of, &of->pipeline->queues.row[events[i].queue], name, sizeof(name));
			track = add_track(of, name, "queue", "Elements in it", "elements");
			if (track == INDEX_NONE)
				return -ENOMEM;
		}
		point.track = track;
		if (!MODEL_PUSH(&of->tracks->points, point))
			return -ENOMEM;
	}
	return 0;
}

static int add_queues(const struct of_pipeline *of)
{
	const struct pipeline *pipeline = of->pipeline;
	uint32_t end;
	int err = 0;

	for (uint32_t i = 0; i < pipeline->queue_events.count && !err; i = end) {
		uint32_t queue = pipeline->queue_events.row[i].queue;

		for (end = i; end < pipeline->queue_events.count &&
			      pipeline->queue_events.row[end].queue == queue;)
			end++;
		if (queue < pipeline->queues.count)
			err = add_queue(of, i, end);
	}
	return err;
}

/* "torch data of python 4711" */
static uint32_t group_of(struct job_tracks *tracks, const struct pipeline *pipeline)
{
	char process[EXPORT_NAME_SIZE], name[EXPORT_NAME_SIZE + 64];

	if (pipeline->process >= tracks->model->processes.count) {
		snprintf(name, sizeof(name), "%s data", pipeline->framework);
	} else {
		export_process_name(tracks->model, pipeline->process, process, sizeof(process));
		snprintf(name, sizeof(name), "%s data of %s %u", pipeline->framework, process,
			 tracks->model->processes.row[pipeline->process].pid);
	}
	return job_text(tracks, name);
}

static int add_pipeline(struct job_tracks *tracks, uint32_t row)
{
	const struct results *results = tracks->results;
	const struct pipeline *pipeline = results->pipelines->rows[row].pipeline;
	struct of_pipeline of = { .tracks = tracks, .pipeline = pipeline };
	int err = 0;

	if (!export_process(tracks->model, tracks->options, pipeline->process))
		return 0;
	of.group = group_of(tracks, pipeline);
	if (results->steps && row < results->steps->count)
		err = add_steps(&of, &results->steps->pipelines[row]);
	if (!err)
		err = add_fetches(&of);
	return err ? err : add_queues(&of);
}

int job_add_pipelines(struct job_tracks *tracks)
{
	const struct pipeline_results *pipelines = tracks->results->pipelines;
	int err = 0;

	for (uint32_t i = 0; pipelines && i < pipelines->count && !err; i++)
		err = add_pipeline(tracks, i);
	return err;
}
