/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/step_blame.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/device_workers.h"
#include "analyzer/analyse/selection.h"
#include "lib/base/bisect.h"

#define VISITS_MAX 1000 /* operators visited for a fetch, also the depth of recursion; ends cycles of hostile traces */
#define RUN_MAX_NS 1000000 /* after a longer run, the next sleep is not a wait for the same lock */

static bool is_call(const struct pipeline *pipeline, const struct pipeline_edge *edge)
{
	for (uint32_t q = 0; q < pipeline->queues.count; q++)
		if (pipeline->queues.row[q].from == edge->from &&
		    pipeline->queues.row[q].to == edge->to)
			return false;
	return true;
}

static void sum_works(struct step_blame *blame)
{
	const struct pipeline *pipeline = blame->pipeline;

	for (uint32_t i = 0; i < pipeline->works.count; i++) {
		const struct pipeline_work *work = &pipeline->works.row[i];

		blame->work_ns[work->op] += work->end_ns - work->start_ns;
	}
	for (uint32_t i = 0; i < pipeline->edges.count; i++)
		blame->calls[i] = is_call(pipeline, &pipeline->edges.row[i]);
}

struct step_blame *step_blame_new(const struct model *model, const struct pipeline *pipeline)
{
	struct step_blame *blame = calloc(1, sizeof(*blame));
	uint32_t event = 0;

	if (!blame)
		return NULL;
	blame->model = model;
	blame->pipeline = pipeline;
	blame->owner = pipeline_owners(model, pipeline);
	blame->queue_first =
		calloc((size_t)pipeline->queues.count + 1, sizeof(*blame->queue_first));
	blame->costs = calloc((size_t)pipeline->operators.count + 1, sizeof(*blame->costs));
	blame->work_ns = calloc((size_t)pipeline->operators.count + 1, sizeof(*blame->work_ns));
	blame->calls = calloc((size_t)pipeline->edges.count + 1, sizeof(*blame->calls));
	if (!blame->owner || !blame->queue_first || !blame->costs || !blame->work_ns ||
	    !blame->calls) {
		step_blame_free(blame);
		return NULL;
	}
	sum_works(blame);
	for (uint32_t q = 0; q <= pipeline->queues.count; q++) {
		while (event < pipeline->queue_events.count &&
		       pipeline->queue_events.row[event].queue < q)
			event++;
		blame->queue_first[q] = event;
	}
	return blame;
}

void step_blame_free(struct step_blame *blame)
{
	if (!blame)
		return;
	free(blame->owner);
	free(blame->queue_first);
	free(blame->costs);
	free(blame->work_ns);
	free(blame->calls);
	free(blame);
}

/* Elements in a queue at an instant, -1 = unknown. */
static int32_t size_at(const struct step_blame *blame, uint32_t queue, uint64_t ts_ns)
{
	const struct pipeline_queue_event *row = blame->pipeline->queue_events.row;
	uint32_t first = blame->queue_first[queue];
	uint32_t next = BISECT(i, first, blame->queue_first[queue + 1], row[i].end_ns <= ts_ns);

	return next > first ? row[next - 1].size : -1;
}

/* Returns the operator with most work among @op and the operators that it calls, directly or indirectly. */
static uint32_t busiest_called(const struct step_blame *blame, uint32_t op, unsigned int *visits)
{
	const struct pipeline *pipeline = blame->pipeline;
	uint32_t busiest = op;

	for (uint32_t i = 0; i < pipeline->edges.count && *visits; i++) {
		const struct pipeline_edge *edge = &pipeline->edges.row[i];
		uint32_t called;

		if (!blame->calls[i] || edge->to != op || edge->from == op)
			continue;
		--*visits;
		called = busiest_called(blame, edge->from, visits);
		if (blame->work_ns[called] > blame->work_ns[busiest])
			busiest = called;
	}
	return busiest;
}

static uint32_t first_span(const struct step_blame *blame, const struct timeline *timeline,
			   uint64_t ts_ns)
{
	return BISECT(i, 0, timeline->count,
		      blame->model->spans.row[timeline->first + i].end_ns <= ts_ns);
}

/* Returns the time in the fetch in which a thread slept; 0 also if that is not known. */
static uint64_t slept_ns(const struct step_blame *blame, uint32_t thread)
{
	const struct timeline *timeline;
	uint64_t ns = 0;

	if (thread >= blame->model->timelines.count)
		return 0;
	timeline = &blame->model->timelines.row[thread];
	for (uint32_t i = first_span(blame, timeline, blame->fetch.from_ns); i < timeline->count; i++) {
		const struct span *span = &blame->model->spans.row[timeline->first + i];

		if (span->start_ns >= blame->fetch.to_ns)
			break;
		if (span->state == STATE_SLEEP)
			ns += analysis_clipped(span->start_ns, span->end_ns, &blame->fetch);
	}
	return ns;
}

/* Did the thread sleep for most of the fetch? */
static bool slept(const struct step_blame *blame, uint32_t thread)
{
	return 2 * slept_ns(blame, thread) > blame->fetch.to_ns - blame->fetch.from_ns;
}

/* Does the operator only hand on elements, and did it have none? */
static bool waits_itself(const struct step_blame *blame, uint32_t op)
{
	const struct pipeline *pipeline = blame->pipeline;

	for (uint32_t i = 0; pipeline->operators.row[op].hands_on && i < pipeline->threads.count; i++)
		if (pipeline->threads.row[i].op == op && !pipeline->threads.row[i].descendant)
			return slept(blame, pipeline->threads.row[i].thread);
	return false;
}

