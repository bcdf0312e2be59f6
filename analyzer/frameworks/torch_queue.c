/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of PyTorch's DataLoader on their way to the trainer.
 *
 * A batch is pushed when a worker has made the last of its tensors, and popped when __next__ returns. A pin-memory
 * thread, if there is one, takes batches from the workers: when it has opened the last tensor. It then copies the
 * batch and passes it on within the process, which is not recorded: the copy counts as time in the second queue.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/frameworks/torch.h"

/* A tensor that was made, or opened by the pin-memory thread. */
struct tensor {
	const struct call *call;
	uint32_t process;
};

struct tensors {
	MODEL_ARRAY(struct tensor) of;
};

static struct pipeline *pipeline_of(const struct torch *torch, const struct torch_loader *loader)
{
	return &torch->pipelines->list.row[loader->pipeline];
}

/* Returns a loader, or NULL. */
static struct torch_loader *loader_at(const struct torch *torch, uint32_t i)
{
	return i < torch->loaders.count ? &torch->loaders.row[i] : NULL;
}

static uint32_t add_queue(struct torch *torch, struct pipeline *pipeline, const char *name,
			  uint32_t from, uint32_t to)
{
	struct pipeline_queue queue = { .from = from, .to = to };

	queue.name = model_string(torch->model, name);
	if (queue.name == INDEX_NONE || !MODEL_PUSH(&pipeline->queues, queue))
		return INDEX_NONE;
	return pipeline->queues.count - 1;
}

/* Sizes are in batches, if all batches have the same number of tensors. */
static int add_queues(struct torch *torch, struct torch_loader *loader)
{
	struct pipeline *pipeline = pipeline_of(torch, loader);

	if (!loader->batch_tensors)
		return 0;
	loader->queue = add_queue(torch, pipeline, "batches made ahead", loader->workers,
				   loader->pin);
	if (loader->queue == INDEX_NONE)
		return -ENOMEM;
	if (loader->pin == INDEX_NONE)
		return 0;
	loader->pinned = add_queue(torch, pipeline, "batches in pinned memory", loader->pin,
				    INDEX_NONE);
	return loader->pinned == INDEX_NONE ? -ENOMEM : 0;
}

static int add_event(struct torch *torch, struct torch_loader *loader, uint32_t queue,
		     const struct call *call, uint64_t start_ns, int32_t change)
{
	struct pipeline_queue_event event = { .start_ns = start_ns,
					      .end_ns = call->end_ns,
					      .queue = queue,
					      .thread = call->thread,
					      .change = change,
					      .size = -1 };

	return MODEL_PUSH(&pipeline_of(torch, loader)->queue_events, event) ? 0 : -ENOMEM;
}

/* A worker's main thread makes them, or its thread that writes to the pipe. */
static int by_process(const void *a, const void *b)
{
	const struct tensor *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->call->end_ns < y->call->end_ns ? -1 : x->call->end_ns > y->call->end_ns;
}

/* Adds the push of a worker's batch, given its last tensor. */
static int add_push(struct torch *torch, const struct tensor *tensor)
{
	struct torch_loader *loader = loader_at(torch, torch->process_loader[tensor->process]);

	return add_event(torch, loader, loader->queue, tensor->call, tensor->call->start_ns, 1);
}

/*
 * Adds the move of a batch, given the last tensor that the pin-memory thread opened; its wait is not a part of that
 * call.
 */
static int add_move(struct torch *torch, const struct tensor *tensor)
{
	struct torch_loader *loader = loader_at(torch, torch->thread_loader[tensor->call->thread]);
	int err = add_event(torch, loader, loader->queue, tensor->call, tensor->call->start_ns, -1);

	return err ? err
		   : add_event(torch, loader, loader->pinned, tensor->call, tensor->call->end_ns, 1);
}

/* Calls @add for each process's batches: a batch is as many tensors as the trainer opened for one. */
static int each_batch(struct torch *torch, struct tensors *tensors, bool pin,
		      int (*add)(struct torch *torch, const struct tensor *tensor))
{
	uint32_t made = 0;
	int err = 0;

	if (tensors->of.count)
		qsort(tensors->of.row, tensors->of.count, sizeof(*tensors->of.row), by_process);
	for (uint32_t i = 0; i < tensors->of.count && !err; i++) {
		const struct tensor *tensor = &tensors->of.row[i];
		const struct torch_loader *loader =
			loader_at(torch, pin ? torch->thread_loader[tensor->call->thread]
					     : torch->process_loader[tensor->process]);

		if (i && tensor->process != tensor[-1].process)
			made = 0;
		if (loader && loader->queue != INDEX_NONE && ++made % loader->batch_tensors == 0)
			err = add(torch, tensor);
	}
	return err;
}

static int find_pushes(struct torch *torch)
{
	const struct model *model = torch->model;
	struct tensors made = { 0 }, pinned = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < model->calls.count && !err; i++) {
		struct tensor tensor = { .call = &model->calls.row[i] };

		if (torch->what[tensor.call->function] != TORCH_TENSOR)
			continue;
		tensor.process = model->threads.row[tensor.call->thread].process;
		if (torch->process_loader[tensor.process] != INDEX_NONE)
			err = MODEL_PUSH(&made.of, tensor) ? 0 : -ENOMEM;
		else if (torch->thread_loader[tensor.call->thread] != INDEX_NONE)
			err = MODEL_PUSH(&pinned.of, tensor) ? 0 : -ENOMEM;
	}
	if (!err)
		err = each_batch(torch, &made, false, add_push);
	if (!err)
		err = each_batch(torch, &pinned, true, add_move);
	free(made.of.row);
	free(pinned.of.row);
	return err;
}

static int find_pops(struct torch *torch, struct torch_loader *loader)
{
	const struct pipeline *pipeline = pipeline_of(torch, loader);
	uint32_t queue = loader->pinned == INDEX_NONE ? loader->queue : loader->pinned;
	int err = 0;

	for (uint32_t i = 0; queue != INDEX_NONE && i < pipeline->fetches.count && !err; i++) {
		const struct pipeline_fetch *fetch = &pipeline->fetches.row[i];
		const struct call at = { .end_ns = fetch->end_ns, .thread = fetch->thread };

		if (!fetch->end_of_data)
			err = add_event(torch, loader, queue, &at, fetch->start_ns, -1);
	}
	return err;
}

int torch_queues(struct torch *torch)
{
	int err = 0;

	for (uint32_t i = 0; i < torch->loaders.count && !err; i++)
		err = add_queues(torch, &torch->loaders.row[i]);
	if (!err)
		err = find_pushes(torch);
	for (uint32_t i = 0; i < torch->loaders.count && !err; i++)
		err = find_pops(torch, &torch->loaders.row[i]);
	return err;
}
