/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/device_workers.h"

#include <stdlib.h>

#include "analyzer/join/launch/call_kind.h"

/* Runtimes have one per CPU; further threads are ignored. */
#define WORKERS_MAX 1024

struct device_workers {
	const struct model *model;
	const struct walker *walker;
	uint32_t worker[WORKERS_MAX]; /* threads */
	uint32_t count;
};

bool span_woken_by_thread(const struct span *span)
{
	return span->other != INDEX_NONE &&
	       !(span->flags &
		 (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ | SPAN_WOKEN_TIMER | SPAN_NO_WAKE));
}

static bool in_same_process(const struct model *model, uint32_t a, uint32_t b)
{
	return a < model->threads.count && b < model->threads.count &&
	       model->threads.row[a].process == model->threads.row[b].process;
}

bool span_ends_device_wait(const struct model *model, const struct walker *walker,
			   const struct span *span, uint32_t thread, uint32_t call)
{
	if (call == INDEX_NONE || !call_waits(model, &model->calls.row[call]))
		return false;
	return !span_woken_by_thread(span) || !in_same_process(model, span->other, thread) ||
	       walker_call_at(walker, span->other, span->end_ns) == INDEX_NONE;
}

static void add_worker(struct device_workers *workers, uint8_t *known, uint32_t thread)
{
	if (known[thread] || workers->count == WORKERS_MAX)
		return;
	known[thread] = 1;
	workers->worker[workers->count++] = thread;
}

/* Finds the workers whose wake-ups ended a thread's waits for the device. */
static void find_workers(struct device_workers *workers, uint8_t *known, uint32_t thread)
{
	const struct model *model = workers->model;
	struct walk walk;
	struct walk_step step;

	walk_start(&walk, workers->walker, thread, model->threads.row[thread].first_ns, UINT64_MAX);
	while (walk_next(&walk, &step)) {
		const struct span *span;

		if (step.span == INDEX_NONE || step.call == INDEX_NONE || step.thread != thread)
			continue;
		span = &model->spans.row[step.span];
		if (span->state == STATE_SLEEP && span->end_ns == step.end_ns &&
		    span_woken_by_thread(span) && in_same_process(model, span->other, thread) &&
		    span_ends_device_wait(model, workers->walker, span, thread, step.call))
			add_worker(workers, known, span->other);
	}
}

struct device_workers *device_workers_new(const struct model *model, const struct walker *walker)
{
	struct device_workers *workers = calloc(1, sizeof(*workers));
	uint8_t *known = calloc((size_t)model->threads.count + 1, 1);

	if (!workers || !known) {
		free(workers);
		free(known);
		return NULL;
	}
	workers->model = model;
	workers->walker = walker;
	for (uint32_t thread = 0; thread < model->threads.count; thread++) {
		uint32_t first;

		if (model_thread_calls(model, thread, &first))
			find_workers(workers, known, thread);
	}
	free(known);
	return workers;
}

void device_workers_free(struct device_workers *workers)
{
	free(workers);
}

uint32_t device_worker_at(const struct device_workers *workers, uint32_t process, uint64_t ts_ns)
{
	const struct model *model = workers->model;
	uint32_t found = INDEX_NONE;
	uint64_t since_ns = 0;

	for (uint32_t i = 0; i < workers->count && ts_ns < UINT64_MAX; i++) {
		uint32_t worker = workers->worker[i];
		struct walk walk;
		struct walk_step step;

		if (model->threads.row[worker].process != process)
			continue;
		walk_start(&walk, workers->walker, worker, ts_ns, ts_ns + 1);
		if (!walk_next(&walk, &step) || step.span == INDEX_NONE ||
		    model->spans.row[step.span].state != STATE_RUNNING)
			continue;
		if (found == INDEX_NONE || model->spans.row[step.span].start_ns > since_ns) {
			found = worker;
			since_ns = model->spans.row[step.span].start_ns;
		}
	}
	return found;
}
