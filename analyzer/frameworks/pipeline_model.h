/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_model.h - the data pipeline of one training process, for any framework.
 *
 * Operators turn elements into elements (rows, batches, files) and pass them on through queues; at the end the trainer
 * fetches them. A framework's plug-in (framework.h) fills this from the calls, threads and tasks of the model, and
 * analyses read it. Rows refer to each other by index; INDEX_NONE is "none" or "unknown". Instants are CLOCK_MONOTONIC
 * nanoseconds, texts ids of model.strings.
 *
 * Data that a framework does not provide is left out: queues, works and outputs are all optional. The report then says
 * less, never something wrong.
 */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_PIPELINE_MODEL_H
#define PROFBPF_ANALYZER_FRAMEWORKS_PIPELINE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define PIPELINE_OPERATORS_MAX 4096 /* in one pipeline; a hostile trace may name more */

struct pipeline_operator {
	int32_t id; /* the framework's own number, or else counted from 0 */
	uint32_t name; /* unique within the pipeline: "Map(ID:2)" */
	uint32_t type; /* "Map", "DataLoader worker", "ParallelMapV2" */
	uint32_t workers; /* threads or processes that work side by side; 0 = unknown */
	bool in_trainer; /* runs in the thread that fetches and has no thread of its own */
	bool counts_outputs; /* outputs contain all its elements; else each work is one element */
	bool estimate_work; /* has no works: the time between its waits counts as work */
	bool source; /* reads from outside: files, a user's generator */
	bool python; /* runs the user's Python code */
	bool hands_on; /* a thread that only passes elements on, without user code: its sleeps wait for input */
};

/* @from passes its elements to @to, which is its parent in the report. */
struct pipeline_edge {
	uint32_t from;
	uint32_t to;
};

enum pipeline_role {
	PIPELINE_MAIN, /* the operator's own thread */
	PIPELINE_WORKER,
	PIPELINE_COLLECTOR, /* gathers the workers' elements */
	PIPELINE_WORKER_PROCESS, /* any thread of a process that works for the operator */
	PIPELINE_HELPER, /* created by one of the above; found by frameworks_build() */
};

/* A thread that works for an operator. A thread belongs to one operator at most. */
struct pipeline_thread {
	uint32_t thread; /* index into model->threads */
	uint32_t op; /* index into operators */
	uint8_t role; /* enum pipeline_role */
	bool descendant; /* not a thread of the framework itself: counts only in "with descendants" */
	uint32_t set; /* worker processes that make the operator's elements in turn have the same; 0 = not known */
};

/* A thread made (a part of) an element. */
struct pipeline_work {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t op;
	uint32_t thread;
};

/* An operator passed on @count elements. */
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
	uint32_t first_size; /* elements in it before its first event; set by pipeline_count_sizes() */
	bool first_known; /* the framework reported first_size */
	bool first_taken; /* a pop that waited when recording began, and is not among the events, took the first push */
	bool to_device; /* removals are not among the events; sizes are samples */
	bool from_start; /* its first event is the first ever: the queue was empty before */
	bool pushes_unseen; /* some pushes are not among the events: sizes cannot be counted */
};

/*
 * One push or pop, from call to return: a long duration is a wait. Events of
 * one queue are sorted by their end.
 */
struct pipeline_queue_event {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t queue;
	uint32_t thread;
	int32_t change; /* +1 pushed, -1 popped; 0 = only a sample of the size */
	int32_t size; /* elements in the queue after it; -1 = unknown */
	uint32_t mark; /* private to the plug-in */
};

/* CPU time of an operator between two instants, where its threads are unknown. */
struct pipeline_cpu {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint32_t op;
};

/* The trainer, or the operator that feeds the device, fetched data: one fetch per step. */
struct pipeline_fetch {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread;
	bool end_of_data; /* returned the end of an epoch instead of a batch */
	bool open; /* had not returned when the recording or the thread ended, or its end is unknown */
};

