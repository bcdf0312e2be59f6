/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinguishes workers of one iterator of a DataLoader from those of another: by their pipe, and by their taking
 * turns.
 */
#include <stdlib.h>

#include "analyzer/analyse/device/device_workers.h"
#include "analyzer/frameworks/torch.h"
#include "proto/trace.pb-c.h"

#define PACE_LEAST 8 /* tensors of each worker that are enough for a decision */
#define PACE_SLACK 4 /* permitted difference: orders in progress */

static uint32_t process_of(const struct model *model, uint32_t thread)
{
	uint32_t process = thread < model->threads.count ? model->threads.row[thread].process
							 : INDEX_NONE;

	return process < model->processes.count ? process : INDEX_NONE;
}

/*
 * Finds the pipes of batches from the sleeps of a thread that receives them. Each worker also has a pipe that reports
 * its end, once: a pipe at which a worker ended two sleeps carries its batches.
 */
static void look_at(const struct model *model, uint32_t thread, uint64_t *last, uint64_t *pipes)
{
	const struct timeline *line = &model->timelines.row[thread];

	for (uint32_t i = line->first; i < line->first + line->count; i++) {
		const struct span *span = &model->spans.row[i];
		const struct sleep_object *object;
		uint32_t worker;

		if (span->object >= model->sleep_objects.count || !span_woken_by_thread(span))
			continue;
		object = &model->sleep_objects.row[span->object];
		if (object->kind != PROFBPF__SLEEP_OBJECTS__KIND__PIPE)
			continue;
		worker = process_of(model, span->other);
		if (worker == INDEX_NONE || !torch_worker_process(model, worker) || pipes[worker])
			continue;
		if (last[worker] == object->object)
			pipes[worker] = object->object;
		last[worker] = object->object;
	}
}

uint64_t *torch_result_pipes(const struct torch *torch)
{
	const struct model *model = torch->model;
	uint64_t *pipes = calloc((size_t)model->processes.count + 1, sizeof(*pipes));
	uint64_t *last = calloc((size_t)model->processes.count + 1, sizeof(*last));
	uint32_t before = INDEX_NONE;

	for (uint32_t i = 0; pipes && last && i < torch->fetches.count; i++) {
		uint32_t thread = torch->fetches.row[i].fetch.thread;

		if (thread != before && thread < model->timelines.count)
			look_at(model, thread, last, pipes);
		before = thread;
	}
	for (uint32_t t = 0; pipes && last && t < model->timelines.count; t++)
		if (torch_pin_thread(model, t))
			look_at(model, t, last, pipes);
	if (!last) {
		free(pipes);
		pipes = NULL;
	}
	free(last);
	return pipes;
}

/* Returns the number of tensors that the process opened in a time range. */
static uint32_t tensors(const struct torch *torch, uint32_t process, uint64_t from_ns, uint64_t to_ns,
			uint64_t *first_ns, uint64_t *last_ns)
{
	const struct model *model = torch->model;
	uint32_t found = 0;

	*first_ns = UINT64_MAX;
	*last_ns = 0;
	for (uint32_t t = 0; t < model->threads.count; t++) {
		uint32_t first, count;

		if (model->threads.row[t].process != process)
			continue;
		count = model_thread_calls(model, t, &first);
		for (uint32_t i = first; i < first + count; i++) {
			const struct call *call = &model->calls.row[i];

			if (torch->what[call->function] != TORCH_TENSOR ||
			    call->start_ns < from_ns || call->start_ns > to_ns)
				continue;
			found++;
			*first_ns = call->start_ns < *first_ns ? call->start_ns : *first_ns;
			*last_ns = call->start_ns > *last_ns ? call->start_ns : *last_ns;
		}
	}
	return found;
}

bool torch_take_turns(const struct torch *torch, uint32_t a, uint32_t b)
{
	uint64_t first_a, last_a, first_b, last_b, from_ns, to_ns;
	uint32_t of_a, of_b;

	tensors(torch, a, 0, UINT64_MAX, &first_a, &last_a);
	tensors(torch, b, 0, UINT64_MAX, &first_b, &last_b);
	from_ns = first_a > first_b ? first_a : first_b;
	to_ns = last_a < last_b ? last_a : last_b;
	of_a = tensors(torch, a, from_ns, to_ns, &first_a, &last_a);
	of_b = tensors(torch, b, from_ns, to_ns, &first_b, &last_b);
	if (of_a < PACE_LEAST || of_b < PACE_LEAST)
		return true;
	return 2 * of_a <= 3 * of_b + 2 * PACE_SLACK && 2 * of_b <= 3 * of_a + 2 * PACE_SLACK;
}
