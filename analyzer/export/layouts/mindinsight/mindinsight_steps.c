/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each batch: the time of waiting for it and of sending it, and the fill of the queue that it came from.
 *
 * "type extra batch value time", whole milliseconds: type 0 is a time (extra 0 waiting, 1 sending, 2
 * the sum), type 1 a queue (extra its capacity, value its size). Times are rounded so that they
 * add up to the exact sum.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/export/layouts/mindinsight/mindinsight.h"

#define WAIT_NS 1000000 /* a fetch that takes longer found the queue empty */

/* MindSpore's figures of one batch. */
struct batch {
	double pipeline_ms;
	double push_ms;
	double batch_ms;
	uint64_t end_ns;
	uint32_t queue_size;
};

/* The current positions in the pipeline's rows, which are sorted by time. */
struct walk {
	const struct mindinsight *mi;
	uint32_t fetch;
	uint32_t send; /* index in queue_events, among the events of the queue to the device */
	uint32_t queue; /* index in queue_events, among the events of the host's queue */
	int32_t size;
	uint64_t last_end_ns;
};

static uint32_t first_event(const struct pipeline *pipeline, bool to_device, uint32_t queue)
{
	uint32_t i = 0;

	while (i < pipeline->queue_events.count) {
		uint32_t of = pipeline->queue_events.row[i].queue;

		if (to_device ? pipeline->queues.row[of].to_device : of == queue)
			break;
		i++;
	}
	return i;
}

static struct walk walk_begin(const struct mindinsight *mi)
{
	const struct pipeline *pipeline = mi->usage->pipeline;
	struct walk walk = { .mi = mi, .size = -1 };

	walk.send = first_event(pipeline, true, INDEX_NONE);
	walk.queue = pipeline->queue_events.count;
	if (mi->host_queue != INDEX_NONE)
		walk.queue = first_event(pipeline, false, mi->host_queue);
	if (walk.queue < pipeline->queue_events.count &&
	    pipeline->queue_events.row[walk.queue].size >= 0)
		walk.size = (int32_t)pipeline->queues.row[mi->host_queue].first_size;
	return walk;
}

static uint32_t size_at(struct walk *walk, const struct pipeline_fetch *fetch)
{
	const struct pipeline *pipeline = walk->mi->usage->pipeline;

	for (; walk->queue < pipeline->queue_events.count; walk->queue++) {
		const struct pipeline_queue_event *event =
			&pipeline->queue_events.row[walk->queue];

		if (event->queue != walk->mi->host_queue || event->end_ns > fetch->start_ns)
			break;
		walk->size = event->size;
	}
	if (walk->size >= 0)
		return (uint32_t)walk->size;
	return fetch->end_ns - fetch->start_ns < WAIT_NS;
}

/* Returns the send that follows a fetch; 0 if there is none. */
static uint64_t sent_at(struct walk *walk, const struct pipeline_fetch *fetch, uint64_t *end_ns)
{
	const struct pipeline *pipeline = walk->mi->usage->pipeline;

	for (; walk->send < pipeline->queue_events.count; walk->send++) {
		const struct pipeline_queue_event *event = &pipeline->queue_events.row[walk->send];

		if (!pipeline->queues.row[event->queue].to_device)
			return 0;
		if (event->change <= 0 || event->start_ns < fetch->end_ns)
			continue;
		walk->send++;
		*end_ns = event->end_ns;
		return event->end_ns - event->start_ns;
	}
	return 0;
}

static bool next_batch(struct walk *walk, struct batch *batch)
{
	const struct pipeline *pipeline = walk->mi->usage->pipeline;

	for (; walk->fetch < pipeline->fetches.count; walk->fetch++) {
		const struct pipeline_fetch *fetch = &pipeline->fetches.row[walk->fetch];
		uint64_t wait_ns = fetch->end_ns - fetch->start_ns;

		if (fetch->end_of_data || fetch->open)
			continue;
		*batch = (struct batch){ .end_ns = fetch->end_ns, .pipeline_ms = (double)wait_ns / 1e6 };
		batch->queue_size = size_at(walk, fetch);
		if (walk->mi->device) {
			batch->push_ms = (double)sent_at(walk, fetch, &batch->end_ns) / 1e6;
			batch->batch_ms = batch->pipeline_ms + batch->push_ms;
		} else {
			batch->batch_ms = batch->pipeline_ms;
			if (walk->last_end_ns && fetch->end_ns > walk->last_end_ns)
				batch->batch_ms = (double)(fetch->end_ns - walk->last_end_ns) / 1e6;
		}
		walk->last_end_ns = fetch->end_ns;
		walk->fetch++;
		return true;
	}
	return false;
}

struct mindinsight_times mindinsight_times(const struct mindinsight *mi)
{
	struct mindinsight_times times = { 0, 0, 0 };
	struct walk walk = walk_begin(mi);
	uint32_t count = 0, index = 0;
	struct batch batch;

	while (next_batch(&walk, &batch)) {
		if (!index++)
			continue;
		times.pipeline += batch.pipeline_ms;
		times.push += batch.push_ms;
		times.batch += batch.batch_ms;
		count++;
	}
	if (!count)
		return (struct mindinsight_times){ -1, -1, -1 };
	times.pipeline /= count;
	times.push /= count;
	times.batch /= count;
	return times;
}

/* Rounds @value so that the rounded values add up to the exact sum so far. */
static long long whole(double *sum, double value)
{
	long long before = llround(*sum);

	*sum += value;
	return llround(*sum) - before;
}

int mindinsight_steps(FILE *out, const struct mindinsight *mi)
{
	const struct pipeline *pipeline = mi->usage->pipeline;
	double pipeline_sum = 0, push_sum = 0, batch_sum = 0;
	struct walk walk = walk_begin(mi);
	uint32_t capacity = 0, number = 0;
	struct batch batch;

	if (mi->host_queue != INDEX_NONE)
		capacity = pipeline->queues.row[mi->host_queue].capacity;
	while (next_batch(&walk, &batch)) {
		uint64_t ms = batch.end_ns / 1000000;

		number++;
		fprintf(out, "0 1 %" PRIu32 " %lld %" PRIu64 "\n", number,
			whole(&push_sum, batch.push_ms), ms);
		fprintf(out, "0 2 %" PRIu32 " %lld %" PRIu64 "\n", number,
			whole(&batch_sum, batch.batch_ms), ms);
		fprintf(out, "0 0 %" PRIu32 " %lld %" PRIu64 "\n", number,
			whole(&pipeline_sum, batch.pipeline_ms), ms);
		fprintf(out, "1 %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 "\n", capacity, number,
			batch.queue_size, ms);
	}
	return ferror(out) ? -EIO : 0;
}