/*
 * Returns the operator for which @op, and so all operators above it, wait. The search continues through a queue of
 * unknown size only if a queue further down is empty, or if @op only hands on elements and slept in that time.
 * Operators that @op calls itself are part of its work: the search continues from the one with most work.
 */
static uint32_t slowest_below(const struct step_blame *blame, uint32_t op, uint64_t ts_ns,
			      unsigned int *visits)
{
	const struct pipeline *pipeline = blame->pipeline;
	uint32_t called;

	for (uint32_t q = 0; q < pipeline->queues.count && *visits; q++) {
		const struct pipeline_queue *queue = &pipeline->queues.row[q];
		int32_t size;
		uint32_t below;
		bool waits;

		if (queue->to != op || queue->from == op)
			continue;
		size = size_at(blame, q, ts_ns);
		waits = waits_itself(blame, op);
		if (size > 0 && !waits)
			continue;
		--*visits;
		below = slowest_below(blame, queue->from, ts_ns, visits);
		if (size == 0 || below != queue->from || waits)
			return below;
	}
	called = busiest_called(blame, op, visits);
	return called == op ? op : slowest_below(blame, called, ts_ns, visits);
}

static uint32_t owner_of(const struct step_blame *blame, uint32_t thread)
{
	return thread < blame->model->threads.count ? blame->owner[thread] : INDEX_NONE;
}

/*
 * Charges the wait of a fetch to the operator that is too slow. The fetching thread belongs to the trainer, to an
 * operator that runs in it, or to the operator that feeds the device.
 */
static void blame_wait(struct step_blame *blame, const struct pipeline_fetch *fetch)
{
	const struct pipeline *pipeline = blame->pipeline;
	uint64_t ns = fetch->end_ns - fetch->start_ns, middle_ns = fetch->start_ns + ns / 2;
	unsigned int visits = VISITS_MAX;

	for (uint32_t q = 0; q < pipeline->queues.count; q++) {
		const struct pipeline_queue *queue = &pipeline->queues.row[q];
		uint32_t op;

		if (queue->to_device ||
		    (queue->to != INDEX_NONE && !pipeline->operators.row[queue->to].in_trainer &&
		     queue->to != owner_of(blame, fetch->thread)))
			continue;
		op = slowest_below(blame, queue->from, middle_ns, &visits);
		blame->costs[op].wait_ns += ns;
		return;
	}
	/* Without queues it is the only operator, if there is just one. */
	if (pipeline->operators.count == 1)
		blame->costs[0].wait_ns += ns;
}

/* Consecutive sleeps that a timer ended: slices of a wait, if its last sleep is in the same system call. */
struct slices {
	uint64_t ns;
	int16_t syscall;
};

/*
 * A thread that waits for the interpreter lock sleeps with a timeout, again and again, until the lock is released: by a
 * thread of its process. Worker processes have locks of their own.
 */
static void blame_sleep(struct step_blame *blame, uint32_t thread, const struct span *span, uint64_t ns,
			struct slices *slices)
{
	const struct thread *threads = blame->model->threads.row;
	uint32_t op = span_woken_by_thread(span) ? owner_of(blame, span->other) : INDEX_NONE;

	if (span->syscall != slices->syscall)
		*slices = (struct slices){ .syscall = span->syscall };
	if (span->flags & SPAN_WOKEN_TIMER) {
		slices->ns += ns;
		return;
	}
	if (op != INDEX_NONE && blame->pipeline->operators.row[op].python &&
	    threads[span->other].process == threads[thread].process)
		blame->costs[op].lock_ns += ns + slices->ns;
	slices->ns = 0;
}

static void blame_trainer(struct step_blame *blame, uint32_t thread,
			  const struct analysis_window *step)
{
	const struct model *model = blame->model;
	const struct timeline *timeline;
	struct slices slices = { 0 };

	if (thread >= model->timelines.count)
		return;
	timeline = &model->timelines.row[thread];
	for (uint32_t i = first_span(blame, timeline, step->from_ns); i < timeline->count; i++) {
		const struct span *span = &model->spans.row[timeline->first + i];
		uint64_t ns = analysis_clipped(span->start_ns, span->end_ns, step);
		uint32_t op;

		if (span->start_ns >= step->to_ns)
			break;
		switch (span->state) {
		case STATE_SLEEP: blame_sleep(blame, thread, span, ns, &slices); break;
		case STATE_RUNNING: slices.ns = ns > RUN_MAX_NS ? 0 : slices.ns; break;
		case STATE_RUNNABLE:
			op = owner_of(blame, span->other);
			if (op != INDEX_NONE)
				blame->costs[op].cpu_ns += ns;
			else if (span->other != INDEX_NONE && span->other != thread)
				blame->other_cpu_ns += ns;
			break;
		default: break;
		}
	}
}

void step_blame_find(struct step_blame *blame, const struct pipeline_fetch *fetch, uint64_t end_ns)
{
	const struct analysis_window step = { .from_ns = fetch->end_ns, .to_ns = end_ns };

	memset(blame->costs, 0, blame->pipeline->operators.count * sizeof(*blame->costs));
	blame->other_cpu_ns = 0;
	blame->fetch = (struct analysis_window){ fetch->start_ns, fetch->end_ns };
	blame->slept_ns = slept_ns(blame, fetch->thread);
	blame_wait(blame, fetch);
	blame_trainer(blame, fetch->thread, &step);
}
