/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minddata.h - MindSpore's MindData: shared by minddata.c and its parts.
 *
 * Sources: mindspore/ccsrc/minddata/dataset of MindSpore 2.10 (engine/execution_tree.cc,
 * engine/datasetops, util/task.cc, util/queue.h).
 */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_MINDDATA_H
#define PROFBPF_ANALYZER_FRAMEWORKS_MINDDATA_H

#include "analyzer/frameworks/framework.h"

/* The meaning of a traced function. */
enum minddata_call {
	MD_NONE = 0,
	MD_TASK, /* Task::operator(): a thread of MindData, for its whole life */
	MD_LAUNCH, /* ExecutionTree::Launch */
	MD_OPERATOR_LAUNCH, /* MapOp::Launch, BatchOp::Launch: start worker processes */
	MD_FETCH, /* the trainer fetches a batch */
	MD_NEXT, /* an operator fetches from the operator below it */
	MD_INLINED, /* the same, by an operator without threads of its own */
	MD_PUSH,
	MD_WORK, /* makes a row or a batch */
	MD_SHUFFLE, /* Shuffle keeps a row: work, and reports the number of elements through its queue */
	MD_PYTHON, /* calls the user's Python function */
	MD_SEND, /* DataQueueOp sends a batch to the device */
	MD_DEVICE_SIZE, /* DataQueueOp queries the number of batches that the device has not taken yet */
};

/* Flags of a row that goes through queues, TensorRow::TensorRowFlags. */
#define MD_ROW_DATA 0
#define MD_ROW_END_OF_EPOCH 1
#define MD_ROW_END 2

/* The number of elements that went into a queue, or came out, before the first recorded push or pop. */
struct minddata_before {
	uint64_t start_ns; /* start of that push or pop; 0 = none yet */
	uint64_t count;
};

/*
 * Pushes that were not recorded, between two known instants of the thread that made them. The thread did nothing else
 * meanwhile, so it made each push as soon as there was room.
 */
struct minddata_burst {
	uint64_t known_ns; /* when the size became known */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t queue;
	uint32_t thread;
	uint32_t count;
	bool ends_epoch; /* the last push is an end-of-epoch mark, not a row */
	uint32_t size; /* elements in the queue at @known_ns, plus those pushed until @start_ns */
};

/* One pipeline of one process: an ExecutionTree. */
struct minddata_tree {
	uint32_t pipeline; /* index into pipelines->list */
	uint32_t process;
	uint64_t group; /* address of its TaskGroup; 0 = unknown */
	uint32_t generation; /* trees launched during the recording up to this one, of the same group if it is known */
	uint64_t from_ns; /* when it was launched; 0 = before the recording */
	MODEL_ARRAY(uint64_t) handles; /* address of each of the pipeline's queues */
	MODEL_ARRAY(struct minddata_before) in; /* by queue */
	MODEL_ARRAY(struct minddata_before) out;
	MODEL_ARRAY(uint8_t) popped; /* by queue: its elements go to another operator, or to the trainer */
	MODEL_ARRAY(struct minddata_burst) bursts;
};

struct minddata_launch {
	uint32_t process;
	uint64_t start_ns;
	uint64_t group; /* address of the tree's TaskGroup, if any Task has it; 0 = unknown */
};

struct minddata {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum minddata_call of each function */
	MODEL_ARRAY(struct minddata_launch) launches; /* sorted by (process, start) */
	MODEL_ARRAY(struct minddata_tree) trees;
	uint32_t *tree_of; /* by thread; INDEX_NONE = not a thread of MindData */
	uint32_t *operator_of; /* by thread: index into its pipeline's operators */
	uint64_t pushes_left; /* limit on pushes to add that no call recorded (minddata_shuffle.c) */
	bool no_memory;
	bool arguments; /* arguments are as the catalog says (not on AArch64) */
};

/* minddata_pipeline - the pipeline of a tree (index into md->trees); valid until another pipeline is added */
struct pipeline *minddata_pipeline(struct minddata *md, uint32_t tree);

/* minddata_tasks - finds trees, operators and threads from the Tasks that threads run; returns 0 or -ENOMEM */
int minddata_tasks(struct minddata *md);

/*
 * minddata_queue_at - finds the pipeline's queue at an address; adds it if @from (the operator that fills it) is given
 *
 * Returns INDEX_NONE if there is none.
 */
uint32_t minddata_queue_at(struct minddata *md, uint32_t tree, uint64_t handle, uint32_t from);

/* minddata_note_pushed - records the total pushes into a queue at an instant; the earliest instant is kept */
void minddata_note_pushed(struct minddata *md, uint32_t tree, uint32_t queue, uint64_t ts_ns,
			  uint64_t count);

/*
 * minddata_shuffle_pushes - adds Shuffle's pushes into its queues; after the pushes that are calls. Returns 0 or
 * -ENOMEM
 *
 * Its pushes are not calls: the compiler inlines them (shuffle_op.cc). While its buffer is full, Shuffle pushes a row,
 * fetches one from the operator below and keeps that (AddRowToShuffleBuffer), whose arguments are the total numbers
 * of pushes and pops. At the end of an epoch Shuffle pushes the rest of its buffer at once.
 */
int minddata_shuffle_pushes(struct minddata *md);

/*
 * minddata_shuffle_bursts - adds pushes at ends of epochs, derived from the pops that made room; needs the pops.
 * Returns 0 or -ENOMEM
 */
int minddata_shuffle_bursts(struct minddata *md, uint32_t tree);

/* minddata_calls - adds queues, works and fetches from the threads' calls; returns 0 or -ENOMEM */
int minddata_calls(struct minddata *md);

/* minddata_finish - adds queue sizes, ends of epochs and elements; returns 0 or -ENOMEM */
int minddata_finish(struct minddata *md);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_MINDDATA_H */
