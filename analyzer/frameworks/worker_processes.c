/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker processes whose start was not recorded, or whose creator does not show the
 * operator: they work for the operator with whose threads they communicate.
 * Communication shows as mutual wake-ups: a message, a semaphore or a pipe ends in a
 * wake-up of the other side.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/worker_processes.h"

#define WAKES_MIN 4 /* fewer may be a coincidence */
#define TALKS_MAX 1024 /* pairs of process and operator; a job has about ten */

struct talk {
	uint32_t process;
	uint32_t op;
	uint32_t wakes;
};

struct talks {
	MODEL_ARRAY(struct talk) list;
};

static bool is_worker_process(const struct model *model, const struct pipeline *pipeline,
			      uint32_t process)
{
	const struct process *trainer = &model->processes.row[pipeline->process];

	return process != pipeline->process &&
	       model->processes.row[process].parent_pid == trainer->pid;
}

/* A thread that starts worker processes, like a fork server's, is not a worker itself. */
static bool starts(const struct model *model, uint32_t thread, uint32_t child)
{
	const struct process *of = &model->processes.row[model->threads.row[thread].process];
	const struct process *other = &model->processes.row[model->threads.row[child].process];

	return other->parent_pid == of->pid;
}

static bool count_wake(struct talks *talks, uint32_t process, uint32_t op)
{
	struct talk new = { process, op, 1 };

	for (uint32_t i = 0; i < talks->list.count; i++) {
		if (talks->list.row[i].process == process && talks->list.row[i].op == op) {
			talks->list.row[i].wakes++;
			return true;
		}
	}
	return talks->list.count == TALKS_MAX || MODEL_PUSH(&talks->list, new);
}

static bool count_wakes(const struct model *model, const struct pipeline *pipeline,
			const uint32_t *owner, struct talks *talks)
{
	for (uint32_t i = 0; i < model->wakes.count; i++) {
		const struct wake *wake = &model->wakes.row[i];
		uint32_t ours = wake->waker_thread, other = wake->thread;

		if (ours >= model->threads.count || other >= model->threads.count ||
		    !model_has_time(model, wake->ts_ns, wake->ts_ns))
			continue;
		if (owner[ours] == INDEX_NONE) {
			ours = wake->thread;
			other = wake->waker_thread;
		}
		if (owner[ours] == INDEX_NONE || owner[other] != INDEX_NONE ||
		    starts(model, other, ours) ||
		    !is_worker_process(model, pipeline, model->threads.row[other].process))
			continue;
		if (!count_wake(talks, model->threads.row[other].process, owner[ours]))
			return false;
	}
	return true;
}

/* Returns the operator with which a process communicates most, if it has most of the process's wake-ups. */
static uint32_t partner(const struct talks *talks, uint32_t process)
{
	uint32_t best = INDEX_NONE, all = 0, most = 0;

	for (uint32_t i = 0; i < talks->list.count; i++) {
		const struct talk *talk = &talks->list.row[i];

		if (talk->process != process)
			continue;
		all += talk->wakes;
		if (talk->wakes > most) {
			most = talk->wakes;
			best = talk->op;
		}
	}
	return most >= WAKES_MIN && 2 * most > all ? best : INDEX_NONE;
}

bool worker_processes_charge(const struct model *model, struct pipeline *pipeline, uint32_t *owner,
			     const uint32_t *pipeline_of, uint32_t self)
{
	struct talks talks = { { 0 } };
	bool memory = count_wakes(model, pipeline, owner, &talks);

	for (uint32_t i = 0; i < model->threads.count && memory && talks.list.count; i++) {
		struct pipeline_thread row = { .thread = i,
					       .role = PIPELINE_WORKER_PROCESS,
					       .descendant = true };
		uint32_t process = model->threads.row[i].process;

		if (owner[i] != INDEX_NONE || !is_worker_process(model, pipeline, process) ||
		    (pipeline_of[process] != INDEX_NONE && pipeline_of[process] != self))
			continue;
		row.op = partner(&talks, process);
		if (row.op == INDEX_NONE)
			continue;
		owner[i] = row.op;
		memory = MODEL_PUSH(&pipeline->threads, row);
	}
	free(talks.list.row);
	return memory;
}
