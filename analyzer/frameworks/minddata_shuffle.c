/* SPDX-License-Identifier: Apache-2.0 */
/* Shuffle's pushes into its queue, which are not calls, derived from the total numbers of pushes and pops. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/frameworks/minddata.h"
#include "lib/base/bisect.h"

#define QUEUED_MAX (1u << 20) /* elements; a larger number is not a valid count */
/*
 * Each row is kept before it is pushed. Pushes in excess of the recorded keeps were in buffers when recording began,
 * or the call was lost; a larger excess in a recording is not a valid count, and would become that many events.
 */
#define UNKEPT_MAX QUEUED_MAX
#define PUSHES_OF_KEPT 2 /* the row, and an end of an epoch after it */

/* The last instant of a thread at which the counts of its queue are known. */
struct shuffle {
	const struct call *asked; /* the first later call that fetches a row, or NULL */
	uint64_t handle; /* 0 = nothing is known yet */
	uint64_t start_ns;
	uint64_t end_ns; /* the next pushes come after it */
	uint64_t pushed; /* in all, up to that instant */
	uint64_t popped;
	uint32_t tree;
	uint32_t queue;
	bool filling; /* it pushed nothing before that: it is filling its buffer */
	bool ends_epoch; /* the last push is the end of an epoch */
};

/* Does a call report the counts of its thread's queue? Fills @now with the pushed elements at the start of the call. */
static bool read_counts(const struct minddata *md, const struct call *call, struct shuffle *now)
{
	bool keeps = md->what[call->function] == MD_SHUFFLE;

	*now = (struct shuffle){ .start_ns = call->start_ns,
				 .end_ns = call->end_ns,
				 .tree = md->tree_of[call->thread] };
	if (now->tree == INDEX_NONE || call->flags & (MODEL_CALL_OPEN | MODEL_CALL_LEFT) ||
	    !framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__HANDLE, &now->handle) ||
	    !framework_argument(md->model, call,
				keeps ? PROFBPF__FUNCTION__ROLE__VALUE : PROFBPF__FUNCTION__ROLE__COUNT,
				&now->pushed))
		return false;
	/* A waiting pop is counted before there is an element for it. */
	if (keeps && (!framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__COUNT,
					  &now->popped) ||
		      now->popped > now->pushed + 1 ||
		      now->pushed > now->popped + QUEUED_MAX))
		return false;
	now->ends_epoch = !keeps && framework_value(md->model, call, PROFBPF__FUNCTION__ROLE__VALUE) ==
					    MD_ROW_END_OF_EPOCH;
	return now->handle != 0;
}

static bool add_seen(struct minddata *md, const struct shuffle *last, uint32_t thread, uint64_t end_ns)
{
	struct pipeline_queue_event event = { .start_ns = last->end_ns,
					      .end_ns = end_ns,
					      .thread = thread,
					      .queue = last->queue,
					      .change = 1,
					      .size = -1,
					      .mark = MD_ROW_DATA };

	return MODEL_PUSH(&minddata_pipeline(md, last->tree)->queue_events, event);
}

/*
 * Adds @count pushes between @last and @now: one before the thread fetched a row, unless it was filling its buffer;
 * the rest after that.
 */
static int add_pushes(struct minddata *md, const struct shuffle *last, const struct shuffle *now,
		      uint32_t thread, uint64_t count)
{
	uint64_t size = last->pushed > last->popped ? last->pushed - last->popped : 0;
	struct minddata_burst burst = { .known_ns = last->start_ns,
					.start_ns = last->end_ns < now->start_ns ? last->end_ns :
										   now->start_ns,
					.end_ns = now->start_ns,
					.queue = last->queue,
					.thread = thread };
	bool before = !last->filling || count == 1;

	if (last->asked) {
		burst.start_ns = last->asked->end_ns < now->start_ns ? last->asked->end_ns :
								       now->start_ns;
		if (before) {
			if (!add_seen(md, last, thread, last->asked->start_ns))
				return -ENOMEM;
			count--;
			size++;
		}
	}
	if (!count)
		return 0;
	/*
	 * One row is pushed between two keeps; if there are more pushes the last one is the end of an epoch, unless a
	 * call reports that.
	 */
	burst.ends_epoch = count > 1 && !now->ends_epoch;
	burst.count = (uint32_t)count;
	burst.size = (uint32_t)size;
	if (count > md->pushes_left)
		return 0;
	md->pushes_left -= count;
	return MODEL_PUSH(&md->trees.row[last->tree].bursts, burst) ? 0 : -ENOMEM;
}

