/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_model.h - the data pipeline of one training process, whatever framework runs it.
 *
 * Operators turn elements into elements (rows, batches, files) and hand them on
 * through queues; at the end the trainer fetches them. A framework's plug-in
 * (framework.h) fills this from the calls, threads and tasks of the model, and
 * analyses read it. Rows refer to each other by index; INDEX_NONE is "none" or
 * "unknown". Instants are CLOCK_MONOTONIC nanoseconds, texts ids of model.strings.
 *
 * What a framework does not tell is left out: no queues, no work, no outputs are
 * all fine. The report then says less, never something wrong.
 */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_PIPELINE_MODEL_H
#define PROFBPF_ANALYZER_FRAMEWORKS_PIPELINE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define PIPELINE_OPERATORS_MAX 4096 /* of one pipeline; hostile traces may name more */

struct pipeline_operator {
	int32_t id; /* the framework's own number, else counted from 0 */
	uint32_t name; /* unique within the pipeline: "Map(ID:2)" */
	uint32_t type; /* "Map", "DataLoader worker", "ParallelMapV2" */
	uint32_t workers; /* threads or processes that work side by side; 0 = unknown */
	bool in_trainer; /* runs in the thread that fetches, has none of its own */
	bool counts_outputs; /* outputs holds all its elements; else each work is one element */
	bool estimate_work; /* no works: the time between its waits is taken for work */
	bool source; /* reads from outside: files, a user's generator */
	bool python; /* runs the user's Python code */
	bool hands_on; /* a thread that takes and hands on, without code of the user: where it sleeps it waits for its input */
};

/* @from hands its elements to @to, which is its parent in the report. */
struct pipeline_edge {
	uint32_t from;
	uint32_t to;
};

enum pipeline_role {
	PIPELINE_MAIN, /* the operator's own thread */
	PIPELINE_WORKER,
	PIPELINE_COLLECTOR, /* gathers what workers made */
	PIPELINE_WORKER_PROCESS, /* any thread of a process that works for the operator */
	PIPELINE_HELPER, /* created by one of the above; found by frameworks_build() */
};

/* A thread that works for an operator. A thread belongs to one operator at most. */
struct pipeline_thread {
	uint32_t thread; /* index into model->threads */
	uint32_t op; /* index into operators */
	uint8_t role; /* enum pipeline_role */
	bool descendant; /* not among the framework's own: in "with descendants" only */
};

/* A thread made (a part of) an element. */
struct pipeline_work {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t op;
	uint32_t thread;
};

/* An operator handed on @count elements. */
struct pipeline_output {
	uint64_t ts_ns;
	uint32_t op;
	uint32_t count;
};

struct pipeline_queue {
	uint32_t name; /* 0 = none */
	uint32_t from; /* operator that fills it */
	uint32_t to; /* operator that empties it; INDEX_NONE = the trainer, or a device */
	uint32_t capacity; /* elements; 0 = unknown */
	uint32_t first_size; /* elements in it before its first event; by pipeline_count_sizes() */
	bool first_known; /* first_size was told by the framework */
	bool first_taken; /* a pop that waited when recording began, and is no event, took the first push */
	bool to_device; /* what is taken out is not among the events; sizes are samples */
	bool from_start; /* its first event is the first ever: it was empty before */
	bool pushes_unseen; /* some pushes are not among the events: no sizes can be counted */
};

/*
 * One push or pop, from call to return: what it takes longer than a moment is a
 * wait. Events of one queue are in order of their end.
 */
struct pipeline_queue_event {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t queue;
	uint32_t thread;
	int32_t change; /* +1 pushed, -1 popped; 0 = only a sample of the size */
	int32_t size; /* elements in the queue after it; -1 = unknown */
	uint32_t mark; /* the plug-in's own; nobody else reads it */
};

/* CPU time of an operator between two instants, where nothing is known of its threads. */
struct pipeline_cpu {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint32_t op;
};

