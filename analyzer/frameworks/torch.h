/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h - shared by the files of the plug-in for PyTorch's DataLoader. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_TORCH_H
#define PROFBPF_ANALYZER_FRAMEWORKS_TORCH_H

#include "analyzer/frameworks/pipeline_model.h"

enum torch_call { TORCH_NONE = 0, TORCH_MARK, TORCH_MARK_END, TORCH_TENSOR, TORCH_BACKWARD };

/* A loader of a training process, and its pipeline. */
struct torch_loader {
	uint32_t process;
	uint32_t pipeline; /* index into pipelines->list */
	uint32_t workers; /* operator; INDEX_NONE = none */
	uint32_t pin;
	uint32_t worker_processes;
	uint32_t each_workers; /* workers that each of its iterators starts; 0 = unknown */
	uint32_t last_fetch; /* index into fetches: the last one from known workers */
	uint32_t queue; /* the queue that workers fill */
	uint32_t pinned; /* the queue that the pin-memory thread fills */
	uint32_t batch_tensors; /* tensors in a batch, as far as they can be counted; 0 = unknown */
	uint32_t pin_tensors; /* opened by the pin-memory thread */
	bool single; /* no workers: the trainer's thread makes its batches */
	bool trains; /* a backward pass or an optimizer follows its batches */
	bool before; /* its workers began before the recording */
};

/* A run of __next__ of a loader. */
struct torch_fetch {
	struct pipeline_fetch fetch;
	uint64_t next_ns; /* time of its thread's next mark; UINT64_MAX = never */
	uint64_t opened_ns; /* when it had opened its last tensor; 0 = none */
	uint32_t opened; /* number of tensors that it opened */
	uint32_t loader; /* index into loaders */
	uint32_t group; /* of the workers that made its batch; INDEX_NONE = unknown */
	uint32_t ordered_group; /* group from which it ordered another batch, used while groups are identified */
	bool single; /* its loader has no workers */
	bool end_known; /* fetch.end_ns was recorded */
	bool opening; /* has not opened its last tensor yet */
	bool trains; /* a backward pass or an optimizer followed it */
	bool backward; /* a backward pass followed it, not only an optimizer */
};

struct torch {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum torch_call by function */
	bool ends_recorded; /* marks have ends */
	bool trains; /* a thread runs backward passes or an optimizer */
	MODEL_ARRAY(struct torch_fetch) fetches; /* sorted by (thread, start_ns) */
	MODEL_ARRAY(struct torch_loader) loaders;
	uint32_t *process_loader; /* by process: the loader of a worker process, or INDEX_NONE */
	uint32_t *process_group; /* the same: its group, the workers of one iterator; see torch_fetch.group */
	uint32_t *thread_loader; /* by thread: the loader of a pin-memory thread, or INDEX_NONE */
};

/* torch_pin_thread - is it the thread that copies batches into page-locked memory? */
bool torch_pin_thread(const struct model *model, uint32_t thread);

/* torch_worker_process - does its name say that it is a worker process? */
bool torch_worker_process(const struct model *model, uint32_t process);

/*
 * torch_result_pipes - by worker process: the inode of the pipe through which it sends batches, 0 = unknown
 *
 * All workers of one iterator write to one pipe, which its trainer or its pin-memory thread reads. The caller frees
 * the array. NULL without memory.
 */
uint64_t *torch_result_pipes(const struct torch *torch);

/*
 * torch_take_turns - may two worker processes belong to one iterator, whose workers take turns?
 *
 * Judged by the tensors that they opened while both did so; true if these are too few to decide.
 */
bool torch_take_turns(const struct torch *torch, uint32_t a, uint32_t b);

/*
 * torch_loaders_find - identifies loaders; fills loaders, their pipelines, and the loader of each process and thread
 *
 * Needs fetches. torch_loaders.c describes the method. Returns 0 or -ENOMEM.
 */
int torch_loaders_find(struct torch *torch);

/*
 * torch_restarts_find - adds the ends and starts of workers between epochs to the pipelines; needs ends of data
 *
 * Returns 0 or -ENOMEM.
 */
int torch_restarts_find(struct torch *torch);

/* torch_ends_find - marks fetches that returned the end of the data instead of a batch; needs loaders */
void torch_ends_find(struct torch *torch);

/*
 * torch_queues - adds the queues from workers to trainer, with the pin-memory thread between if there is one
 *
 * Needs a known batch_tensors: each batch is that many tensors. Returns 0 or -ENOMEM.
 */
int torch_queues(struct torch *torch);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_TORCH_H */