static int take_counts(struct minddata *md, struct shuffle *last, const struct call *call)
{
	bool keeps = md->what[call->function] == MD_SHUFFLE;
	struct shuffle now;
	int err = 0;

	if (!read_counts(md, call, &now) || (!keeps && now.handle != last->handle))
		return 0;
	now.queue = minddata_queue_at(md, now.tree, now.handle, md->operator_of[call->thread]);
	if (now.queue == INDEX_NONE)
		return md->no_memory ? -ENOMEM : 0;
	if (keeps)
		minddata_note_pushed(md, now.tree, now.queue, call->start_ns, now.pushed);
	now.filling = last->handle == now.handle && now.pushed == last->pushed;
	if (last->handle == now.handle && now.pushed > last->pushed &&
	    now.pushed - last->pushed <= QUEUED_MAX)
		err = add_pushes(md, last, &now, call->thread, now.pushed - last->pushed);
	/* The number of pops is that of the previous instant. */
	if (!keeps) {
		now.start_ns = last->start_ns;
		now.popped = last->popped;
		now.pushed++;
	}
	*last = now;
	return err;
}

int minddata_shuffle_pushes(struct minddata *md)
{
	const struct model *model = md->model;
	struct shuffle last = { .handle = 0 };
	uint32_t thread = INDEX_NONE;
	int err = 0;

	md->pushes_left = UNKEPT_MAX;
	for (uint32_t i = 0; i < model->calls.count && !err; i++) {
		const struct call *call = &model->calls.row[i];

		if (call->thread != thread)
			last = (struct shuffle){ .handle = 0 };
		thread = call->thread;
		switch (md->what[call->function]) {
		case MD_NEXT:
		case MD_INLINED:
			if (!last.asked && call->start_ns >= last.end_ns)
				last.asked = call;
			break;
		case MD_SHUFFLE:
			md->pushes_left += PUSHES_OF_KEPT;
			err = take_counts(md, &last, call);
			break;
		case MD_PUSH:
			if (last.handle)
				err = take_counts(md, &last, call);
			break;
		default: break;
		}
	}
	return err;
}

struct burst_pops {
	MODEL_ARRAY(uint64_t) end_ns; /* pops of one queue, in order */
};

static int by_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool collect_pops(const struct pipeline *pipeline, uint32_t queue, struct burst_pops *pops)
{
	pops->end_ns.count = 0;
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++) {
		const struct pipeline_queue_event *event = &pipeline->queue_events.row[i];

		if (event->queue == queue && event->change < 0 &&
		    !MODEL_PUSH(&pops->end_ns, event->end_ns))
			return false;
	}
	if (pops->end_ns.count)
		qsort(pops->end_ns.row, pops->end_ns.count, sizeof(*pops->end_ns.row), by_ns);
	return true;
}

/* Places the pushes of a burst. Pushes that still have no room after the last pop happen at the end of the burst. */
static bool place_burst(struct pipeline *pipeline, const struct minddata_burst *burst,
			const struct burst_pops *pops)
{
	const uint64_t *pop = pops->end_ns.row;
	uint32_t next = BISECT(i, 0, pops->end_ns.count, pop[i] <= burst->known_ns);
	uint32_t capacity = pipeline->queues.row[burst->queue].capacity;
	struct pipeline_queue_event event = { .end_ns = burst->start_ns,
					      .queue = burst->queue,
					      .thread = burst->thread,
					      .change = 1,
					      .size = -1,
					      .mark = MD_ROW_DATA };
	uint32_t size = burst->size;

	for (uint32_t i = 0; i < burst->count; i++) {
		event.start_ns = event.end_ns;
		for (; next < pops->end_ns.count && pop[next] <= event.end_ns; next++)
			size -= size > 0;
		if (size >= capacity) {
			bool room = next < pops->end_ns.count && pop[next] < burst->end_ns;

			event.end_ns = room ? pop[next++] : burst->end_ns;
			size--;
		}
		size++;
		if (burst->ends_epoch && i + 1 == burst->count)
			event.mark = MD_ROW_END_OF_EPOCH;
		if (!MODEL_PUSH(&pipeline->queue_events, event))
			return false;
	}
	return true;
}

int minddata_shuffle_bursts(struct minddata *md, uint32_t tree)
{
	const struct minddata_tree *of = &md->trees.row[tree];
	struct pipeline *pipeline = minddata_pipeline(md, tree);
	struct burst_pops pops = { .end_ns = { .count = 0 } };
	uint32_t queue = INDEX_NONE;
	bool done = true;

	for (uint32_t i = 0; i < of->bursts.count && done; i++) {
		const struct minddata_burst *burst = &of->bursts.row[i];

		if (!pipeline->queues.row[burst->queue].capacity)
			continue;
		if (burst->queue != queue)
			done = collect_pops(pipeline, burst->queue, &pops);
		queue = burst->queue;
		done = done && place_burst(pipeline, burst, &pops);
	}
	free(pops.end_ns.row);
	return done ? 0 : -ENOMEM;
}
