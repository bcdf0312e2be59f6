/* SPDX-License-Identifier: Apache-2.0 */
/* MindSpore's MindData from files of its own profiler: operators, and samples of them. */
#include <errno.h>
#include <stdio.h>

#include "analyzer/frameworks/framework.h"

#define NAME_SIZE 128

#define NOTE                                                                                     \
	"from MindSpore's own profiler: sizes of queues and CPU use are samples, CPU use is cut to " \
	"whole percents, and of rows, waits of operators and threads it tells nothing"

/* The operators of one process: imported_operators[first .. first + count). */
struct rank {
	struct model *model;
	struct pipeline *pipeline;
	uint32_t first;
	uint32_t count;
};

static bool add_operator(const struct rank *rank, uint32_t i)
{
	struct model *model = rank->model;
	const struct imported_operator *row = &model->imported_operators.row[rank->first + i];
	const char *type = model_text(model, row->type);
	char name[NAME_SIZE];
	uint32_t op;

	snprintf(name, sizeof(name), "%.80s(ID:%d)", type, row->id);
	op = pipeline_operator_add(model, rank->pipeline, row->id, name, type);
	if (op == INDEX_NONE)
		return false;
	rank->pipeline->operators.row[op].workers = row->workers;
	rank->pipeline->operators.row[op].in_trainer = !row->capacity && row->parent < 0;
	return true;
}

/* Adds queues in the order of their operators; their samples have the same order. */
static bool add_queues(const struct rank *rank)
{
	const struct model *model = rank->model;
	struct pipeline *pipeline = rank->pipeline;

	for (uint32_t i = 0; i < rank->count; i++) {
		const struct imported_operator *row =
			&model->imported_operators.row[rank->first + i];
		uint32_t parent = pipeline_operator_find(pipeline, row->parent);
		struct pipeline_queue queue = { .from = i,
						.to = parent,
						.capacity = row->capacity };

		if (parent != INDEX_NONE && parent != i && !pipeline_edge_add(pipeline, i, parent))
			return false;
		if (row->capacity && !MODEL_PUSH(&pipeline->queues, queue))
			return false;
	}
	return true;
}

static uint32_t queue_from(const struct pipeline *pipeline, uint32_t op)
{
	for (uint32_t q = 0; q < pipeline->queues.count; q++)
		if (pipeline->queues.row[q].from == op)
			return q;
	return INDEX_NONE;
}

static bool add_samples(const struct rank *rank)
{
	const struct model *model = rank->model;
	struct pipeline *pipeline = rank->pipeline;

	for (uint32_t i = 0; i < model->imported_sizes.count; i++) {
		const struct imported_size *row = &model->imported_sizes.row[i];
		struct pipeline_queue_event event = { .start_ns = row->ts_ns,
						      .end_ns = row->ts_ns,
						      .thread = INDEX_NONE,
						      .size = (int32_t)row->size };

		if (row->op < rank->first || row->op - rank->first >= rank->count)
			continue;
		event.queue = queue_from(pipeline, row->op - rank->first);
		if (event.queue != INDEX_NONE && !MODEL_PUSH(&pipeline->queue_events, event))
			return false;
	}
	for (uint32_t i = 0; i < model->imported_cpu.count; i++) {
		const struct imported_cpu *row = &model->imported_cpu.row[i];
		struct pipeline_cpu cpu = { row->start_ns, row->end_ns, row->user_ns,
					    row->system_ns, row->op - rank->first };

		if (row->op < rank->first || cpu.op >= rank->count || row->end_ns <= row->start_ns)
			continue;
		if (!MODEL_PUSH(&pipeline->cpu, cpu))
			return false;
	}
	return true;
}

/*
 * The queue to the device, filled by the operator at the top, has no description in the files; its pushes are the
 * batches.
 */
static bool add_batches(const struct rank *rank, uint32_t process)
{
	const struct model *model = rank->model;
	struct pipeline *pipeline = rank->pipeline;
	struct pipeline_queue device = { .to = INDEX_NONE, .to_device = true };
	uint32_t queue = INDEX_NONE;

	for (uint32_t i = 0; i < model->imported_batches.count; i++) {
		const struct imported_batch *row = &model->imported_batches.row[i];
		struct pipeline_fetch fetch = { .start_ns = row->start_ns,
						.end_ns = row->end_ns,
						.thread = INDEX_NONE };
		struct pipeline_queue_event event = { .start_ns = row->end_ns,
						      .end_ns = row->end_ns + row->send_ns,
						      .thread = INDEX_NONE,
						      .change = 1,
						      .size = -1 };

		if (row->process != process)
			continue;
		if (!MODEL_PUSH(&pipeline->fetches, fetch))
			return false;
		if (!row->sent || !pipeline->operators.count)
			continue;
		if (queue == INDEX_NONE) {
			queue = pipeline->queues.count;
			if (!MODEL_PUSH(&pipeline->queues, device))
				return false;
		}
		event.queue = queue;
		if (!MODEL_PUSH(&pipeline->queue_events, event))
			return false;
	}
	return true;
}

static bool add_rank(struct rank *rank, struct pipelines *pipelines)
{
	uint32_t process = rank->model->imported_operators.row[rank->first].process;

	rank->pipeline = pipeline_add(pipelines, FRAMEWORK_MINDDATA.name, process);
	if (!rank->pipeline)
		return false;
	rank->pipeline->sampled = true;
	for (uint32_t i = 0; i < rank->count; i++)
		if (!add_operator(rank, i))
			return false;
	if (!add_queues(rank) || !add_samples(rank) || !add_batches(rank, process) ||
	    !pipeline_note(rank->model, rank->pipeline, NOTE))
		return false;
	pipeline_sort(rank->pipeline);
	return true;
}

static int build(struct model *model, struct pipelines *pipelines)
{
	const struct imported_operator *row = model->imported_operators.row;
	uint32_t next;

	for (uint32_t first = 0; first < model->imported_operators.count; first = next) {
		struct rank rank = { .model = model, .first = first };

		for (next = first; next < model->imported_operators.count &&
				   row[next].process == row[first].process;)
			next++;
		rank.count = next - first;
		if (!add_rank(&rank, pipelines))
			return -ENOMEM;
	}
	return 0;
}

const struct framework FRAMEWORK_MINDDATA_FILES = { "MindData", build };
