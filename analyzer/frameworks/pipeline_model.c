/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/frameworks/pipeline_model.h"

#include <stdlib.h>

struct pipeline *pipeline_add(struct pipelines *pipelines, const char *framework, uint32_t process)
{
	struct pipeline new = { .framework = framework, .process = process };

	if (!MODEL_PUSH(&pipelines->list, new))
		return NULL;
	return &pipelines->list.row[pipelines->list.count - 1];
}

uint32_t pipeline_operator_add(struct model *model, struct pipeline *pipeline, int32_t id,
			       const char *name, const char *type)
{
	struct pipeline_operator new = {
		.id = id,
		.name = model_string(model, name),
		.type = model_string(model, type),
	};

	if (pipeline->operators.count >= PIPELINE_OPERATORS_MAX || new.name == INDEX_NONE ||
	    new.type == INDEX_NONE || !MODEL_PUSH(&pipeline->operators, new))
		return INDEX_NONE;
	return pipeline->operators.count - 1;
}

uint32_t pipeline_operator_find(const struct pipeline *pipeline, int32_t id)
{
	for (uint32_t i = 0; i < pipeline->operators.count; i++)
		if (pipeline->operators.row[i].id == id)
			return i;
	return INDEX_NONE;
}

bool pipeline_edge_add(struct pipeline *pipeline, uint32_t from, uint32_t to)
{
	struct pipeline_edge new = { .from = from, .to = to };

	for (uint32_t i = 0; i < pipeline->edges.count; i++)
		if (pipeline->edges.row[i].from == from && pipeline->edges.row[i].to == to)
			return true;
	return MODEL_PUSH(&pipeline->edges, new);
}

bool pipeline_note(struct model *model, struct pipeline *pipeline, const char *text)
{
	uint32_t id = model_string(model, text);

	if (id == INDEX_NONE)
		return false;
	for (uint32_t i = 0; i < pipeline->notes.count; i++)
		if (pipeline->notes.row[i] == id)
			return true;
	return MODEL_PUSH(&pipeline->notes, id);
}

uint32_t *pipeline_owners(const struct model *model, const struct pipeline *pipeline)
{
	uint32_t *owner = indices_none(model->threads.count);

	for (uint32_t i = 0; owner && i < pipeline->threads.count; i++)
		owner[pipeline->threads.row[i].thread] = pipeline->threads.row[i].op;
	return owner;
}

static int by_queue_and_end(const void *a, const void *b)
{
	const struct pipeline_queue_event *x = a, *y = b;

	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	/* At one instant a pushed element can be popped, not the other way round. */
	return y->change - x->change;
}

