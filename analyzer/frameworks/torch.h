/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h - what the files of the plug-in for PyTorch's DataLoader share. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_TORCH_H
#define PROFBPF_ANALYZER_FRAMEWORKS_TORCH_H

#include "analyzer/frameworks/pipeline_model.h"

enum torch_call { TORCH_NONE = 0, TORCH_MARK, TORCH_MARK_END, TORCH_TENSOR };

/* A process that trains, and its pipeline. */
struct torch_trainer {
	uint32_t process;
	uint32_t pipeline; /* index into pipelines->list */
	uint32_t workers; /* operators; INDEX_NONE = none */
	uint32_t pin;
	uint32_t worker_processes;
	uint32_t queue; /* that workers fill */
	uint32_t pinned; /* queue that the pin-memory thread fills */
	uint32_t batch_tensors; /* so many make a batch, as far as can be told; 0 = unknown */
	uint32_t pin_tensors; /* opened by the pin-memory thread */
	MODEL_ARRAY(uint32_t) opened; /* tensors that each fetch opened */
	bool other_marks; /* of its optimizer, of the user */
};

struct torch {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum torch_call by function */
	bool ends_recorded; /* of marks */
	MODEL_ARRAY(struct torch_trainer) trainers;
};

/* torch_trainer - the trainer that is this process, or NULL */
struct torch_trainer *torch_trainer(const struct torch *torch, uint32_t process);

/* torch_ancestor - the trainer that a process descends from, or NULL */
struct torch_trainer *torch_ancestor(const struct torch *torch, uint32_t process);

/* torch_pin_thread - is it the thread that copies batches into memory the device can read? */
bool torch_pin_thread(const struct model *model, uint32_t thread);

/*
 * torch_queues - batches from workers to trainer, by way of the pin-memory thread if there is one
 *
 * If batch_tensors is known: each batch is that many tensors. Returns 0 or -ENOMEM.
 */
int torch_queues(struct torch *torch);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_TORCH_H */