/* Between two epochs the worker processes of an operator ended, and others were started. */
struct pipeline_restart {
	uint64_t start_ns; /* of the first fetch from the new ones */
	uint64_t make_ns; /* the trainer's time before that fetch: it ended the former ones, and made the new ones */
	uint64_t wait_ns; /* its time in that fetch until the new ones had started up, and were as fast as later */
	uint64_t fetch_ns; /* all its time in that fetch: new processes are slow at first, too */
	uint32_t op;
};

struct pipeline {
	const char *framework; /* "MindData", "torch", "tf.data", "MegEngine"; a constant */
	uint32_t process; /* the trainer: index into model->processes */
	/*
	 * by_wakes: fetches and queue events are sleeps that a thread of the operator on the other side ended. The
	 * number of elements and the start of steps are unknown.
	 */
	bool sampled; /* from another profiler's file: sizes and CPU use by samples, no threads */
	bool by_wakes;
	bool evaluates; /* nothing is trained with its batches, but with those of another pipeline of the process, perhaps */
	bool of_main; /* by_wakes: the main thread is fed; else the threads that submit to a device */
	MODEL_ARRAY(struct pipeline_operator) operators;
	MODEL_ARRAY(struct pipeline_edge) edges;
	MODEL_ARRAY(struct pipeline_thread) threads;
	MODEL_ARRAY(struct pipeline_work) works;
	MODEL_ARRAY(struct pipeline_output) outputs;
	MODEL_ARRAY(struct pipeline_queue) queues;
	MODEL_ARRAY(struct pipeline_queue_event) queue_events; /* sorted by (queue, end_ns) */
	MODEL_ARRAY(struct pipeline_fetch) fetches; /* sorted by start_ns */
	MODEL_ARRAY(struct pipeline_restart) restarts; /* sorted */
	MODEL_ARRAY(struct pipeline_cpu) cpu; /* for sampled pipelines */
	MODEL_ARRAY(uint32_t) notes; /* texts for the user: missing data, and the reason */
};

struct pipelines {
	MODEL_ARRAY(struct pipeline) list;
};

/*
 * pipeline_add - adds an empty pipeline and returns it; NULL without memory
 *
 * The pointer is valid until the next pipeline_add().
 */
struct pipeline *pipeline_add(struct pipelines *pipelines, const char *framework, uint32_t process);

/* pipeline_drop_last - undoes the last pipeline_add() */
void pipeline_drop_last(struct pipelines *pipelines);

/*
 * pipeline_operator_add - adds an operator; returns its index, or INDEX_NONE without memory or beyond
 * PIPELINE_OPERATORS_MAX
 *
 * Copies @name and @type. The caller fills the other fields in the row.
 */
uint32_t pipeline_operator_add(struct model *model, struct pipeline *pipeline, int32_t id,
			       const char *name, const char *type);

/* Index of the operator with this id, or INDEX_NONE. */
uint32_t pipeline_operator_find(const struct pipeline *pipeline, int32_t id);

/* pipeline_edge_add - adds the edge from @from to @to, unless it exists. Returns false without memory. */
bool pipeline_edge_add(struct pipeline *pipeline, uint32_t from, uint32_t to);

/* pipeline_note - adds a text for the user, unless it exists. Returns false without memory. */
bool pipeline_note(struct model *model, struct pipeline *pipeline, const char *text);

/*
 * pipeline_owners - the operator of each thread of the model, or INDEX_NONE
 *
 * Threads created by an operator's threads (descendant) belong to it, too. The caller frees; NULL without memory.
 */
uint32_t *pipeline_owners(const struct model *model, const struct pipeline *pipeline);

/* pipeline_sort - sorts queue events and fetches as described above */
void pipeline_sort(struct pipeline *pipeline);

/*
 * pipeline_count_sizes - fills in queue_events[].size from the changes
 *
 * For frameworks that do not report sizes, and for queues between operators. Call it after pipeline_sort(). Unless
 * queue.from_start or .first_known, waits determine the number of elements at first: a pop of at least @wait_ns found
 * the queue empty, a push of at least @wait_ns found it full; the value on which most of them agree is used. Without
 * any wait it is the least number that keeps every size from being negative.
 */
void pipeline_count_sizes(struct pipeline *pipeline, uint64_t wait_ns);

void pipelines_free(struct pipelines *pipelines);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_PIPELINE_MODEL_H */
