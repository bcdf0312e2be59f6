/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h - what the files of the plug-in for PyTorch's DataLoader share. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_TORCH_H
#define PROFBPF_ANALYZER_FRAMEWORKS_TORCH_H

#include "analyzer/frameworks/pipeline_model.h"

enum torch_call { TORCH_NONE = 0, TORCH_MARK, TORCH_MARK_END, TORCH_TENSOR, TORCH_BACKWARD };

/* A loader of a process that trains, and its pipeline. */
struct torch_loader {
	uint32_t process;
	uint32_t pipeline; /* index into pipelines->list */
	uint32_t workers; /* operators; INDEX_NONE = none */
	uint32_t pin;
	uint32_t worker_processes;
	uint32_t each_workers; /* that each of its iterators starts; 0 = unknown */
	uint32_t last_fetch; /* index into fetches, of those that came from known workers */
	uint32_t queue; /* that workers fill */
	uint32_t pinned; /* queue that the pin-memory thread fills */
	uint32_t batch_tensors; /* so many make a batch, as far as can be told; 0 = unknown */
	uint32_t pin_tensors; /* opened by the pin-memory thread */
	bool single; /* no workers: the trainer's thread makes its batches */
	bool trains; /* a backward pass or an optimizer follows its batches */
	bool before; /* its workers began before the recording */
};

/* A run of __next__ of some loader. */
struct torch_fetch {
	struct pipeline_fetch fetch;
	uint64_t next_ns; /* when its thread made its next mark; UINT64_MAX = never */
	uint64_t opened_ns; /* when it had opened its last tensor; 0 = none */
	uint32_t opened; /* tensors */
	uint32_t loader; /* index into loaders */
	uint32_t group; /* of workers that made its batch; INDEX_NONE = unknown */
	uint32_t ordered_group; /* that it ordered another batch from, while groups are found out */
	bool single; /* its loader has no workers */
	bool end_known; /* fetch.end_ns was recorded */
	bool opening; /* has not opened the last one */
	bool trains; /* a backward pass or an optimizer came after it */
};

struct torch {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum torch_call by function */
	bool ends_recorded; /* of marks */
	bool trains; /* somebody does */
	MODEL_ARRAY(struct torch_fetch) fetches; /* sorted by (thread, start_ns) */
	MODEL_ARRAY(struct torch_loader) loaders;
	uint32_t *process_loader; /* that a worker process belongs to, by process; or INDEX_NONE */
	uint32_t *thread_loader; /* that a pin-memory thread belongs to, by thread; or INDEX_NONE */
};

/* torch_pin_thread - is it the thread that copies batches into memory the device can read? */
bool torch_pin_thread(const struct model *model, uint32_t thread);

/* torch_worker_process - is it a worker's, by its name? */
bool torch_worker_process(const struct model *model, uint32_t process);

/*
 * torch_result_pipes - by process of a worker the inode of the pipe by which its batches come, 0 = not known
 *
 * All workers of one iterator write to one pipe, at which its trainer or its pin-memory thread waits. To be
 * freed by the caller. NULL without memory.
 */
uint64_t *torch_result_pipes(const struct torch *torch);

/*
 * torch_take_turns - can two workers' processes be of one iterator, which has its workers take turns?
 *
 * By the tensors that they opened while both did; true where that is too few to say so.
 */
bool torch_take_turns(const struct torch *torch, uint32_t a, uint32_t b);

/*
 * torch_loaders_find - tell loaders apart; fills loaders, their pipelines, and who belongs to which
 *
 * Needs fetches. How they are told apart: torch_loaders.c. Returns 0 or -ENOMEM.
 */
int torch_loaders_find(struct torch *torch);

/* torch_ends_find - which fetches got the end of the data, no batch; needs loaders */
void torch_ends_find(struct torch *torch);

/*
 * torch_queues - batches from workers to trainer, by way of the pin-memory thread if there is one
 *
 * If batch_tensors is known: each batch is that many tensors. Returns 0 or -ENOMEM.
 */
int torch_queues(struct torch *torch);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_TORCH_H */
