/* SPDX-License-Identifier: Apache-2.0 */
/* Results that need all calls: which rows were data, and queue sizes. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/frameworks/minddata.h"
#include "lib/base/bisect.h"

#define WAIT_NS 1000000 /* a push or pop of at least this duration has slept */

/* Removes queues inside operators; queues between operators remain. */
static int drop_inner_queues(struct minddata *md, uint32_t tree)
{
	struct pipeline *pipeline = minddata_pipeline(md, tree);
	uint32_t *to = calloc((size_t)pipeline->queues.count + 1, sizeof(*to)), kept = 0;

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < pipeline->queues.count; i++) {
		to[i] = INDEX_NONE;
		if (!md->trees.row[tree].popped.row[i])
			continue;
		to[i] = kept;
		pipeline->queues.row[kept++] = pipeline->queues.row[i];
	}
	pipeline->queues.count = kept;
	kept = 0;
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++) {
		struct pipeline_queue_event event = pipeline->queue_events.row[i];

		event.queue = to[event.queue];
		if (event.queue != INDEX_NONE)
			pipeline->queue_events.row[kept++] = event;
	}
	pipeline->queue_events.count = kept;
	free(to);
	return 0;
}

/*
 * Some builds inline the code of a push into operators: most elements popped from their queues have no recorded push.
 * Their works then count as their elements.
 */
static int find_unseen_pushes(struct pipeline *pipeline)
{
	uint64_t *unseen = calloc((size_t)pipeline->queues.count + 1, sizeof(*unseen));

	if (!unseen)
		return -ENOMEM;
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++)
		unseen[pipeline->queue_events.row[i].queue] -= pipeline->queue_events.row[i].change;
	for (uint32_t q = 0; q < pipeline->queues.count; q++) {
		struct pipeline_queue *queue = &pipeline->queues.row[q];

		/* Pushes of the elements that were in the queue at first are missing, too. */
		queue->pushes_unseen = (int64_t)unseen[q] > (int64_t)queue->capacity + 1;
		pipeline->operators.row[queue->from].counts_outputs = !queue->pushes_unseen;
	}
	free(unseen);
	return 0;
}

static bool add_outputs(struct pipeline *pipeline)
{
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++) {
		const struct pipeline_queue_event *event = &pipeline->queue_events.row[i];
		struct pipeline_output output = {
			.ts_ns = event->end_ns,
			.op = pipeline->queues.row[event->queue].from,
			.count = 1,
		};

		if (event->change > 0 && event->mark == MD_ROW_DATA &&
		    !pipeline->queues.row[event->queue].pushes_unseen &&
		    !MODEL_PUSH(&pipeline->outputs, output))
			return false;
	}
	return true;
}

/* Returns the fetch of a thread that contains an instant, or NULL. */
static struct pipeline_fetch *fetch_at(struct pipeline *pipeline, uint32_t thread, uint64_t ts_ns)
{
	struct pipeline_fetch *fetches = pipeline->fetches.row;
	uint32_t next = BISECT(i, 0, pipeline->fetches.count, fetches[i].start_ns <= ts_ns);

	for (; next > 0; next--) {
		struct pipeline_fetch *fetch = &fetches[next - 1];

		if (fetch->thread == thread)
			return fetch->end_ns >= ts_ns ? fetch : NULL;
	}
	return NULL;
}

/*
 * A pop returns the element of the corresponding push, because queues keep the order. The kind of the elements that
 * were in the queue when recording began is unknown; most are data.
 */
static void mark_pops(struct pipeline *pipeline, uint32_t first, uint32_t end)
{
	struct pipeline_queue_event *row = pipeline->queue_events.row;
	uint32_t unknown = pipeline->queues.row[row[first].queue].first_size;
	uint32_t push = first;

	for (bool taken = pipeline->queues.row[row[first].queue].first_taken; taken && push < end;
	     push++)
		taken = row[push].change <= 0;
	for (uint32_t i = first; i < end; i++) {
		struct pipeline_fetch *fetch;

		if (row[i].change >= 0)
			continue;
		if (unknown) {
			unknown--;
			continue;
		}
		while (push < end && row[push].change <= 0)
			push++;
		if (push == end)
			return;
		row[i].mark = row[push++].mark;
		if (row[i].mark == MD_ROW_DATA)
			continue;
		fetch = fetch_at(pipeline, row[i].thread, row[i].start_ns);
		if (fetch)
			fetch->end_of_data = true;
	}
}

static void mark_all_pops(struct pipeline *pipeline)
{
	uint32_t next;

	for (uint32_t first = 0; first < pipeline->queue_events.count; first = next) {
		for (next = first; next < pipeline->queue_events.count &&
				   pipeline->queue_events.row[next].queue ==
					   pipeline->queue_events.row[first].queue;)
			next++;
		if (!pipeline->queues.row[pipeline->queue_events.row[first].queue].pushes_unseen)
			mark_pops(pipeline, first, next);
	}
}

/* The operator at the top runs in the thread that fetches batches: each batch passes through it. */
static bool add_fetched(struct pipeline *pipeline)
{
	for (uint32_t i = 0; i < pipeline->operators.count; i++) {
		if (!pipeline->operators.row[i].in_trainer)
			continue;
		pipeline->operators.row[i].counts_outputs = true;
		for (uint32_t f = 0; f < pipeline->fetches.count; f++) {
			const struct pipeline_fetch *fetch = &pipeline->fetches.row[f];
			struct pipeline_output output = { fetch->end_ns, i, 1 };

			if (!fetch->end_of_data && !fetch->open &&
			    !MODEL_PUSH(&pipeline->outputs, output))
				return false;
		}
	}
	return true;
}

/* Operators without an input read from outside; the user's generator is Python. */
static void settle_operators(struct model *model, struct pipeline *pipeline)
{
	uint32_t generator = model_string(model, "Generator");

	for (uint32_t i = 0; i < pipeline->operators.count; i++) {
		struct pipeline_operator *op = &pipeline->operators.row[i];

		op->source = true;
		op->estimate_work = !op->in_trainer;
		op->python |= op->type == generator && generator != 0;
	}
	for (uint32_t i = 0; i < pipeline->edges.count; i++)
		pipeline->operators.row[pipeline->edges.row[i].to].source = false;
	for (uint32_t i = 0; i < pipeline->works.count; i++)
		pipeline->operators.row[pipeline->works.row[i].op].estimate_work = false;
	/* If no edges are known, sources are unknown, too. */
	for (uint32_t i = 0; i < pipeline->operators.count && !pipeline->edges.count; i++)
		pipeline->operators.row[i].source = false;
}

static int finish_tree(struct minddata *md, uint32_t tree)
{
	struct pipeline *pipeline = minddata_pipeline(md, tree);
	int err = minddata_shuffle_bursts(md, tree);

	if (!err)
		err = drop_inner_queues(md, tree);
	if (err)
		return err;
	pipeline_sort(pipeline);
	err = find_unseen_pushes(pipeline);
	if (err)
		return err;
	pipeline_count_sizes(pipeline, WAIT_NS);
	mark_all_pops(pipeline);
	if (!add_outputs(pipeline) || !add_fetched(pipeline))
		return -ENOMEM;
	settle_operators(md->model, pipeline);
	return 0;
}

int minddata_finish(struct minddata *md)
{
	for (uint32_t t = 0; t < md->trees.count; t++) {
		int err = finish_tree(md, t);

		if (err)
			return err;
	}
	return 0;
}