/* The trainer, or the operator that feeds the device, asked for data: one per step. */
struct pipeline_fetch {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread;
	bool end_of_data; /* got no batch but the end of an epoch */
	bool open; /* had not returned when the recording or the thread ended, or nobody knows when it did */
};

struct pipeline {
	const char *framework; /* "MindData", "torch", "tf.data", "MegEngine"; a constant */
	uint32_t process; /* of the trainer: index into model->processes */
	/*
	 * Fetches and queue events are sleeps that a thread of the operator on the other
	 * side ended. How many elements went through is not known, nor where steps begin.
	 */
	bool sampled; /* from another profiler's file: sizes and CPU use by samples, no threads */
	bool by_wakes;
	bool of_main; /* by_wakes: it is the main thread that is fed; else those that submit to a device */
	MODEL_ARRAY(struct pipeline_operator) operators;
	MODEL_ARRAY(struct pipeline_edge) edges;
	MODEL_ARRAY(struct pipeline_thread) threads;
	MODEL_ARRAY(struct pipeline_work) works;
	MODEL_ARRAY(struct pipeline_output) outputs;
	MODEL_ARRAY(struct pipeline_queue) queues;
	MODEL_ARRAY(struct pipeline_queue_event) queue_events; /* sorted by (queue, end_ns) */
	MODEL_ARRAY(struct pipeline_fetch) fetches; /* sorted by start_ns */
	MODEL_ARRAY(struct pipeline_cpu) cpu; /* of sampled pipelines */
	MODEL_ARRAY(uint32_t) notes; /* texts for the user: what could not be told, and why */
};

struct pipelines {
	MODEL_ARRAY(struct pipeline) list;
};

/*
 * pipeline_add - one more pipeline, empty; NULL without memory
 *
 * The pointer is valid until the next pipeline_add().
 */
struct pipeline *pipeline_add(struct pipelines *pipelines, const char *framework, uint32_t process);

/* pipeline_drop_last - take back the last pipeline_add() */
void pipeline_drop_last(struct pipelines *pipelines);

/*
 * pipeline_operator_add - one more operator; its index, or INDEX_NONE without memory
 * or beyond PIPELINE_OPERATORS_MAX
 *
 * @name and @type are copied. For the other fields use the row.
 */
uint32_t pipeline_operator_add(struct model *model, struct pipeline *pipeline, int32_t id,
			       const char *name, const char *type);

/* Index of the operator with this id, or INDEX_NONE. */
uint32_t pipeline_operator_find(const struct pipeline *pipeline, int32_t id);

/* pipeline_edge_add - @from hands to @to; once, however often it is told. False without memory. */
bool pipeline_edge_add(struct pipeline *pipeline, uint32_t from, uint32_t to);

/* pipeline_note - something the user has to know; once per text. False without memory. */
bool pipeline_note(struct model *model, struct pipeline *pipeline, const char *text);

/*
 * pipeline_owners - by thread of the model its operator, or INDEX_NONE
 *
 * Helpers of an operator's threads (descendant) are its, too. The caller frees; NULL without memory.
 */
uint32_t *pipeline_owners(const struct model *model, const struct pipeline *pipeline);

/* pipeline_sort - bring queue events and fetches into the order told above */
void pipeline_sort(struct pipeline *pipeline);

/*
 * pipeline_count_sizes - fill in queue_events[].size from the changes
 *
 * For frameworks that do not tell sizes, and queues between operators. Call it after pipeline_sort(). How many
 * elements were there at first, unless queue.from_start or .first_known, is told by waits: a pop of
 * at least @wait_ns found the queue empty, a push of as long found it full; most of
 * them agree. Without any it is the least number that lets no size be negative.
 */
void pipeline_count_sizes(struct pipeline *pipeline, uint64_t wait_ns);

void pipelines_free(struct pipelines *pipelines);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_PIPELINE_MODEL_H */
