/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MegEngine's DataLoader with worker processes.
 *
 * A worker puts each batch into a plasma store, which ends with one Seal(), and sends its id to the trainer through a
 * multiprocessing queue. The trainer waits for that pipe, then asks the store whether it Contains() the batch and gets
 * it: once per batch. megengine_loaders.c finds the loader of a batch. Sources: megengine/data/dataloader.py and
 * megengine/data/tools/_queue.py of MegEngine 1.13.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/framework.h"
#include "analyzer/frameworks/megengine.h"
#include "analyzer/frameworks/python_loader.h"
#include "lib/base/bisect.h"

#define WAIT_NS 200000 /* a pop or push of at least this duration waited */

static const struct framework_function FUNCTIONS[] = {
	{ "_ZN6plasma12PlasmaClient4SealE", MEGENGINE_SEAL },
	{ "_ZN6plasma12PlasmaClient8ContainsE", MEGENGINE_CONTAINS },
	{ "_ZN6plasma12PlasmaClient3GetE", MEGENGINE_GET },
};

static int add_pipeline(struct megengine *m, struct megengine_loader *loader)
{
	struct pipeline *pipeline = pipeline_add(m->pipelines, "MegEngine", loader->process);
	struct pipeline_queue queue = { .from = 0, .to = INDEX_NONE };
	struct pipeline_operator *op;

	if (!pipeline ||
	    pipeline_operator_add(m->model, pipeline, 0, "DataLoader worker", "worker") != 0)
		return -ENOMEM;
	op = &pipeline->operators.row[0];
	op->source = true;
	op->python = true;
	op->counts_outputs = true;
	queue.name = model_string(m->model, "batches made ahead");
	if (queue.name == INDEX_NONE || !MODEL_PUSH(&pipeline->queues, queue))
		return -ENOMEM;
	loader->pipeline = m->pipelines->list.count - 1;
	return 0;
}

static int add_pipelines(struct megengine *m)
{
	int err = 0;

	for (uint32_t i = 0; i < m->loaders.count && !err; i++)
		err = add_pipeline(m, &m->loaders.row[i]);
	return err;
}

/* Returns the pipeline of a call of a worker or of the trainer; NULL = unknown. */
static struct pipeline *pipeline_of(const struct megengine *m, const struct call *call)
{
	uint32_t loader = m->loader_of[call - m->model->calls.row];

	return loader == INDEX_NONE ? NULL
				    : &m->pipelines->list.row[m->loaders.row[loader].pipeline];
}

static bool has_thread(const struct pipeline *pipeline, uint32_t thread)
{
	for (uint32_t i = pipeline->threads.count; i-- > 0;)
		if (pipeline->threads.row[i].thread == thread)
			return true;
	return false;
}

/* A worker passed on a batch. */
static int sealed(struct megengine *m, const struct call *call)
{
	struct pipeline *pipeline = pipeline_of(m, call);
	struct pipeline_thread worker = { .thread = call->thread,
					  .role = PIPELINE_WORKER_PROCESS };
	struct pipeline_output output = { .ts_ns = call->end_ns, .count = 1 };
	struct pipeline_queue_event push = { .start_ns = call->start_ns,
					     .end_ns = call->end_ns,
					     .thread = call->thread,
					     .change = 1,
					     .size = -1 };

	if (!pipeline || call->flags & MODEL_CALL_NOT_RETURNED)
		return 0;
	if (pipeline->threads.count < LOADER_WORKERS_MAX && !has_thread(pipeline, call->thread) &&
	    !MODEL_PUSH(&pipeline->threads, worker))
		return -ENOMEM;
	return MODEL_PUSH(&pipeline->outputs, output) && MODEL_PUSH(&pipeline->queue_events, push)
		       ? 0
		       : -ENOMEM;
}

/* Returns the index of the last span of a thread that began before an instant, or INDEX_NONE. */
static uint32_t span_before(const struct model *model, const struct timeline *line, uint64_t ts_ns)
{
	uint32_t next = BISECT(i, line->first, line->first + line->count,
			       model->spans.row[i].start_ns < ts_ns);

	return next > line->first ? next - 1 : INDEX_NONE;
}

/*
 * Returns when the trainer began to wait for the id: at its first sleep at the pipe after the last batch of any loader
 * (@last_ns, 0 = none).
 */
