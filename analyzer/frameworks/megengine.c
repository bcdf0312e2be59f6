/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MegEngine's DataLoader with worker processes.
 *
 * A worker puts each batch into a plasma store, which ends in one Seal(), and hands its id to the
 * trainer by a multiprocessing queue. The trainer, which waits for that pipe, asks whether the
 * store Contains() it and then gets it: once per batch. Processes that do the one are workers of
 * the nearest ancestor that does the other. Sources: megengine/data/dataloader.py and
 * megengine/data/tools/_queue.py of MegEngine 1.13.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/framework.h"
#include "analyzer/frameworks/python_loader.h"
#include "lib/base/bisect.h"

#define ANCESTORS_MAX 8
#define WAIT_NS 200000 /* a pop or push of so long waited */

enum megengine_call { MEGENGINE_NONE = 0, MEGENGINE_SEAL, MEGENGINE_CONTAINS, MEGENGINE_GET };

static const struct framework_function FUNCTIONS[] = {
	{ "_ZN6plasma12PlasmaClient4SealE", MEGENGINE_SEAL },
	{ "_ZN6plasma12PlasmaClient8ContainsE", MEGENGINE_CONTAINS },
	{ "_ZN6plasma12PlasmaClient3GetE", MEGENGINE_GET },
};

struct megengine {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what;
	uint32_t *pipeline; /* of the trainer that each process is, or INDEX_NONE */
	uint32_t *contains; /* call of each thread that waits for its Get(), or INDEX_NONE */
};

static uint32_t process_of(const struct megengine *m, const struct call *call)
{
	return m->model->threads.row[call->thread].process;
}

static int add_trainer(struct megengine *m, uint32_t process)
{
	struct pipeline *pipeline = pipeline_add(m->pipelines, "MegEngine", process);
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
	m->pipeline[process] = m->pipelines->list.count - 1;
	return 0;
}

static int find_trainers(struct megengine *m)
{
	for (uint32_t i = 0; i < m->model->calls.count; i++) {
		const struct call *call = &m->model->calls.row[i];
		int err = 0;

		if (m->what[call->function] == MEGENGINE_CONTAINS &&
		    m->pipeline[process_of(m, call)] == INDEX_NONE)
			err = add_trainer(m, process_of(m, call));
		if (err)
			return err;
	}
	return 0;
}

/* The pipeline of the trainer that a worker descends from, or NULL. */
static struct pipeline *served_by(const struct megengine *m, uint32_t process)
{
	for (int i = 0; i < ANCESTORS_MAX; i++) {
		uint32_t pid = m->model->processes.row[process].parent_pid;

		process = pid ? loader_process(m->model, pid) : INDEX_NONE;
		if (process == INDEX_NONE)
			return NULL;
		if (m->pipeline[process] != INDEX_NONE)
			return &m->pipelines->list.row[m->pipeline[process]];
	}
	return NULL;
}

static bool has_thread(const struct pipeline *pipeline, uint32_t thread)
{
	for (uint32_t i = pipeline->threads.count; i-- > 0;)
		if (pipeline->threads.row[i].thread == thread)
			return true;
	return false;
}

/* A worker handed over a batch. */
static int sealed(struct megengine *m, const struct call *call)
{
	struct pipeline *pipeline = served_by(m, process_of(m, call));
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

/* Index of the last span of a thread that began before an instant, or INDEX_NONE. */
static uint32_t span_before(const struct model *model, const struct timeline *line, uint64_t ts_ns)
{
	uint32_t next = BISECT(i, line->first, line->first + line->count,
			       model->spans.row[i].start_ns < ts_ns);

	return next > line->first ? next - 1 : INDEX_NONE;
}

/* The trainer began to wait for the id: with the first sleep for its pipe after the last batch. */
static uint64_t fetch_start(const struct model *model, const struct pipeline *pipeline,
			    const struct call *contains)
{
	const struct timeline *line = contains->thread < model->timelines.count
					      ? &model->timelines.row[contains->thread]
					      : NULL;
	const struct pipeline_fetch *last =
		pipeline->fetches.count ? &pipeline->fetches.row[pipeline->fetches.count - 1] : NULL;
	uint64_t start_ns = contains->start_ns;
	uint32_t at = line ? span_before(model, line, start_ns) : INDEX_NONE;

	for (; at != INDEX_NONE && at >= line->first; at--) {
		const struct span *span = &model->spans.row[at];

		if (last && span->start_ns < last->end_ns)
			break;
		if (loader_waits(span))
			start_ns = span->start_ns;
		else if (span->state == STATE_SLEEP && !last)
			break; /* before the first batch: other waits of the start */
		if (at == 0)
			break;
	}
	return start_ns;
}

static int fetched(struct megengine *m, const struct call *get)
{
	struct pipeline *pipeline = &m->pipelines->list.row[m->pipeline[process_of(m, get)]];
	const struct call *contains = &m->model->calls.row[m->contains[get->thread]];
	struct pipeline_fetch fetch = { .start_ns = fetch_start(m->model, pipeline, contains),
					.end_ns = get->end_ns,
					.thread = get->thread,
					.open = get->flags & MODEL_CALL_NOT_RETURNED };
	struct pipeline_queue_event pop = { .start_ns = fetch.start_ns,
					    .end_ns = fetch.end_ns,
					    .thread = get->thread,
					    .change = -1,
					    .size = -1 };

	m->contains[get->thread] = INDEX_NONE;
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

	for (uint32_t p = 0; p < m->model->processes.count && !err; p++) {
		struct pipeline *pipeline;

		if (m->pipeline[p] == INDEX_NONE)
			continue;
		pipeline = &m->pipelines->list.row[m->pipeline[p]];
		err = add_works(m->model, pipeline);
		pipeline->operators.row[0].workers = loader_concurrent(m->model, pipeline, 0);
		pipeline_sort(pipeline);
		pipeline_count_sizes(pipeline, WAIT_NS);
	}
	return err;
}

static uint32_t *no_indices(uint32_t count)
{
	size_t size = ((size_t)count + 1) * sizeof(uint32_t);
	uint32_t *list = malloc(size);

	if (list)
		memset(list, 0xff, size);
	return list;
}

static int build(struct model *model, struct pipelines *pipelines)
{
	struct megengine m = { .model = model, .pipelines = pipelines };
	bool any = false;
	int err = 0;

	m.what = framework_classify(model, "megengine", FUNCTIONS,
				    sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]), &any);
	m.pipeline = no_indices(model->processes.count);
	m.contains = no_indices(model->threads.count);
	if (!m.what || !m.pipeline || !m.contains)
		err = -ENOMEM;
	if (!err && any)
		err = find_trainers(&m);
	if (!err && any)
		err = walk_calls(&m);
	if (!err && any)
		err = finish(&m);
	free(m.what);
	free(m.pipeline);
	free(m.contains);
	return err;
}

const struct framework FRAMEWORK_MEGENGINE = { "MegEngine", build };