static int by_start(const void *a, const void *b)
{
	const struct pipeline_fetch *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

void pipeline_sort(struct pipeline *pipeline)
{
	if (pipeline->queue_events.count)
		qsort(pipeline->queue_events.row, pipeline->queue_events.count,
		      sizeof(*pipeline->queue_events.row), by_queue_and_end);
	if (pipeline->fetches.count)
		qsort(pipeline->fetches.row, pipeline->fetches.count,
		      sizeof(*pipeline->fetches.row), by_start);
}

#define VOTES 64 /* different numbers of elements at first that waits can vote for */

struct votes {
	int64_t size[VOTES];
	uint32_t count[VOTES];
	uint32_t used;
};

static void vote(struct votes *votes, int64_t size)
{
	uint32_t i = 0;

	while (i < votes->used && votes->size[i] != size)
		i++;
	if (size < 0 || i == VOTES)
		return;
	votes->size[i] = size;
	votes->count[i]++;
	votes->used += i == votes->used;
}

static int by_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Returns the least number of elements at first; with fewer, a pop would have returned an element whose push had not
 * begun. (A push may return after the pop of its element did.) 0 without memory.
 */
static int64_t least_at_first(const struct pipeline_queue_event *event, uint32_t count)
{
	uint64_t *starts = malloc(((size_t)count + 1) * sizeof(*starts));
	uint32_t pushes = 0, begun = 0;
	int64_t popped = 0, least = 0;

	if (!starts)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (event[i].change > 0)
			starts[pushes++] = event[i].start_ns;
	qsort(starts, pushes, sizeof(*starts), by_ns);
	for (uint32_t i = 0; i < count; i++) {
		if (event[i].change >= 0)
			continue;
		popped++;
		while (begun < pushes && starts[begun] <= event[i].end_ns)
			begun++;
		least = popped - begun > least ? popped - begun : least;
	}
	free(starts);
	return least;
}

/* Returns the size with the most votes of those that are possible; -1 = none. */
static int64_t elected(const struct votes *votes, int64_t least)
{
	int64_t size = -1;
	uint32_t most = 0;

	for (uint32_t i = 0; i < votes->used; i++) {
		if (votes->size[i] < least || votes->count[i] <= most)
			continue;
		size = votes->size[i];
		most = votes->count[i];
	}
	return size;
}

/*
 * Returns the number of elements in the queue before its first event. One wait is no proof: two returns may be
 * recorded in a different order than they happened, and when the waiting thread gets the CPU there may already be more
 * elements.
 */
static int64_t size_at_first(const struct pipeline_queue *queue,
			     const struct pipeline_queue_event *event, uint32_t count,
			     uint64_t wait_ns)
{
	int64_t size = 0, most_popped = 0, told, least;
	struct votes votes = { .used = 0 };

	if (queue->first_known)
		return (int64_t)queue->first_size - queue->first_taken;
	if (queue->from_start)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		bool waited = event[i].end_ns - event[i].start_ns >= wait_ns;

		size += event[i].change;
		most_popped = -size > most_popped ? -size : most_popped;
		/* A waiting pop takes the element that ended its wait, a waiting push the free place. */
		if (waited && event[i].change < 0)
			vote(&votes, -size);
		if (waited && event[i].change > 0 && queue->capacity)
			vote(&votes, (int64_t)queue->capacity - size);
	}
	if (!votes.used)
		return most_popped;
	least = least_at_first(event, count);
	told = elected(&votes, least);
	return told >= 0 ? told : least;
}

static void count_sizes(struct pipeline_queue *queue, struct pipeline_queue_event *event,
			uint32_t count, uint64_t wait_ns)
{
	int64_t size = size_at_first(queue, event, count, wait_ns);

	queue->first_size = (uint32_t)(size < 0 ? 0 : size < UINT32_MAX ? size : UINT32_MAX);
	for (uint32_t i = 0; i < count; i++) {
		size += event[i].change;
		/* Two returns may be recorded in a different order than they happened. */
		event[i].size = size < 0 ? 0 : size > INT32_MAX ? INT32_MAX : (int32_t)size;
		if (queue->capacity && event[i].size > (int64_t)queue->capacity)
			event[i].size = (int32_t)queue->capacity;
	}
}

void pipeline_count_sizes(struct pipeline *pipeline, uint64_t wait_ns)
{
	struct pipeline_queue_event *row = pipeline->queue_events.row;
	uint32_t count = pipeline->queue_events.count, next;

	for (uint32_t first = 0; first < count; first = next) {
		for (next = first; next < count && row[next].queue == row[first].queue;)
			next++;
		/* A device's pops are not recorded. */
		if (row[first].queue < pipeline->queues.count &&
		    !pipeline->queues.row[row[first].queue].to_device &&
		    !pipeline->queues.row[row[first].queue].pushes_unseen)
			count_sizes(&pipeline->queues.row[row[first].queue], &row[first],
				    next - first, wait_ns);
	}
}

static void release(struct pipeline *pipeline)
{
	free(pipeline->operators.row);
	free(pipeline->edges.row);
	free(pipeline->threads.row);
	free(pipeline->works.row);
	free(pipeline->outputs.row);
	free(pipeline->queues.row);
	free(pipeline->queue_events.row);
	free(pipeline->fetches.row);
	free(pipeline->restarts.row);
	free(pipeline->cpu.row);
	free(pipeline->notes.row);
}

void pipeline_drop_last(struct pipelines *pipelines)
{
	release(&pipelines->list.row[--pipelines->list.count]);
}

void pipelines_free(struct pipelines *pipelines)
{
	for (uint32_t i = 0; i < pipelines->list.count; i++)
		release(&pipelines->list.row[i]);
	free(pipelines->list.row);
	*pipelines = (struct pipelines){ 0 };
}