static uint64_t fetch_start(const struct model *model, uint64_t last_ns, const struct call *contains)
{
	const struct timeline *line = contains->thread < model->timelines.count
					      ? &model->timelines.row[contains->thread]
					      : NULL;
	uint64_t start_ns = contains->start_ns;
	uint32_t at = line ? span_before(model, line, start_ns) : INDEX_NONE;

	for (; at != INDEX_NONE && at >= line->first; at--) {
		const struct span *span = &model->spans.row[at];

		if (span->start_ns < last_ns)
			break;
		if (loader_waits(span))
			start_ns = span->start_ns;
		else if (span->state == STATE_SLEEP && !last_ns)
			break; /* before the first batch: an earlier sleep is another wait during the start */
		if (at == 0)
			break;
	}
	return start_ns;
}

static int fetched(struct megengine *m, const struct call *get)
{
	const struct call *contains = &m->model->calls.row[m->contains[get->thread]];
	struct pipeline *pipeline = pipeline_of(m, contains);
	struct pipeline_fetch fetch = { .start_ns = fetch_start(m->model,
								m->fetched_ns[get->thread], contains),
					.end_ns = get->end_ns,
					.thread = get->thread,
					.open = get->flags & MODEL_CALL_NOT_RETURNED };
	struct pipeline_queue_event pop = { .start_ns = fetch.start_ns,
					    .end_ns = fetch.end_ns,
					    .thread = get->thread,
					    .change = -1,
					    .size = -1 };

	m->contains[get->thread] = INDEX_NONE;
	m->fetched_ns[get->thread] = get->end_ns;
	if (!MODEL_PUSH(&pipeline->fetches, fetch))
		return -ENOMEM;
	if (fetch.open)
		return 0;
	return MODEL_PUSH(&pipeline->queue_events, pop) ? 0 : -ENOMEM;
}

static int walk_calls(struct megengine *m)
{
	int err = 0;

	for (uint32_t i = 0; i < m->model->calls.count && !err; i++) {
		const struct call *call = &m->model->calls.row[i];

		switch (m->what[call->function]) {
		case MEGENGINE_SEAL: err = sealed(m, call); break;
		case MEGENGINE_CONTAINS: m->contains[call->thread] = i; break;
		case MEGENGINE_GET:
			if (m->contains[call->thread] != INDEX_NONE)
				err = fetched(m, call);
			break;
		default: break;
		}
	}
	return err;
}

/* Batches were pushed by the threads that made them. */
static int add_works(const struct model *model, struct pipeline *pipeline)
{
	int err = 0;

	for (uint32_t i = 0; i < pipeline->threads.count && !err; i++) {
		const struct pipeline_thread *worker = &pipeline->threads.row[i];
		uint64_t first_ns = UINT64_MAX, last_ns = 0;

		for (uint32_t e = 0; e < pipeline->queue_events.count; e++) {
			const struct pipeline_queue_event *event = &pipeline->queue_events.row[e];

			if (event->thread != worker->thread || event->change < 0)
				continue;
			first_ns = event->end_ns < first_ns ? event->end_ns : first_ns;
			last_ns = event->end_ns > last_ns ? event->end_ns : last_ns;
		}
		err = loader_works(model, pipeline, worker, first_ns, last_ns);
	}
	return err;
}

static int finish(struct megengine *m)
{
	int err = 0;

	for (uint32_t i = 0; i < m->loaders.count && !err; i++) {
		struct pipeline *pipeline = &m->pipelines->list.row[m->loaders.row[i].pipeline];

		err = add_works(m->model, pipeline);
		pipeline->operators.row[0].workers = loader_concurrent(m->model, pipeline, 0);
		pipeline_sort(pipeline);
		pipeline_count_sizes(pipeline, WAIT_NS);
	}
	return err;
}

static int build(struct model *model, struct pipelines *pipelines)
{
	struct megengine m = { .model = model, .pipelines = pipelines };
	bool any = false;
	int err = 0;

	m.what = framework_classify(model, "megengine", FUNCTIONS,
				    sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]), &any);
	m.loader_of = indices_none(any ? model->calls.count : 0);
	m.contains = indices_none(model->threads.count);
	m.fetched_ns = calloc((size_t)model->threads.count + 1, sizeof(*m.fetched_ns));
	if (!m.what || !m.loader_of || !m.contains || !m.fetched_ns)
		err = -ENOMEM;
	if (!err && any)
		err = megengine_loaders_find(&m);
	if (!err && any)
		err = add_pipelines(&m);
	if (!err && any)
		err = walk_calls(&m);
	if (!err && any)
		err = finish(&m);
	free(m.what);
	free(m.loader_of);
	free(m.contains);
	free(m.fetched_ns);
	free(m.loaders.row);
	return err;
}

const struct framework FRAMEWORK_MEGENGINE = { "MegEngine", build };
