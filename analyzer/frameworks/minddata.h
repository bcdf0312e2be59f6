/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minddata.h - MindSpore's MindData: what minddata.c and its parts share.
 *
 * Sources: mindspore/ccsrc/minddata/dataset of MindSpore 2.10 (engine/execution_tree.cc,
 * engine/datasetops, util/task.cc, util/queue.h).
 */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_MINDDATA_H
#define PROFBPF_ANALYZER_FRAMEWORKS_MINDDATA_H

#include "analyzer/frameworks/framework.h"

/* What a traced function is. */
enum minddata_call {
	MD_NONE = 0,
	MD_TASK, /* Task::operator(): a thread of MindData, for its whole life */
	MD_LAUNCH, /* ExecutionTree::Launch */
	MD_OPERATOR_LAUNCH, /* MapOp::Launch, BatchOp::Launch: start worker processes */
	MD_FETCH, /* the trainer asks for a batch */
	MD_NEXT, /* an operator asks the one below it */
	MD_INLINED, /* the same, of an operator without threads */
	MD_PUSH,
	MD_WORK, /* makes a row or a batch */
	MD_SHUFFLE, /* Shuffle keeps a row: the same, and tells what went through its queue */
	MD_PYTHON, /* calls the user's Python function */
	MD_SEND, /* DataQueueOp sends a batch to the device */
	MD_DEVICE_SIZE, /* it asks how many batches the device has not taken yet */
};

/* Flags of a row that travels through queues, TensorRow::TensorRowFlags. */
#define MD_ROW_DATA 0
#define MD_ROW_END_OF_EPOCH 1
#define MD_ROW_END 2

/* How many elements went into a queue, or came out, before the first that was recorded. */
struct minddata_before {
	uint64_t start_ns; /* of that push or pop; 0 = none yet */
	uint64_t count;
};

/*
 * Pushes that nobody saw, between two instants of the thread that made them. It did nothing else
 * meanwhile, so each was made as soon as there was room.
 */
struct minddata_burst {
	uint64_t known_ns; /* when its size was told */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t queue;
	uint32_t thread;
	uint32_t count;
	bool ends_epoch; /* the last of them is no row */
	uint32_t size; /* elements in the queue at @known_ns, and what was pushed until @start_ns */
};

/* One pipeline of one process: an ExecutionTree. */
struct minddata_tree {
	uint32_t pipeline; /* index into pipelines->list */
	uint32_t process;
	uint64_t group; /* address of its TaskGroup; 0 = unknown */
	uint32_t generation; /* how many trees were launched while we looked up to it, of the same group if that is known */
	uint64_t from_ns; /* when it was launched; 0 = before we looked */
	MODEL_ARRAY(uint64_t) handles; /* address of each of the pipeline's queues */
	MODEL_ARRAY(struct minddata_before) in; /* of each queue */
	MODEL_ARRAY(struct minddata_before) out;
	MODEL_ARRAY(uint8_t) popped; /* it hands on to another operator, or to the trainer */
	MODEL_ARRAY(struct minddata_burst) bursts;
};

struct minddata_launch {
	uint32_t process;
	uint64_t start_ns;
	uint64_t group; /* address of the tree's TaskGroup, if any Task has that; 0 = unknown */
};

struct minddata {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum minddata_call of each function */
	MODEL_ARRAY(struct minddata_launch) launches; /* by process and time */
	MODEL_ARRAY(struct minddata_tree) trees;
	uint32_t *tree_of; /* of each thread; INDEX_NONE = none of MindData's */
	uint32_t *operator_of; /* of each thread, index into its pipeline's operators */
	uint64_t pushes_left; /* that no call tells of, and that may still be believed (minddata_shuffle.c) */
	bool no_memory;
	bool arguments; /* are what the catalog says (not on AArch64) */
};

/* minddata_pipeline - of a tree (index into md->trees); valid until another pipeline is added */
struct pipeline *minddata_pipeline(struct minddata *md, uint32_t tree);

/* minddata_tasks - trees, operators and threads, from what threads are; 0 or -ENOMEM */
int minddata_tasks(struct minddata *md);

/*
 * minddata_queue_at - the pipeline's queue at an address, made if @from (the operator that fills it) is given
 *
 * INDEX_NONE = none.
 */
uint32_t minddata_queue_at(struct minddata *md, uint32_t tree, uint64_t handle, uint32_t from);

/* minddata_note_pushed - @count elements had ever been put into a queue at an instant; the earliest counts */
void minddata_note_pushed(struct minddata *md, uint32_t tree, uint32_t queue, uint64_t ts_ns,
			  uint64_t count);

/*
 * minddata_shuffle_pushes - what Shuffle puts into its queues; after the pushes that are calls. 0 or -ENOMEM
 *
 * Its pushes are no calls: the code is within its own (shuffle_op.cc). While its buffer is full it pushes a row, asks the
 * operator below for one, and keeps that (AddRowToShuffleBuffer), which tells how many were ever pushed and popped. At
 * the end of an epoch it pushes what is left at once.
 */
int minddata_shuffle_pushes(struct minddata *md);

/* minddata_shuffle_bursts - pushes at ends of epochs, from the pops that made room; once pops are known. 0 or -ENOMEM */
int minddata_shuffle_bursts(struct minddata *md, uint32_t tree);

/* minddata_calls - queues, works, fetches, from what threads call; 0 or -ENOMEM */
int minddata_calls(struct minddata *md);

/* minddata_finish - queue sizes, ends of epochs, elements; 0 or -ENOMEM */
int minddata_finish(struct minddata *md);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_MINDDATA_H */
