/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/lake/lake_pipeline.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/pipeline/pipelines.h"
#include "lib/base/bisect.h"

/* The figures of one operator by step. */
struct cells {
	uint32_t rank;
	const struct device_step_row *steps; /* steps of the rank's device, sorted by time */
	uint32_t step_count;
	uint64_t *busy_ns, *wait_ns;
	uint64_t *unknown_ns; /* unknown time of its threads */
	bool has_busy, has_wait;
};

/* Adds a time to the steps in which it lies. */
static void add_time(const struct cells *cells, uint64_t *sums, uint64_t from_ns, uint64_t to_ns)
{
	const struct device_step_row *steps = cells->steps;
	uint32_t first = BISECT(i, 0, cells->step_count, steps[i].end_ns <= from_ns);

	for (uint32_t i = first; i < cells->step_count && steps[i].start_ns < to_ns; i++) {
		uint64_t begin_ns = steps[i].start_ns > from_ns ? steps[i].start_ns : from_ns;
		uint64_t end_ns = steps[i].end_ns < to_ns ? steps[i].end_ns : to_ns;

		sums[i] += end_ns > begin_ns ? end_ns - begin_ns : 0;
	}
}

static void add_thread(struct cells *cells, const struct model *model, uint32_t thread)
{
	const struct timeline *line = thread < model->timelines.count ? &model->timelines.row[thread] : NULL;

	for (uint32_t i = 0; line && i < line->count; i++) {
		const struct span *span = &model->spans.row[line->first + i];

		cells->has_busy = true;
		if (span->state == STATE_RUNNING)
			add_time(cells, cells->busy_ns, span->start_ns, span->end_ns);
		else if (span->state == STATE_UNKNOWN)
			add_time(cells, cells->unknown_ns, span->start_ns, span->end_ns);
	}
}

/* Adds the pops from the operator's queue: the waits of the operator that takes from it. */
static void add_queues(struct cells *cells, const struct pipeline *pipeline, uint32_t op)
{
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++) {
		const struct pipeline_queue_event *event = &pipeline->queue_events.row[i];

		if (event->change >= 0 || pipeline->queues.row[event->queue].from != op)
			continue;
		cells->has_wait = true;
		add_time(cells, cells->wait_ns, event->start_ns, event->end_ns);
	}
}

/* Is the busy time known? If a thread may have run unseen, it is unknown, not 0. */
static bool knows_busy(const struct cells *cells, uint32_t step)
{
	return cells->has_busy && (cells->busy_ns[step] || !cells->unknown_ns[step]);
}

static int push_cells(const struct cells *cells, uint32_t pipeline, uint32_t name, struct lake_rows *rows)
{
	for (uint32_t i = 0; i < cells->step_count; i++) {
		struct lake_pipeline row = { .rank = cells->rank,
					     .step = cells->steps[i].number,
					     .pipeline = pipeline,
					     .name = name,
					     .has_busy = knows_busy(cells, i),
					     .has_wait = cells->has_wait,
					     .busy_ns = cells->busy_ns[i],
					     .wait_ns = cells->wait_ns[i] };

		if ((row.busy_ns || row.wait_ns) && !MODEL_PUSH(&rows->pipeline, row))
			return -ENOMEM;
		cells->busy_ns[i] = cells->wait_ns[i] = cells->unknown_ns[i] = 0;
	}
	return 0;
}

static int add_pipeline(struct cells *cells, const struct model *model, const struct pipeline *pipeline, uint32_t number,
			struct lake_rows *rows)
{
	int err = 0;

	for (uint32_t op = 0; op < pipeline->operators.count && !err; op++) {
		cells->has_busy = cells->has_wait = false;
		for (uint32_t i = 0; i < pipeline->threads.count; i++)
			if (pipeline->threads.row[i].op == op)
				add_thread(cells, model, pipeline->threads.row[i].thread);
		add_queues(cells, pipeline, op);
		err = push_cells(cells, number, pipeline->operators.row[op].name, rows);
	}
	return err;
}

static int add_rank(const struct model *model, const struct pipeline_results *pipelines, uint32_t rank, uint32_t process,
		    const struct device_step_trace *trace, struct lake_rows *rows)
{
	struct cells cells = { .rank = rank, .steps = trace->rows, .step_count = trace->count };
	uint32_t number = 0;
	int err = 0;

	cells.busy_ns = calloc((size_t)trace->count + 1, sizeof(*cells.busy_ns));
	cells.wait_ns = calloc((size_t)trace->count + 1, sizeof(*cells.wait_ns));
	cells.unknown_ns = calloc((size_t)trace->count + 1, sizeof(*cells.unknown_ns));
	if (!cells.busy_ns || !cells.wait_ns || !cells.unknown_ns)
		err = -ENOMEM;
	for (uint32_t i = 0; i < pipelines->count && !err; i++)
		if (pipelines->rows[i].pipeline->process == process)
			err = add_pipeline(&cells, model, pipelines->rows[i].pipeline, ++number, rows);
	free(cells.busy_ns);
	free(cells.wait_ns);
	free(cells.unknown_ns);
	return err;
}

int lake_pipeline_make(const struct model *model, const struct results *results, struct lake_rows *rows)
{
	const struct device_step_results *steps = results->device_steps;
	int err = 0;

	for (uint32_t i = 0; results->pipelines && steps && i < rows->ranks.count; i++) {
		const struct lake_rank *rank = &rows->ranks.row[i];

		for (uint32_t k = 0; k < steps->count && !err; k++)
			if (steps->traces[k].device == rank->device)
				err = add_rank(model, results->pipelines, rank->rank,
					       model->devices.row[rank->device].process, &steps->traces[k], rows);
	}
	return err;
}
